import { createHash } from "node:crypto";
import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { parseChallenges } from "../../src/sip/challenge.ts";
import { answerChallenges, type DigestQuestion } from "../../src/sip/digest.ts";

const hex = (algorithm: string) => (text: string) => createHash(algorithm).update(text, "utf8").digest("hex");
const hashes = { md5: hex("md5"), sha256: hex("sha256"), sha512_256: hex("sha512-256") };

function ask(challenges: readonly string[], more: Partial<DigestQuestion> = {}) {
  const answer = answerChallenges({
    challenges,
    credentials: { username: "alice", password: "pw" },
    method: "INVITE",
    uri: "sip:bob@trunk.test",
    body: new Uint8Array(0),
    cnonce: "c0ffee",
    nonceCount: 1,
    hashes,
    ...more,
  });
  return answer.ok
    ? { ...answer, scheme: answer.header.split(" ")[0], fields: fieldsOf(answer.header) }
    : answer;
}

/** Parameters of an Authorization value as they stand, quotes included. */
function fieldsOf(header: string): Record<string, string> {
  const fields = header.slice("Digest ".length).split(", ");
  return Object.fromEntries(
    fields.map((field) => [field.slice(0, field.indexOf("=")), field.slice(field.indexOf("=") + 1)]),
  );
}

function response(result: ReturnType<typeof ask>): string | undefined {
  return result.ok ? result.fields["response"]?.slice(1, -1) : undefined;
}

describe("published examples", () => {
  test("RFC 2617 3.5", () => {
    const result = ask(
      [
        'Digest realm="testrealm@host.com", qop="auth,auth-int", nonce="dcd98b7102dd2f0e8b11d0f600bfb0c093", opaque="5ccc069c403ebaf9f0171e9517f40e41"',
      ],
      {
        credentials: { username: "Mufasa", password: "Circle Of Life" },
        method: "GET",
        uri: "/dir/index.html",
        cnonce: "0a4f113b",
      },
    );
    expect(result).toMatchObject({
      ok: true,
      realm: "testrealm@host.com",
      algorithm: "MD5",
      stale: false,
      scheme: "Digest",
      fields: {
        username: '"Mufasa"',
        realm: '"testrealm@host.com"',
        nonce: '"dcd98b7102dd2f0e8b11d0f600bfb0c093"',
        uri: '"/dir/index.html"',
        qop: "auth",
        nc: "00000001",
        cnonce: '"0a4f113b"',
        response: '"6629fae49393a05397450978507c4ef1"',
        opaque: '"5ccc069c403ebaf9f0171e9517f40e41"',
      },
    });
  });

  const rfc7616 = (algorithm: string) =>
    `Digest realm="http-auth@example.org", qop="auth, auth-int", algorithm=${algorithm}, nonce="7ypf/xlj9XXwfDPEoM4URrv/xwf94BcCAzFZH4GiTo0v", opaque="FQhe/qaU925kfnzjCev0ciny7QMkPqMAFRtzCUYo5tdS"`;
  const mufasa = {
    credentials: { username: "Mufasa", password: "Circle of Life" },
    method: "GET",
    uri: "/dir/index.html",
    cnonce: "f2/wE4q74E6zIJEtWaHKaf5wv/H5QzzpXusqGemxURZJ",
  };

  test("RFC 7616 3.9.1 with MD5", () => {
    expect(response(ask([rfc7616("MD5")], mufasa))).toBe("8ca523f5e9506fed4657c9700eebdbec");
  });

  test("RFC 7616 3.9.1 with SHA-256, taken before the MD5 offered beside it", () => {
    const result = ask([rfc7616("MD5"), rfc7616("SHA-256")], mufasa);
    expect(result).toMatchObject({ algorithm: "SHA-256" });
    expect(response(result)).toBe("753927fa0e85d155564e2e272a28d1802ca10daf4496794697cf8db5856cb6c1");
  });

  test("RFC 7616 3.9.2 with SHA-512-256, as its erratum 4897 corrects it", () => {
    const challenge =
      'Digest realm="api@example.org", qop="auth", algorithm=SHA-512-256, nonce="5TsQWLVdgBdmrQ0XsxbDODV+57QdFR34I9HAbC/RVvkK", opaque="HRPCssKJSGjCrkzDg8OhwpzCiGPChXYjwrI2QmXDnsOS", charset=UTF-8, userhash=true';
    const result = ask([challenge], {
      credentials: { username: "Jäsøn Doe", password: "Secret, or not?" },
      method: "GET",
      uri: "/doe.json",
      cnonce: "NTg6RKcb9boFIAS3KrFK9BGeh+iDa/sm6jUMp2wds69v",
    });
    expect(response(result)).toBe("3798d4131c277846293534c3edc11bd8a5e4cdcbff78b05db9d95eeb1cec68a5");
  });
});

describe("the computation", () => {
  const { md5 } = hashes;
  const secret = md5("alice:r:pw");

  test("without qop is that of RFC 2069, without cnonce and nc", () => {
    const result = ask(['Digest realm="r", nonce="n"']);
    expect(response(result)).toBe(md5(`${secret}:n:${md5("INVITE:sip:bob@trunk.test")}`));
    expect(result.ok && Object.keys(result.fields)).toEqual([
      "username",
      "realm",
      "nonce",
      "uri",
      "response",
    ]);
  });

  test("with qop=auth-int alone covers the body", () => {
    const body = new TextEncoder().encode("v=0\r\nñ");
    const result = ask(['Digest realm="r", nonce="n", qop="auth-int"'], { body });
    const a2 = md5(`INVITE:sip:bob@trunk.test:${md5("v=0\r\nñ")}`);
    expect(response(result)).toBe(md5(`${secret}:n:00000001:c0ffee:auth-int:${a2}`));
    expect(result).toMatchObject({ fields: { qop: "auth-int" } });
  });

  test("with MD5-sess binds nonce and cnonce into the secret", () => {
    const result = ask(['Digest realm="r", nonce="n", algorithm=MD5-sess, qop=auth']);
    const a1 = md5(`${secret}:n:c0ffee`);
    expect(response(result)).toBe(md5(`${a1}:n:00000001:c0ffee:auth:${md5("INVITE:sip:bob@trunk.test")}`));
    expect(result).toMatchObject({
      algorithm: "MD5-sess",
      fields: { algorithm: "MD5-sess", cnonce: '"c0ffee"' },
    });
  });

  test.each([
    ["SHA-256-sess", hashes.sha256],
    ["SHA-512-256-sess", hashes.sha512_256],
  ])("with %s and without qop still sends the cnonce", (algorithm, hash) => {
    const result = ask([`Digest realm="r", nonce="n", algorithm=${algorithm}`]);
    const a1 = hash(`${hash("alice:r:pw")}:n:c0ffee`);
    expect(response(result)).toBe(hash(`${a1}:n:${hash("INVITE:sip:bob@trunk.test")}`));
    expect(result).toMatchObject({ fields: { cnonce: '"c0ffee"' } });
  });

  test("counts the uses of a nonce in eight hexadecimal digits", () => {
    const result = ask(['Digest realm="r", nonce="n", qop="auth"'], { nonceCount: 0x1ab });
    expect(result).toMatchObject({ fields: { nc: "000001ab" } });
    expect(response(result)).toBe(
      md5(`${secret}:n:000001ab:c0ffee:auth:${md5("INVITE:sip:bob@trunk.test")}`),
    );
  });

  test("hashes and returns a realm with its escapes as they came, and compares it without", () => {
    const result = ask([String.raw`Digest realm="a\"b", nonce="n"`], {
      credentials: { username: "alice", password: "pw", realm: 'a"b' },
    });
    expect(result).toMatchObject({ ok: true, realm: 'a"b', fields: { realm: String.raw`"a\"b"` } });
    expect(response(result)).toBe(
      md5(`${md5(String.raw`alice:a\"b:pw`)}:n:${md5("INVITE:sip:bob@trunk.test")}`),
    );
  });
});

describe("the choice among challenges", () => {
  const challenge = (algorithm: string, nonce: string, realm = "r") =>
    `Digest realm="${realm}", nonce="${nonce}", algorithm=${algorithm}, qop="auth"`;

  test.each<[string, readonly string[], string]>([
    ["the strongest wins", ["MD5", "SHA-512-256", "SHA-256"], '"1"'],
    ["the topmost among equals wins", ["SHA-256", "SHA-256-sess"], '"0"'],
    ["unknown algorithms are passed over", ["SHA3-512", "AKAv1-MD5", "md5"], '"2"'],
    ["case does not matter", ["MD5", "sha-256"], '"1"'],
  ])("%s", (_what, algorithms, nonce) => {
    expect(ask(algorithms.map((name, i) => challenge(name, String(i))))).toMatchObject({
      ok: true,
      fields: { nonce },
    });
  });

  test("one header may hold several challenges", () => {
    const result = ask([`Basic realm="x", ${challenge("MD5", "0")}, ${challenge("SHA-256", "1")}`]);
    expect(result).toMatchObject({ ok: true, algorithm: "SHA-256", fields: { nonce: '"1"' } });
  });

  test("only the configured realm is answered", () => {
    const credentials = { username: "alice", password: "pw", realm: "mine" };
    const challenges = [challenge("SHA-256", "0", "theirs"), challenge("MD5", "1", "mine")];
    expect(ask(challenges, { credentials })).toMatchObject({
      ok: true,
      realm: "mine",
      fields: { nonce: '"1"' },
    });
    expect(ask(challenges.slice(0, 1), { credentials })).toEqual({
      ok: false,
      reason: "no challenge is for the realm mine",
    });
  });

  test.each([
    ["no challenge", [], "there is no Digest challenge"],
    ["another scheme", ['Basic realm="r"'], "there is no Digest challenge"],
    ["an unknown algorithm", [challenge("SHA3-512", "0")], "no challenge has a supported algorithm and qop"],
    [
      "an unknown qop",
      ['Digest realm="r", nonce="n", qop="auth-conf"'],
      "no challenge has a supported algorithm and qop",
    ],
    ["no nonce", ['Digest realm="r"'], "no challenge has a supported algorithm and qop"],
    ["no realm", ['Digest nonce="n"'], "no challenge has a supported algorithm and qop"],
    ["an unclosed quote", ['Digest realm="r", nonce="n'], "no challenge has a supported algorithm and qop"],
  ])("%s is refused", (_what, challenges, reason) => {
    expect(ask(challenges)).toEqual({ ok: false, reason });
  });
});

describe("what the challenge says besides", () => {
  test.each([
    ["stale=true", true],
    ["stale=TRUE", true],
    ['stale="true"', true],
    ["stale=false", false],
    ["stale=yes", false],
    ["x=stale", false],
  ])("%s is read as %j", (text, stale) => {
    expect(ask([`Digest realm="r", nonce="n", ${text}`])).toMatchObject({ ok: true, stale });
  });

  test("opaque comes back unchanged, the algorithm only when it was named", () => {
    expect(ask(['Digest realm="r",nonce="n",opaque="",algorithm=MD5'])).toMatchObject({
      fields: { opaque: '""', algorithm: "MD5" },
    });
    const result = ask(['Digest realm="r",nonce="n"']);
    expect(result.ok && result.header).not.toMatch(/opaque|algorithm/);
  });

  test("quotes in the user name are escaped", () => {
    const credentials = { username: 'a"b\\', password: "pw" };
    const result = ask(['Digest realm="r", nonce="n"'], { credentials });
    expect(result.ok && result.header).toContain(String.raw`username="a\"b\\", `);
  });

  test("spacing, order and odd separators do not matter", () => {
    const result = ask(['  digest  nonce = "n" ,, QOP=auth ,REALM= "r" ,']);
    expect(result).toMatchObject({ ok: true, realm: "r", fields: { nonce: '"n"', qop: "auth" } });
  });
});

test("any challenge text: no exception", () => {
  const pieces = fc.constantFrom(
    "Digest",
    "Basic",
    " ",
    ",",
    "=",
    '"',
    "\\",
    "realm",
    "nonce",
    "qop",
    "auth",
    "algorithm",
    "MD5",
    "-sess",
    "é",
  );
  fc.assert(
    fc.property(
      fc.array(
        fc.array(pieces).map((parts) => parts.join("")),
        { maxLength: 3 },
      ),
      (challenges) => {
        ask(challenges);
        for (const text of challenges)
          for (const { scheme } of parseChallenges(text)) expect(scheme).not.toBe("");
      },
    ),
    { numRuns: 1000 },
  );
});
