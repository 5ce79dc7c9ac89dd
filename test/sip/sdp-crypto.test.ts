import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { createSdesKeys, readCrypto } from "../../src/sip/sdp-crypto.ts";
import type { LocalMedia } from "../../src/sip/sdp-media.ts";
import { answerTo, offerOf, readAnswer } from "../../src/sip/sdp.ts";

const ours80 = "Ourkey80AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA";
const ours32 = "Ourkey32AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA";
const oursGcm = "OurkeyGcmAAAAAAAAAAAAAAAAAAAAAAAAAAAAA==";
const theirs = "d0RmdmcmVCspeEc3QGZiNWpVLFJhQX1cfHAwJSoj";
const theirsGcm = "d0RmdmcmVCspeEc3QGZiNWpVLFJhQX1cfHAwJQ==";

const plain: LocalMedia = { address: "192.0.2.10", audioPort: 40_000, codecs: ["PCMU"] };
const local: LocalMedia = {
  ...plain,
  srtp: [
    { suite: "AEAD_AES_128_GCM", key: oursGcm },
    { suite: "AES_CM_128_HMAC_SHA1_80", key: ours80 },
    { suite: "AES_CM_128_HMAC_SHA1_32", key: ours32 },
  ],
};
const session = { id: 1, version: 1 };

const sdp = (...media: readonly string[]): string =>
  ["v=0", "o=- 1 1 IN IP4 198.51.100.7", "s=-", "c=IN IP4 198.51.100.7", "t=0 0", ...media, ""].join("\r\n");
const secure = (...crypto: readonly string[]): string =>
  sdp("m=audio 5000 RTP/SAVP 0", ...crypto.map((line) => `a=crypto:${line}`));

const read = (text: string) => {
  const result = readAnswer(local, text);
  return result.ok ? result.media.audio.srtp : result.reason;
};
const respond = (offer: string, side = local) => {
  const result = answerTo(offer, side, session);
  return result.ok ? result : result.reason;
};

describe("an offer that must be encrypted", () => {
  test("is of RTP/SAVP, with a crypto line for each suite", () => {
    const lines = offerOf(local, session).split("\r\n");
    expect(lines).toContain("m=audio 40000 RTP/SAVP 0 101");
    expect(lines.filter((line) => line.startsWith("a=crypto"))).toEqual([
      `a=crypto:1 AEAD_AES_128_GCM inline:${oursGcm}`,
      `a=crypto:2 AES_CM_128_HMAC_SHA1_80 inline:${ours80}`,
      `a=crypto:3 AES_CM_128_HMAC_SHA1_32 inline:${ours32}`,
    ]);
  });

  test.each([
    [`2 AES_CM_128_HMAC_SHA1_80 inline:${theirs}`, "AES_CM_128_HMAC_SHA1_80", ours80, theirs],
    [`3 AES_CM_128_HMAC_SHA1_32 inline:${theirs}|2^20`, "AES_CM_128_HMAC_SHA1_32", ours32, theirs],
    [`1 AEAD_AES_128_GCM inline:${theirsGcm}|65536`, "AEAD_AES_128_GCM", oursGcm, theirsGcm],
    [`1 AEAD_AES_128_GCM inline:${theirsGcm.slice(0, -2)}`, "AEAD_AES_128_GCM", oursGcm, theirsGcm],
    [`2  AES_CM_128_HMAC_SHA1_80  inline:${theirs}  WSH=128 -X`, "AES_CM_128_HMAC_SHA1_80", ours80, theirs],
  ])("takes the answer %s", (line, suite, localKey, remoteKey) => {
    expect(read(secure(line))).toEqual({ suite, localKey, remoteKey });
  });

  test.each<[string, string, string]>([
    ["no encryption", sdp("m=audio 5000 RTP/AVP 0"), "the audio protocol RTP/AVP is not RTP/SAVP"],
    [
      "a crypto line, but no secure profile",
      sdp("m=audio 5000 RTP/AVP 0", `a=crypto:2 AES_CM_128_HMAC_SHA1_80 inline:${theirs}`),
      "the audio protocol RTP/AVP is not RTP/SAVP",
    ],
    ["DTLS", sdp("m=audio 5000 UDP/TLS/RTP/SAVP 0"), "the audio protocol UDP/TLS/RTP/SAVP is not RTP/SAVP"],
    ["no crypto line", secure(), "the audio has no crypto line that can be used"],
    ["a refusal", sdp("m=audio 0 RTP/SAVP 0"), "the audio was refused (port 0)"],
  ])("refuses an answer with %s", (_what, text, reason) => {
    expect(read(text)).toBe(reason);
  });

  test.each([
    ["a number that was not offered", `4 AES_CM_128_HMAC_SHA1_80 inline:${theirs}`],
    ["the number 0", `0 AES_CM_128_HMAC_SHA1_80 inline:${theirs}`],
    ["another suite than its number's", `1 AES_CM_128_HMAC_SHA1_80 inline:${theirs}`],
    ["an unknown suite", `2 AES_256_CM_HMAC_SHA1_80 inline:${theirs}`],
    ["our own key", `2 AES_CM_128_HMAC_SHA1_80 inline:${ours80}`],
    ["a key too short", `2 AES_CM_128_HMAC_SHA1_80 inline:${theirs.slice(1)}`],
    ["a key too long", `2 AES_CM_128_HMAC_SHA1_80 inline:${theirs}AAAA`],
    ["a key that is no base64", `2 AES_CM_128_HMAC_SHA1_80 inline:${theirs.slice(1)}-`],
    ["another key method", `2 AES_CM_128_HMAC_SHA1_80 uri:${theirs}`],
    ["a master key index", `2 AES_CM_128_HMAC_SHA1_80 inline:${theirs}|1:4`],
    ["a lifetime and a master key index", `2 AES_CM_128_HMAC_SHA1_80 inline:${theirs}|2^20|1:4`],
    ["two keys", `2 AES_CM_128_HMAC_SHA1_80 inline:${theirs}|2^20|1:4;inline:${theirs}|2^20|2:4`],
    ["a lifetime of nothing", `2 AES_CM_128_HMAC_SHA1_80 inline:${theirs}|0`],
    ["a lifetime beyond 2^48", `2 AES_CM_128_HMAC_SHA1_80 inline:${theirs}|2^49`],
    ["packets left in the clear", `2 AES_CM_128_HMAC_SHA1_80 inline:${theirs} UNENCRYPTED_SRTP`],
    ["reports left in the clear", `2 AES_CM_128_HMAC_SHA1_80 inline:${theirs} UNENCRYPTED_SRTCP`],
    ["no authentication", `2 AES_CM_128_HMAC_SHA1_80 inline:${theirs} UNAUTHENTICATED_SRTP`],
    ["a key derivation rate", `2 AES_CM_128_HMAC_SHA1_80 inline:${theirs} KDR=1`],
    ["nothing", ""],
  ])("refuses a crypto line with %s", (_what, line) => {
    expect(read(secure(line))).toBe("the audio has no crypto line that can be used");
  });

  test("an encrypted answer is refused when nothing was asked for", () => {
    const answer = secure(`1 AES_CM_128_HMAC_SHA1_80 inline:${theirs}`);
    expect(readAnswer(plain, answer)).toEqual({
      ok: false,
      reason: "the audio protocol RTP/SAVP is not RTP/AVP",
    });
  });
});

describe("an offer of encryption", () => {
  test("is answered with the first of its lines that we can use, under its number", () => {
    const result = respond(
      secure(
        `7 AES_256_CM_HMAC_SHA1_80 inline:${theirs}AAAAAAAAAAAAAAAAAAAAAA`,
        `8 AES_CM_128_HMAC_SHA1_80 inline:${theirs}|2^31|1:1`,
        `9 AES_CM_128_HMAC_SHA1_32 inline:${theirs}|2^31`,
        `10 AES_CM_128_HMAC_SHA1_80 inline:${theirs}`,
      ),
    );
    if (typeof result === "string") throw new Error(result);
    const lines = result.sdp.split("\r\n");
    expect(lines).toContain("m=audio 40000 RTP/SAVP 0");
    expect(lines.filter((line) => line.startsWith("a=crypto"))).toEqual([
      `a=crypto:9 AES_CM_128_HMAC_SHA1_32 inline:${ours32}`,
    ]);
    expect(result.media.audio.srtp).toEqual({
      suite: "AES_CM_128_HMAC_SHA1_32",
      localKey: ours32,
      remoteKey: theirs,
    });
  });

  test("of the feedback profile is answered in that profile", () => {
    const result = respond(
      sdp("m=audio 5000 RTP/SAVPF 0", `a=crypto:1 AEAD_AES_128_GCM inline:${theirsGcm}`),
    );
    expect(typeof result === "string" ? result : result.sdp).toContain("m=audio 40000 RTP/SAVPF 0\r\n");
  });

  test("is refused with 488 without our consent, as is one in the clear when encryption is required", () => {
    const offer = secure(`1 AES_CM_128_HMAC_SHA1_80 inline:${theirs}`);
    expect(answerTo(offer, plain, session)).toMatchObject({ ok: false, status: 488 });
    expect(answerTo(sdp("m=audio 5000 RTP/AVP 0"), local, session)).toEqual({
      ok: false,
      status: 488,
      reason: "the audio protocol RTP/AVP is not RTP/SAVP",
    });
    expect(respond(secure())).toBe("the audio has no crypto line that can be used");
  });

  test("of both kinds is answered for the line that fits, and the other is refused", () => {
    const result = respond(
      sdp(
        "m=audio 5000 RTP/AVP 0",
        "m=audio 5002 RTP/SAVP 0",
        `a=crypto:1 AES_CM_128_HMAC_SHA1_80 inline:${theirs}`,
      ),
    );
    expect(typeof result === "string" ? result : result.sdp).toMatch(
      /m=audio 0 RTP\/AVP 0\r\nm=audio 40000 RTP\/SAVP 0\r\n/,
    );
  });

  test("asked anew with the same keys gets the same answer", () => {
    const offer = secure(`1 AEAD_AES_128_GCM inline:${theirsGcm}`);
    expect(respond(offer)).toEqual(respond(offer));
  });
});

describe("keys", () => {
  const counting = () => {
    let next = 0;
    return { bytes: (length: number) => Uint8Array.from({ length }, () => next++) };
  };

  test("are made one a suite, of the suite's length, each of its own", () => {
    const keys = createSdesKeys(counting());
    expect(keys.map(({ suite, key }) => [suite, atob(key).length])).toEqual([
      ["AEAD_AES_128_GCM", 28],
      ["AES_CM_128_HMAC_SHA1_80", 30],
      ["AES_CM_128_HMAC_SHA1_32", 30],
    ]);
    expect(new Set(keys.map(({ key }) => key)).size).toBe(3);
    expect(createSdesKeys(counting(), ["AES_CM_128_HMAC_SHA1_32"])).toHaveLength(1);
  });

  test("what two sides of ours agree on is each other's mirror", () => {
    const caller: LocalMedia = { ...plain, srtp: createSdesKeys(counting()) };
    const entropy = counting();
    entropy.bytes(100);
    for (const suite of ["AEAD_AES_128_GCM", "AES_CM_128_HMAC_SHA1_80", "AES_CM_128_HMAC_SHA1_32"] as const) {
      const callee: LocalMedia = { ...plain, srtp: createSdesKeys(entropy, [suite]) };
      const answered = answerTo(offerOf(caller, session), callee, session);
      if (!answered.ok) throw new Error(answered.reason);
      const ours = readAnswer(caller, answered.sdp);
      if (!ours.ok) throw new Error(ours.reason);
      const theirView = answered.media.audio.srtp;
      expect(ours.media.audio.srtp).toEqual({
        suite,
        localKey: theirView?.remoteKey,
        remoteKey: theirView?.localKey,
      });
    }
  });

  test("a repeated number counts once, the first time", () => {
    const lines = [
      `1 AES_CM_128_HMAC_SHA1_80 inline:${theirs}`,
      `1 AES_CM_128_HMAC_SHA1_32 inline:${theirs}`,
    ];
    const attributes = lines.map((value) => ({ name: "crypto", value }));
    const media = { kind: "audio", port: 1, protocol: "RTP/SAVP", formats: ["0"], attributes };
    expect(readCrypto(media)).toEqual([{ tag: 1, suite: "AES_CM_128_HMAC_SHA1_80", key: theirs }]);
  });

  test("no text makes the reader throw, and whatever it takes is a key of the right length", () => {
    const piece = fc.constantFrom(
      "1",
      "2",
      " ",
      "AES_CM_128_HMAC_SHA1_80",
      "AEAD_AES_128_GCM",
      "inline:",
      theirs,
      theirsGcm,
      "|",
      "2^20",
      "1:4",
      ";",
      "KDR=1",
      "=",
      "toString",
      "é",
    );
    const line = fc.oneof(
      fc.string(),
      fc.array(piece, { maxLength: 10 }).map((parts) => parts.join("")),
    );
    fc.assert(
      fc.property(line, (value) => {
        const attributes = [{ name: "crypto", value }];
        for (const { suite, key } of readCrypto({
          kind: "audio",
          port: 1,
          protocol: "RTP/SAVP",
          formats: [],
          attributes,
        }))
          expect(atob(key).length).toBe(suite === "AEAD_AES_128_GCM" ? 28 : 30);
      }),
      { numRuns: 1000 },
    );
  });
});

describe("G722", () => {
  test("is offered as payload 9 at a clock of 8000, and agreed on", () => {
    const wide: LocalMedia = { ...plain, codecs: ["G722", "PCMA"] };
    const offer = offerOf(wide, session);
    expect(offer).toContain("m=audio 40000 RTP/AVP 9 8 101\r\na=rtpmap:9 G722/8000\r\n");
    const read = readAnswer(wide, sdp("m=audio 5000 RTP/AVP 9"));
    expect(read.ok && read.media.audio).toMatchObject({ codec: "G722", payloadType: 9 });
    const answered = answerTo(sdp("m=audio 5000 RTP/AVP 96", "a=rtpmap:96 g722/8000"), wide, session);
    expect(answered.ok && answered.media.audio).toMatchObject({ codec: "G722", payloadType: 96 });
  });
});
