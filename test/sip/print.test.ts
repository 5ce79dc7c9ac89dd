import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { SipHeader, SipMessage } from "../../src/sip/message.ts";
import { parseMessage } from "../../src/sip/parse.ts";
import { printMessage } from "../../src/sip/print.ts";

const needed: readonly SipHeader[] = [
  { name: "Via", value: "SIP/2.0/UDP 192.0.2.1;branch=z9hG4bK1" },
  { name: "From", value: "<sip:alice@example.com>;tag=1" },
  { name: "To", value: "<sip:bob@example.com>" },
  { name: "Call-ID", value: "c1" },
  { name: "CSeq", value: "7 INVITE" },
];
const request = (more: readonly SipHeader[] = [], body = new Uint8Array(0)): SipMessage => ({
  type: "request",
  method: "INVITE",
  uri: "sip:bob@example.com",
  headers: [...needed, ...more],
  body,
});
const textOf = (message: SipMessage): string => new TextDecoder().decode(printMessage(message));

describe("printMessage", () => {
  test("writes a request line, headers in order, Content-Length and body", () => {
    const message = request([{ name: "Subject", value: "ñ" }], new TextEncoder().encode("ñandú"));
    expect(textOf(message)).toBe(
      [
        "INVITE sip:bob@example.com SIP/2.0",
        "Via: SIP/2.0/UDP 192.0.2.1;branch=z9hG4bK1",
        "From: <sip:alice@example.com>;tag=1",
        "To: <sip:bob@example.com>",
        "Call-ID: c1",
        "CSeq: 7 INVITE",
        "Subject: ñ",
        "Content-Length: 7",
        "",
        "ñandú",
      ].join("\r\n"),
    );
  });

  test("writes a status line, the space before an empty reason included", () => {
    expect(
      textOf({ type: "response", status: 180, reason: "", headers: needed, body: new Uint8Array(0) }),
    ).toMatch(/^SIP\/2\.0 180 \r\nVia: /);
  });

  test("replaces a Content-Length among the headers", () => {
    const text = textOf(request([{ name: "content-length", value: "999" }]));
    expect(text.match(/content-length/gi)).toEqual(["Content-Length"]);
    expect(text).toContain("Content-Length: 0\r\n");
  });

  test("keeps binary bodies octet by octet", () => {
    const body = Uint8Array.from({ length: 256 }, (_, i) => i);
    const result = parseMessage(printMessage(request([], body)));
    expect(result).toMatchObject({ ok: true, message: { body } });
  });

  test("lets no line break out of a value", () => {
    const text = textOf(request([{ name: "Subject", value: "a\r\nEvil: 1\n\r\n\r\nBYE sip:x SIP/2.0" }]));
    expect(text.split("\r\n").filter((line) => line.startsWith("Evil") || line.startsWith("BYE"))).toEqual(
      [],
    );
    expect(text.split("\r\n\r\n")).toHaveLength(2);
  });
});

test("parse undoes print for any message", () => {
  const token = fc.stringMatching(/^[A-Za-z0-9.!%*_+`'~-]{1,12}$/);
  // header text as the parser gives it: no line breaks, no white space at the ends, no lone surrogates
  const value = fc.string({ unit: "binary", maxLength: 60 }).map((text) =>
    text
      .replaceAll(/[\r\n]/g, " ")
      .replace(/^[ \t]+/, "")
      .replace(/[ \t]+$/, ""),
  );
  const header = fc.record({ name: token.map((name) => `X-${name}`), value });
  const body = fc.uint8Array({ maxLength: 60 });
  const headers = fc.array(header, { maxLength: 20 }).map((more) => [...needed, ...more]);
  const uri = fc.constantFrom(
    "sip:bob@example.com",
    "sips:[2001:db8::1]:5061;lr",
    "tel:+34600111222",
    "sip:h",
  );
  const requests = fc.record({
    type: fc.constant("request" as const),
    method: fc.constant("INVITE"),
    uri,
    headers,
    body,
  });
  const responses = fc.record({
    type: fc.constant("response" as const),
    status: fc.integer({ min: 100, max: 699 }),
    reason: value,
    headers,
    body,
  });
  fc.assert(
    fc.property(fc.oneof(requests, responses), (message: SipMessage) => {
      expect(parseMessage(printMessage(message))).toEqual({ ok: true, message });
    }),
    { numRuns: 1000 },
  );
});
