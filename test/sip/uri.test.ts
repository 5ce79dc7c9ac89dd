import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { parseUri, printUri, sameUri, type SipUri } from "../../src/sip/uri.ts";

const map = (entries: Record<string, string> = {}): ReadonlyMap<string, string> =>
  new Map(Object.entries(entries));
const sip = (fields: Partial<SipUri> & { host: string }): SipUri => ({
  scheme: "sip",
  params: map(),
  headers: map(),
  ...fields,
});

describe("parseUri", () => {
  test.each<[string, SipUri]>([
    ["sip:example.com", sip({ host: "example.com" })],
    ["SIPS:bob@Example.com:5061", sip({ scheme: "sips", user: "bob", host: "Example.com", port: 5061 })],
    [
      "sip:+34600111222@trunk.test;user=phone",
      sip({ user: "+34600111222", host: "trunk.test", params: map({ user: "phone" }) }),
    ],
    ["sip:a:pass@h", sip({ user: "a", password: "pass", host: "h" })],
    ["sip:a:@h", sip({ user: "a", password: "", host: "h" })],
    ["sip:%61%40b;c?d%C3%B1@h", sip({ user: "a@b;c?dñ", host: "h" })],
    ["sip:[2001:db8::1]:5060;lr", sip({ host: "2001:db8::1", port: 5060, params: map({ lr: "" }) })],
    ["sip:u@[::1]", sip({ user: "u", host: "::1" })],
    ["sip:h;transport=TCP;X=%41;x=2;;", sip({ host: "h", params: map({ transport: "TCP", x: "A" }) })],
    [
      "sip:h?Subject=a%20b&Route=%3Csip:x%3E",
      sip({ host: "h", headers: map({ subject: "a b", route: "<sip:x>" }) }),
    ],
    ["sip:h;a?b=;c", sip({ host: "h", params: map({ a: "" }), headers: map({ b: ";c" }) })],
    ["sip:*21#@h", sip({ user: "*21#", host: "h" })],
    ["sip:%ff@h", sip({ user: "\ufffd", host: "h" })],
    ["tel:+34-600.111(222)", sip({ scheme: "tel", user: "+34-600.111(222)", host: "" })],
    [
      "tel:7042;phone-context=example.com",
      sip({ scheme: "tel", user: "7042", host: "", params: map({ "phone-context": "example.com" }) }),
    ],
  ])("reads %j", (text, uri) => {
    expect(parseUri(text)).toEqual(uri);
  });

  test.each([
    "",
    "sip",
    "sip:",
    "http://example.com",
    "sip:@h",
    "sip::p@h",
    "sip:a@",
    "sip:a@b@c",
    "sip:h:",
    "sip:h:x",
    "sip:h:65536",
    "sip:2001:db8::1",
    "sip:[2001:db8::1",
    "sip:[h]",
    "sip:[::1]x",
    "sip:a%4@h",
    "sip:a%zz@h",
    "sip:h;=b",
    "sip:h;a=%",
    "sip:a b@h",
    "sip:h\n",
    "<sip:h>",
    'sip:"a"@h',
    "sip:h;a=b<c",
    "tel:",
    "tel:bob",
    "tel:+34 600",
    " sip:h",
  ])("refuses %j", (text) => {
    expect(parseUri(text)).toBeUndefined();
  });
});

describe("printUri", () => {
  test("escapes what each part may not hold", () => {
    const uri = sip({
      user: "a b@c;d",
      password: "p:q",
      host: "2001:db8::1",
      port: 5060,
      params: map({ lr: "", x: "1;2" }),
      headers: map({ subject: "a&b", empty: "" }),
    });
    expect(printUri(uri)).toBe("sip:a%20b%40c;d:p%3Aq@[2001:db8::1]:5060;lr;x=1%3B2?subject=a%26b&empty=");
  });

  test("writes octets beyond ASCII in UTF-8, surrogate pairs included", () => {
    expect(printUri(sip({ user: "ñ😀", host: "h" }))).toBe("sip:%C3%B1%F0%9F%98%80@h");
  });

  test("lets nothing of a user become another part of the request line", () => {
    expect(printUri(sip({ user: "1@evil>\r\nX: y", host: "h" }))).toBe("sip:1%40evil%3E%0D%0AX%3A%20y@h");
  });

  test("writes tel URIs", () => {
    expect(printUri(sip({ scheme: "tel", user: "+34600111222", host: "", params: map({ ext: "5" }) }))).toBe(
      "tel:+34600111222;ext=5",
    );
  });

  test("is undone by parseUri", () => {
    const text = fc.string({ unit: "binary", maxLength: 12 });
    const names = fc.stringMatching(/^[a-z][a-z0-9%\-;&=+ ñ]{0,8}$/);
    const pairs = fc.dictionary(names, text, { maxKeys: 4, noNullPrototype: true }).map(map);
    const uri = fc.record(
      {
        scheme: fc.constantFrom("sip" as const, "sips" as const),
        user: text.filter((user) => user !== ""),
        host: fc.constantFrom("h", "Example.com", "192.0.2.1", "2001:db8::1", "::ffff:192.0.2.1"),
        port: fc.integer({ min: 0, max: 65_535 }),
        params: pairs,
        headers: pairs,
      },
      { requiredKeys: ["scheme", "host", "params", "headers"] },
    );
    fc.assert(
      fc.property(uri, (value) => {
        expect(parseUri(printUri(value as SipUri))).toEqual(value);
      }),
      { numRuns: 1000 },
    );
  });
});

describe("sameUri (RFC 3261 19.1.4)", () => {
  const same = (a: string, b: string): boolean => {
    const [first, second] = [parseUri(a)!, parseUri(b)!];
    const answer = sameUri(first, second);
    expect(sameUri(second, first)).toBe(answer);
    return answer;
  };

  test.each([
    ["sip:%61lice@atlanta.com;transport=TCP", "sip:alice@AtLanTa.CoM;Transport=tcp"],
    ["sip:carol@chicago.com", "sip:carol@chicago.com;newparam=5"],
    ["sip:carol@chicago.com;security=on", "sip:carol@chicago.com;newparam=5"],
    [
      "sip:biloxi.com;transport=tcp;method=REGISTER?to=sip:bob%40biloxi.com",
      "sip:biloxi.com;method=REGISTER;transport=tcp?to=sip:bob%40biloxi.com",
    ],
    [
      "sip:alice@atlanta.com?subject=project%20x&priority=urgent",
      "sip:alice@atlanta.com?priority=urgent&subject=project%20x",
    ],
    ["tel:+34-600-111-222", "tel:+34600111222"],
  ])("%s and %s are equivalent", (a, b) => {
    expect(same(a, b)).toBe(true);
  });

  test.each([
    ["SIP:ALICE@AtLanTa.CoM;Transport=udp", "sip:alice@AtLanTa.CoM;Transport=UDP"],
    ["sip:bob@biloxi.com", "sip:bob@biloxi.com:5060"],
    ["sip:bob@biloxi.com", "sip:bob@biloxi.com;transport=udp"],
    ["sip:bob@biloxi.com", "sip:bob@biloxi.com:6000;transport=tcp"],
    ["sip:carol@chicago.com", "sip:carol@chicago.com?Subject=next%20meeting"],
    ["sip:bob@phone21.boxesbybob.com", "sip:bob@192.0.2.4"],
    ["sip:carol@chicago.com;security=on", "sip:carol@chicago.com;security=off"],
    ["sip:a@h", "sips:a@h"],
    ["sip:a:x@h", "sip:a@h"],
    ["sip:h;maddr=1.2.3.4", "sip:h"],
    ["tel:+34600111222", "tel:34600111222"],
    ["tel:1;phone-context=a", "tel:1;phone-context=b"],
  ])("%s and %s differ", (a, b) => {
    expect(same(a, b)).toBe(false);
  });
});

test("parseUri never throws, and what it reads survives printing", () => {
  const pieces = fc.constantFrom(
    "sip:",
    "sips:",
    "tel:",
    "a",
    "1",
    "%41",
    "%",
    "@",
    ":",
    ";",
    "=",
    "?",
    "&",
    "[::1]",
    "[",
    "]",
    ".",
    " ",
    "é",
    "\0",
  );
  fc.assert(
    fc.property(fc.array(pieces, { maxLength: 16 }), (parts) => {
      const uri = parseUri(parts.join(""));
      if (uri !== undefined) {
        expect(parseUri(printUri(uri))).toEqual(uri);
      }
    }),
    { numRuns: 3000 },
  );
});
