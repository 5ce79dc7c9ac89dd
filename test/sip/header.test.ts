import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  headerValue,
  headerValues,
  parseCSeq,
  parseNameAddr,
  parseReason,
  parseRetryAfter,
  parseVia,
  printNameAddr,
  printVia,
  type NameAddr,
  type Via,
} from "../../src/sip/header.ts";

const map = (entries: Record<string, string> = {}): ReadonlyMap<string, string> =>
  new Map(Object.entries(entries));

describe("headerValue and headerValues", () => {
  const headers = [
    { name: "Via", value: 'SIP/2.0/UDP a;x="1,2" , SIP/2.0/TCP b' },
    { name: "Contact", value: '"Doe, \\"J\\"" <sip:a,b@c>,, <sip:d>;x="<,>"' },
    { name: "via", value: "SIP/2.0/TLS c" },
    { name: "WWW-Authenticate", value: 'Digest realm="a", nonce="b"' },
    { name: "Allow", value: "INVITE,ACK , BYE," },
    { name: "X-List", value: "a, b" },
    { name: "Contact", value: '<sip:e>, "unclosed, <sip:f>' },
  ];

  test("find a header whatever the case of its name", () => {
    expect(headerValue(headers, "VIA")).toBe('SIP/2.0/UDP a;x="1,2" , SIP/2.0/TCP b');
    expect(headerValue(headers, "Route")).toBeUndefined();
    expect(headerValues(headers, "Route")).toEqual([]);
  });

  test("split list headers at commas outside quotes and brackets, over several lines", () => {
    expect(headerValues(headers, "Via")).toEqual(['SIP/2.0/UDP a;x="1,2"', "SIP/2.0/TCP b", "SIP/2.0/TLS c"]);
    expect(headerValues(headers, "allow")).toEqual(["INVITE", "ACK", "BYE"]);
    expect(headerValues(headers, "Contact")).toEqual([
      '"Doe, \\"J\\"" <sip:a,b@c>',
      '<sip:d>;x="<,>"',
      "<sip:e>",
      '"unclosed, <sip:f>',
    ]);
  });

  test("leave challenges and unknown headers whole", () => {
    expect(headerValues(headers, "WWW-Authenticate")).toEqual(['Digest realm="a", nonce="b"']);
    expect(headerValues(headers, "X-List")).toEqual(["a, b"]);
  });

  test("take a message as well", () => {
    const message = {
      type: "response",
      status: 200,
      reason: "OK",
      headers,
      body: new Uint8Array(0),
    } as const;
    expect(headerValue(message, "Allow")).toBe("INVITE,ACK , BYE,");
    expect(headerValues(message, "Allow")).toHaveLength(3);
  });
});

describe("parseVia", () => {
  test.each<[string, Via]>([
    ["SIP/2.0/UDP pbx", { transport: "UDP", host: "pbx", params: map() }],
    [
      "SIP/2.0/TLS 192.0.2.1:5061;branch=z9hG4bK1;received=192.0.2.9;rport=1024;maddr=10.0.0.1;ttl=2",
      {
        transport: "TLS",
        host: "192.0.2.1",
        port: 5061,
        branch: "z9hG4bK1",
        received: "192.0.2.9",
        rport: 1024,
        params: map({ maddr: "10.0.0.1", ttl: "2" }),
      },
    ],
    [
      "sip/2.0/udp [2001:db8::1]:5060;RPORT;Branch=z9hG4bKx",
      { transport: "UDP", host: "2001:db8::1", port: 5060, branch: "z9hG4bKx", rport: true, params: map() },
    ],
    ["SIP/2.0/UDP h;rport=", { transport: "UDP", host: "h", rport: true, params: map() }],
    ["SIP/2.0/UDP h;rport=99999", { transport: "UDP", host: "h", rport: true, params: map() }],
    [
      "SIP / 2.0 / UDP h : 5060 ; branch = b ",
      { transport: "UDP", host: "h", port: 5060, branch: "b", params: map() },
    ],
    ["SIP/2.0/UDP h;branch=a;branch=b", { transport: "UDP", host: "h", branch: "a", params: map() }],
    ["SIP/2.0/UDP my_host.lan;branch", { transport: "UDP", host: "my_host.lan", params: map() }],
  ])("reads %j", (text, via) => {
    expect(parseVia(text)).toEqual(via);
  });

  test.each([
    "",
    "SIP/2.0/UDP",
    "SIP/2.0/UDP ",
    "SIP/2.0/ h",
    "SIP/2.0 UDP h",
    "SIP/3.0/UDP h",
    "HTTP/2.0/UDP h",
    "SIP/2.0/UDP h:",
    "SIP/2.0/UDP h:x",
    "SIP/2.0/UDP h:65536",
    "SIP/2.0/UDP h h",
    "SIP/2.0/UDP ho st;a",
    "SIP/2.0/UDP [::1",
    "SIP/2.0/UDP [xyz]",
    "SIP/2.0/UDP 2001:db8::1",
    "SIP/2.0/UDP h;;branch=a",
    "SIP/2.0/UDP h;branch=a;",
    "SIP/2.0/UDP h;=a",
    'SIP/2.0/UDP h;a="b',
    "SIP/2.0/UDP h, SIP/2.0/UDP i",
  ])("refuses %j", (text) => {
    expect(parseVia(text)).toBeUndefined();
  });

  test("undoes printVia", () => {
    const host = fc.constantFrom("h", "example.com", "192.0.2.1", "2001:db8::1", "::ffff:192.0.2.1");
    const word = fc.stringMatching(/^[A-Za-z0-9.!%*_+`'~-]{1,12}$/);
    const via = fc.record(
      {
        transport: fc.constantFrom("UDP", "TCP", "TLS"),
        host,
        port: fc.integer({ min: 0, max: 65_535 }),
        branch: word,
        received: host,
        rport: fc.oneof(fc.constant(true as const), fc.integer({ min: 0, max: 65_535 })),
        params: fc
          .dictionary(
            word.map((name) => `x${name.toLowerCase()}`),
            fc.string({ unit: "grapheme" }).map((text) => text.replaceAll(/[\r\n]/g, "")),
            { noNullPrototype: true },
          )
          .map(map),
      },
      { requiredKeys: ["transport", "host", "params"] },
    );
    fc.assert(
      fc.property(via, (value) => {
        expect(parseVia(printVia(value as Via))).toEqual(value);
      }),
      { numRuns: 500 },
    );
  });

  test("lets the named fields win over parameters of the same name when printing", () => {
    expect(printVia({ transport: "UDP", host: "h", rport: 5, params: map({ rport: "9", keep: "" }) })).toBe(
      "SIP/2.0/UDP h;keep;rport=5",
    );
  });
});

describe("parseNameAddr", () => {
  test.each<[string, NameAddr]>([
    ["sip:a@b", { uri: "sip:a@b", params: map() }],
    ["<sip:a@b>", { uri: "sip:a@b", params: map() }],
    ["sip:a@b;tag=1;x", { uri: "sip:a@b", params: map({ tag: "1", x: "" }) }],
    ["<sip:a@b;lr>;tag=1", { uri: "sip:a@b;lr", params: map({ tag: "1" }) }],
    ["Alice Cooper <sip:a@b>", { display: "Alice Cooper", uri: "sip:a@b", params: map() }],
    ["José 中 <sip:a@b>", { display: "José 中", uri: "sip:a@b", params: map() }],
    ["+34 600 (mobile) <sip:a@b>", { display: "+34 600 (mobile)", uri: "sip:a@b", params: map() }],
    [
      '"A. \\"B\\" <c>, d" <sip:a@b> ; TAG = X',
      { display: 'A. "B" <c>, d', uri: "sip:a@b", params: map({ tag: "X" }) },
    ],
    ['"" <sip:a@b>', { uri: "sip:a@b", params: map() }],
    ["<sip:a,b?c=d@e>", { uri: "sip:a,b?c=d@e", params: map() }],
    [
      '<sip:a>;+sip.instance="<urn:uuid:1;2>";q=0.5',
      { uri: "sip:a", params: map({ "+sip.instance": "<urn:uuid:1;2>", q: "0.5" }) },
    ],
    ['sip:a;x="<y>"', { uri: "sip:a", params: map({ x: "<y>" }) }],
    ["<sip:a>;tag=1;;", { uri: "sip:a", params: map({ tag: "1" }) }],
    ["<sip:a>;tag=", { uri: "sip:a", params: map({ tag: "" }) }],
    ["<tel:+34600111222>", { uri: "tel:+34600111222", params: map() }],
  ])("reads %j", (text, value) => {
    expect(parseNameAddr(text)).toEqual(value);
  });

  test.each([
    "",
    "*",
    "a@b",
    "sip:",
    "<>",
    "<a>",
    "<sip:a@b",
    "<sip:a b>",
    "< sip:a>",
    "sip:a b",
    '"open <sip:a>',
    '"name" sip:a',
    "Bell, Alexander <sip:a>",
    "a:b <sip:a>",
    "sip:a?b=c",
    "sip:a,sip:b",
    "<sip:a> junk",
    "<sip:a>;x y",
    "<sip:a>;x=1,2",
    '<sip:a>;x="1',
  ])("refuses %j", (text) => {
    expect(parseNameAddr(text)).toBeUndefined();
  });

  test("undoes printNameAddr, whatever the display name and the parameters hold", () => {
    const text = fc.string({ unit: "binary", minLength: 1 }).map((value) => value.replaceAll(/[\r\n]/g, ""));
    const value = fc.record(
      {
        display: text.filter((display) => display !== ""),
        uri: fc.constantFrom("sip:a@b", "sip:a@[::1]:5060;lr?x=y", "tel:+1"),
        params: fc
          .dictionary(fc.stringMatching(/^[a-z0-9.!%*_+`'~-]{1,12}$/), text, { noNullPrototype: true })
          .map(map),
      },
      { requiredKeys: ["uri", "params"] },
    );
    fc.assert(
      fc.property(value, (nameAddr) => {
        expect(parseNameAddr(printNameAddr(nameAddr as NameAddr))).toEqual(nameAddr);
      }),
      { numRuns: 500 },
    );
  });

  test("prints plain names as words, others quoted, flags without value", () => {
    expect(printNameAddr({ display: "Bob Smith", uri: "sip:b", params: map({ lr: "", q: "0.1" }) })).toBe(
      "Bob Smith <sip:b>;lr;q=0.1",
    );
    expect(printNameAddr({ display: 'B, "x"\n', uri: "sip:b", params: map() })).toBe('"B, \\"x\\" " <sip:b>');
  });
});

describe("parseCSeq", () => {
  test.each([
    ["1 INVITE", { number: 1, method: "INVITE" }],
    ["0009   ACK ", { number: 9, method: "ACK" }],
    ["4294967295 X-y", { number: 4_294_967_295, method: "X-y" }],
    ["0\tBYE", { number: 0, method: "BYE" }],
  ])("reads %j", (text, expected) => {
    expect(parseCSeq(text)).toEqual(expected);
  });

  test.each([
    "",
    "1",
    "INVITE",
    "1INVITE",
    "4294967296 INVITE",
    "-1 INVITE",
    "1.5 INVITE",
    "1 INVITE x",
    "1 IN,VITE",
  ])("refuses %j", (text) => {
    expect(parseCSeq(text)).toBeUndefined();
  });
});

describe("parseReason", () => {
  test.each([
    [
      'Q.850;cause=16;text="Normal, \\"clearing\\""',
      [{ protocol: "Q.850", cause: 16, text: 'Normal, "clearing"' }],
    ],
    ["Q.850 ; cause = 1", [{ protocol: "Q.850", cause: 1 }]],
    [
      'SIP;cause=200;text="Call completed elsewhere", Q.850;cause=26',
      [
        { protocol: "SIP", cause: 200, text: "Call completed elsewhere" },
        { protocol: "Q.850", cause: 26 },
      ],
    ],
    ["SIP", [{ protocol: "SIP" }]],
    ["Q.850;cause=x;text=busy", [{ protocol: "Q.850", text: "busy" }]],
    ["Q.850;cause=17;", [{ protocol: "Q.850", cause: 17 }]],
    ["", []],
    [";cause=1, <x>, Q.850;cause=3", [{ protocol: "Q.850", cause: 3 }]],
  ])("reads %j", (text, expected) => {
    expect(parseReason(text)).toEqual(expected);
  });
});

describe("parseRetryAfter", () => {
  test.each([
    ["5", 5],
    ["18000;duration=3600", 18_000],
    ["120 (I'm in a meeting)", 120],
    ["949302838503028349304023988", 4_294_967_295],
    ["", undefined],
    ["soon", undefined],
    ["-1", undefined],
    ["5 minutes", undefined],
    ["Fri, 01 Jan 2010 16:00:00 GMT", undefined],
  ])("reads %j as %j", (text, expected) => {
    expect(parseRetryAfter(text)).toBe(expected);
  });
});

test("no header reader throws, whatever the text", () => {
  const text = fc.oneof(
    fc.string({ unit: "binary", maxLength: 200 }),
    fc
      .array(fc.constantFrom('"', "\\", "<", ">", ";", "=", ",", ":", " ", "a", "sip:", "SIP/2.0/UDP ", "1"))
      .map((parts) => parts.join("")),
  );
  fc.assert(
    fc.property(text, (value) => {
      for (const reader of [parseVia, parseNameAddr, parseCSeq, parseReason, parseRetryAfter]) {
        expect(() => reader(value)).not.toThrow();
      }
      const elements = headerValues([{ name: "Contact", value }], "contact");
      expect(elements.every((element) => value.includes(element) && element !== "")).toBe(true);
    }),
    { numRuns: 1000 },
  );
});
