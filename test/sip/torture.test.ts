import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { headerValue, headerValues, parseCSeq, parseNameAddr, parseVia } from "../../src/sip/header.ts";
import type { SipMessage } from "../../src/sip/message.ts";
import { parseMessage, type ParseResult } from "../../src/sip/parse.ts";
import { printMessage } from "../../src/sip/print.ts";
import { parseSdp } from "../../src/sip/sdp.ts";
import { parseUri } from "../../src/sip/uri.ts";
import { readTortureMessages } from "./torture-files.ts";

const messages = readTortureMessages();
const bytesOf = (file: string): Uint8Array => messages.get(file)!;
const read = (file: string): ParseResult => parseMessage(bytesOf(file));

/** What a message of the RFCs must lead to: values of the message that was read, or the answer to one that was not. */
type Row = readonly [file: string, what: string, values: (message: SipMessage) => unknown, expected: unknown];

const vias = (m: SipMessage) => headerValues(m, "Via").map(parseVia);
const nameAddr = (m: SipMessage, name: string) => parseNameAddr(headerValue(m, name) ?? "");
const contacts = (m: SipMessage) => headerValues(m, "Contact").map(parseNameAddr);
const target = (m: SipMessage) => (m.type === "request" ? parseUri(m.uri) : undefined);
const sdpLines = (m: SipMessage) => new TextDecoder().decode(m.body).split("\r\n");
const media = (m: SipMessage) => {
  const sdp = parseSdp(new TextDecoder().decode(m.body));
  return sdp.ok ? sdp.value.media.map(({ kind, port }) => `${kind} ${port}`) : sdp.problem;
};

const accepted: readonly Row[] = [
  // RFC 4475 3.1.1: valid
  [
    "rfc4475/wsinv",
    "3.1.1.1 short tortuous INVITE",
    (m) => [
      vias(m).map((via) => `${via?.transport} ${via?.host} ${via?.branch}`),
      nameAddr(m, "To"),
      nameAddr(m, "From"),
      parseCSeq(headerValue(m, "CSeq") ?? ""),
      headerValue(m, "Max-Forwards"),
      headerValue(m, "Subject"),
      headerValue(m, "NewFangledHeader"),
      headerValue(m, "UnknownHeaderWithUnusualValue"),
      headerValues(m, "Route"),
      contacts(m),
      media(m),
    ],
    [
      ["UDP 192.0.2.2 390skdjuw", "TCP spindle.example.com z9hG4bK9ikj8", "UDP 192.168.255.111 z9hG4bK30239"],
      { uri: "sip:vivekg@chair-dnrc.example.com", params: new Map([["tag", "1918181833n"]]) },
      { display: 'J Rosenberg \\"', uri: "sip:jdrosen@example.com", params: new Map([["tag", "98asjd8"]]) },
      { number: 9, method: "INVITE" },
      "0068",
      "",
      "newfangled value continued newfangled value",
      ";;,,;;,;",
      ["<sip:services.example.com;lr;unknownwith=value;unknown-no-value>"],
      [
        {
          display: 'Quoted string ""',
          uri: "sip:jdrosen@example.com",
          params: new Map([
            ["newparam", "newvalue"],
            ["secondparam", ""],
            ["q", "0.33"],
          ]),
        },
      ],
      ["audio 49217", "video 3227"],
    ],
  ],
  [
    "rfc4475/intmeth",
    "3.1.1.2 wide range of valid characters",
    (m) => [
      m.type === "request" && m.method,
      target(m)?.user,
      target(m)?.password,
      nameAddr(m, "To")?.display,
      nameAddr(m, "From")?.display,
      [...(nameAddr(m, "From")?.params ?? [])],
      headerValue(m, "extensionHeader-!.%*+_`'~"),
    ],
    [
      "!interesting-Method0123456789_*+`.%indeed'~",
      "1_unusual.URI~(to-be!sure)&isn't+it$/crazy?,/;;*",
      "&it+has=1,weird!*pas$wo~d_too.(doesn't-it)",
      "BEL:\u0007 NUL:\u0000 DEL:\u007f",
      "token1~` token2'+_ token3*%!.-",
      [
        ["fromparam''~+*_!.-%", "работающий"],
        ["tag", "_token~1'+`*%!-."],
      ],
      "\ufeff大停電",
    ],
  ],
  [
    "rfc4475/esc01",
    "3.1.1.3 valid use of the % escape",
    (m) => [
      target(m)?.user,
      target(m)?.host,
      parseUri(nameAddr(m, "To")?.uri ?? "")?.user,
      parseUri(nameAddr(m, "From")?.uri ?? "")?.user,
      contacts(m).map((contact) => [...(parseUri(contact?.uri ?? "")?.params ?? [])]),
    ],
    [
      "sips:user@example.com",
      "example.net",
      "user",
      "I have spaces",
      [
        [
          ["lr", ""],
          ["name", "value%41"],
        ],
      ],
    ],
  ],
  [
    "rfc4475/escnull",
    "3.1.1.4 escaped nulls in URIs",
    (m) => [
      parseUri(nameAddr(m, "To")?.uri ?? "")?.user,
      contacts(m).map((contact) => parseUri(contact?.uri ?? "")?.user),
    ],
    ["null-\0-null", ["\0", "\0\0"]],
  ],
  [
    "rfc4475/esc02",
    "3.1.1.5 use of % when it is not an escape",
    (m) => [
      m.type === "request" && m.method,
      nameAddr(m, "To")?.display,
      contacts(m).length,
      vias(m)[0]?.branch,
    ],
    ["RE%47IST%45R", "%Z%45", 2, "z9hG4bK209%fzsnel234"],
  ],
  [
    "rfc4475/lwsdisp",
    "3.1.1.6 no white space between display name and <",
    (m) => nameAddr(m, "From"),
    { display: "caller", uri: "sip:caller@example.com", params: new Map([["tag", "323"]]) },
  ],
  [
    "rfc4475/longreq",
    "3.1.1.7 long values in header fields",
    (m) => [
      vias(m).length,
      vias(m).at(-1)?.received,
      headerValue(m, "Call-ID")?.length,
      nameAddr(m, "From")?.uri.length,
    ],
    [34, "192.0.2.5", 141, 131],
  ],
  [
    "rfc4475/dblreq",
    "3.1.1.8 extra trailing octets in a datagram",
    (m) => [m.type === "request" && m.method, m.body.length, headerValues(m, "Call-ID")],
    ["REGISTER", 0, ["dblreq.0ha0isndaksdj99sdfafnl3lk233412"]],
  ],
  [
    "rfc4475/semiuri",
    "3.1.1.9 semicolon-separated parameters in the user part",
    (m) => [target(m)?.user, target(m)?.host, target(m)?.params.size, headerValues(m, "Accept").length],
    ["user;par=u@example.net", "example.com", 0, 6],
  ],
  [
    "rfc4475/transports",
    "3.1.1.10 varied and unknown transports",
    (m) => vias(m).map((via) => via?.transport),
    ["UDP", "SCTP", "TLS", "UNKNOWN", "TCP"],
  ],
  [
    "rfc4475/mpart01",
    "3.1.1.11 multipart MESSAGE with binary parts",
    (m) => [m.body.length, headerValue(m, "Content-Type"), vias(m)[0]?.rport, m.body.includes(0)],
    [553, "multipart/mixed;boundary=7a9cbec02ceef655", true, true],
  ],
  [
    "rfc4475/unreason",
    "3.1.1.12 unusual reason phrase",
    (m) => m.type === "response" && [m.status, m.reason],
    [200, "= 2**3 * 5**2 но сто девяносто девять - простое"],
  ],
  [
    "rfc4475/noreason",
    "3.1.1.13 empty reason phrase",
    (m) => m.type === "response" && [m.status, m.reason],
    [100, ""],
  ],
  // RFC 4475 3.2 and 3.3: well formed, judged by a later layer
  ["rfc4475/badbranch", "3.2.1 branch that is only the magic cookie", (m) => vias(m)[0]?.branch, "z9hG4bK"],
  ["rfc4475/unksm2", "3.3.4 unknown schemes in headers", (m) => nameAddr(m, "To")?.uri, "isbn:2983792873"],
  [
    "rfc4475/bext01",
    "3.3.5 Require and Proxy-Require",
    (m) => [headerValues(m, "Require"), headerValues(m, "Proxy-Require")],
    [
      ["nothingSupportsThis", "nothingSupportsThisEither"],
      ["noProxiesSupportThis", "norDoAnyProxiesSupportThis"],
    ],
  ],
  ["rfc4475/invut", "3.3.6 unknown Content-Type", (m) => m.body.length, 40],
  [
    "rfc4475/regaut01",
    "3.3.7 unknown authorization scheme",
    (m) => headerValues(m, "Authorization"),
    ["NoOneKnowsThisScheme opaque-data=here"],
  ],
  [
    "rfc4475/bcast",
    "3.3.10 response with a broadcast Via",
    (m) => vias(m).map((via) => via?.host),
    ["192.0.2.198", "255.255.255.255"],
  ],
  ["rfc4475/zeromf", "3.3.11 Max-Forwards of zero", (m) => headerValue(m, "Max-Forwards"), "0"],
  [
    "rfc4475/cparam01",
    "3.3.12 parameter of the Contact, not of its URI",
    (m) => contacts(m),
    [{ uri: "sip:+19725552222@gw1.example.net", params: new Map([["unknownparam", ""]]) }],
  ],
  [
    "rfc4475/cparam02",
    "3.3.13 parameter of the URI",
    (m) => contacts(m),
    [{ uri: "sip:+19725552222@gw1.example.net;unknownparam", params: new Map() }],
  ],
  [
    "rfc4475/regescrt",
    "3.3.14 escaped header in a Contact URI",
    (m) => contacts(m).map((contact) => [...(parseUri(contact?.uri ?? "")?.headers ?? [])]),
    [[["route", "<sip:sip.example.com>"]]],
  ],
  ["rfc4475/sdp01", "3.3.15 unacceptable Accept", (m) => headerValues(m, "Accept"), ["text/nobodyKnowsThis"]],
  [
    "rfc4475/inv2543",
    "3.4.1 INVITE of RFC 2543: no tag, no branch, no Max-Forwards",
    (m) => [
      vias(m)[0]?.branch,
      nameAddr(m, "From")?.params.has("tag"),
      nameAddr(m, "To")?.params.get("user"),
      m.body.length,
    ],
    [undefined, false, "phone", 105],
  ],
  // RFC 5118
  [
    "rfc5118/ipv6-good",
    "4.1 valid IPv6 reference",
    (m) => [target(m)?.host, target(m)?.port, vias(m)[0]?.host, contacts(m)[0]?.uri],
    ["2001:db8::10", undefined, "2001:db8::9:1", "sip:caller@[2001:db8::1]"],
  ],
  [
    "rfc5118/port-ambiguous",
    "4.3 what looks like a port belongs to the address",
    (m) => [target(m)?.host, target(m)?.port],
    ["2001:db8::10:5070", undefined],
  ],
  [
    "rfc5118/port-unambiguous",
    "4.4 port after the reference",
    (m) => [target(m)?.host, target(m)?.port],
    ["2001:db8::10", 5070],
  ],
  [
    "rfc5118/via-received-param-with-delim",
    "4.5 received with brackets",
    (m) => [vias(m)[0]?.received, vias(m)[0]?.branch],
    ["2001:db8::9:255", "z9hG4bKas3-111"],
  ],
  [
    "rfc5118/via-received-param-no-delim",
    "4.5 received without brackets",
    (m) => [vias(m)[0]?.received, vias(m)[0]?.branch],
    ["2001:db8::9:255", "z9hG4bKas3"],
  ],
  [
    "rfc5118/ipv6-in-sdp",
    "4.6 IPv6 in SDP",
    (m) => [media(m), sdpLines(m)[3]],
    [["audio 6000", "video 6024"], "c=IN IP6 2001:db8::20"],
  ],
  [
    "rfc5118/mult-ip-in-header",
    "4.7 both address families in headers",
    (m) => vias(m).map((via) => [via?.host, via?.port, via?.received]),
    [
      ["2001:db8::9:1", 6050, undefined],
      ["192.0.2.1", undefined, undefined],
      ["2001:db8::9:255", undefined, "192.0.2.200"],
    ],
  ],
  [
    "rfc5118/mult-ip-in-sdp",
    "4.8 both address families in SDP",
    (m) => {
      const sdp = parseSdp(new TextDecoder().decode(m.body));
      return sdp.ok && sdp.value.media.map(({ connection }) => connection);
    },
    [
      { family: "IP4", host: "192.0.2.1" },
      { family: "IP6", host: "2001:db8::1" },
    ],
  ],
  [
    "rfc5118/ipv4-mapped-ipv6",
    "4.9 IPv4-mapped addresses",
    (m) => [vias(m).map((via) => [via?.host, via?.port]), parseUri(contacts(m)[0]?.uri ?? "")?.host],
    [
      [
        ["::ffff:192.0.2.10", 19_823],
        ["::ffff:192.0.2.2", undefined],
      ],
      "::ffff:192.0.2.2",
    ],
  ],
  [
    "rfc5118/ipv6-bug-abnf-3-colons",
    "4.10 the extra colon of the old grammar is tolerated",
    (m) => target(m)?.host,
    "2001:db8:::192.0.2.1",
  ],
  [
    "rfc5118/ipv6-correct-abnf-2-colons",
    "4.10 the right form",
    (m) => target(m)?.host,
    "2001:db8::192.0.2.1",
  ],
];

/** `answerable`: with the request, so that it can be answered with the status; else the datagram can only be dropped. */
const refused: readonly (readonly [file: string, status: number, reason: string, answerable: boolean])[] = [
  // RFC 4475 3.1.2: invalid
  ["rfc4475/badinv01", 400, "the topmost Via is malformed", true],
  ["rfc4475/clerr", 400, "the body is shorter than its Content-Length", true],
  ["rfc4475/ncl", 400, "the Content-Length is not a number", true],
  ["rfc4475/scalar02", 400, "the CSeq is malformed", true],
  ["rfc4475/scalarlg", 400, "the CSeq is malformed", false],
  ["rfc4475/quotbal", 400, "the To is malformed", true],
  ["rfc4475/ltgtruri", 400, "the Request-URI is malformed", true],
  ["rfc4475/lwsruri", 400, "the Request-URI is malformed", true],
  ["rfc4475/lwsstart", 400, "the Request-URI is malformed", true],
  ["rfc4475/trws", 400, "white space follows the request line", true],
  ["rfc4475/escruri", 400, "the Request-URI carries headers", true],
  ["rfc4475/baddate", 400, "the Date is not in GMT", true],
  ["rfc4475/regbadct", 400, "the Contact is malformed", true],
  ["rfc4475/badaspec", 400, "the To is malformed", true],
  ["rfc4475/baddn", 400, "the empty line after the headers is missing", true],
  ["rfc4475/baddn.fixed", 400, "the From is malformed", true],
  ["rfc4475/badvers", 505, "the protocol version is not SIP/2.0", true],
  ["rfc4475/mismatch01", 400, "the CSeq names another method", true],
  ["rfc4475/mismatch02", 400, "the CSeq names another method", true],
  ["rfc4475/bigcode", 400, "the status code is not between 100 and 699", false],
  // RFC 4475 3.3: application layer
  ["rfc4475/insuf", 400, "the From is missing", false],
  ["rfc4475/unkscm", 416, "the scheme of the Request-URI is not supported", true],
  ["rfc4475/novelsc", 416, "the scheme of the Request-URI is not supported", true],
  ["rfc4475/multi01", 400, "there is more than one From", true],
  ["rfc4475/mcl01", 400, "there is more than one Content-Length", true],
  // not in the RFC: no version, no Via, a line without a name
  ["rfc4475/test", 400, "the first line is neither a SIP request nor a SIP response", false],
  // RFC 5118 4.2: IPv6 address without brackets
  ["rfc5118/ipv6-bad", 400, "the Request-URI is malformed", true],
];

test("every torture message has its row", () => {
  const rows = [...accepted.map(([file]) => file), ...refused.map(([file]) => file)];
  expect(rows.toSorted()).toEqual([...messages.keys()].toSorted());
});

describe("RFC 4475 and RFC 5118 messages that are well formed", () => {
  test.each(accepted)("%s is read: %s", (file, _what, values, expected) => {
    const result = read(file);
    expect(result).toMatchObject({ ok: true });
    if (result.ok) expect(values(result.message)).toEqual(expected);
  });

  test.each(accepted)("%s stays the same when printed and read again", (file) => {
    const result = read(file);
    expect(result.ok).toBe(true);
    if (result.ok) expect(parseMessage(printMessage(result.message))).toEqual(result);
  });
});

describe("RFC 4475 and RFC 5118 messages that are invalid", () => {
  test.each(refused)("%s is refused with %i: %s", (file, status, reason, answerable) => {
    const result = read(file);
    expect(result).toMatchObject({ ok: false, status, reason });
    expect(!result.ok && result.request !== undefined).toBe(answerable);
    if (!result.ok && result.request !== undefined) {
      for (const name of ["Via", "From", "To", "Call-ID", "CSeq"]) {
        expect(headerValue(result.request, name)).toBeDefined();
      }
    }
  });
});

describe("torture messages with damage", () => {
  const files = [...messages.keys()];
  const damage = fc.record({
    file: fc.constantFrom(...files),
    edits: fc.array(
      fc.record({
        at: fc.double({ min: 0, max: 1, noNaN: true }),
        cut: fc.nat({ max: 20 }),
        put: fc.oneof(
          fc.uint8Array({ maxLength: 12 }),
          fc
            .constantFrom('"', "<", ">", ";", ",", "\r\n", "\r\n ", "\n\n", ":", "%", "@", "[", "\0")
            .map((text) => new TextEncoder().encode(text)),
        ),
      }),
      { minLength: 1, maxLength: 6 },
    ),
  });

  test("never make the parser throw, and what it still reads survives printing", () => {
    fc.assert(
      fc.property(damage, ({ file, edits }) => {
        let bytes = bytesOf(file);
        for (const { at, cut, put } of edits) {
          const start = Math.floor(at * bytes.length);
          bytes = new Uint8Array([...bytes.subarray(0, start), ...put, ...bytes.subarray(start + cut)]);
        }
        const result = parseMessage(bytes);
        if (result.ok) {
          readEverything(result.message);
          expect(parseMessage(printMessage(result.message))).toEqual(result);
        }
      }),
      { numRuns: 2000 },
    );
  });
});

/** Runs every reader over every header. */
function readEverything(message: SipMessage): void {
  for (const { name } of message.headers) {
    for (const value of headerValues(message, name)) {
      parseVia(value);
      parseUri(parseNameAddr(value)?.uri ?? value);
    }
  }
  parseSdp(new TextDecoder().decode(message.body));
}
