import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { headerValue, headerValues } from "../../src/sip/header.ts";
import type { SipMessage } from "../../src/sip/message.ts";
import { parseMessage } from "../../src/sip/parse.ts";
import { printMessage } from "../../src/sip/print.ts";

const encode = (text: string): Uint8Array => new TextEncoder().encode(text);
const crlf = (lines: readonly string[], body = ""): Uint8Array =>
  encode(`${lines.join("\r\n")}\r\n\r\n${body}`);

const needed = [
  "Via: SIP/2.0/UDP 192.0.2.1:5060;branch=z9hG4bKa1",
  "From: <sip:alice@example.com>;tag=1",
  "To: <sip:bob@example.com>",
  "Call-ID: c1@192.0.2.1",
  "CSeq: 7 INVITE",
];
const invite = (more: readonly string[] = [], body = "") =>
  crlf(["INVITE sip:bob@example.com SIP/2.0", ...needed, ...more], body);

function mustRead(bytes: Uint8Array): SipMessage {
  const result = parseMessage(bytes);
  if (!result.ok) throw new Error(result.reason);
  return result.message;
}

describe("a request", () => {
  test("is read into method, Request-URI, headers and body", () => {
    const message = mustRead(invite(["Content-Type: text/plain", "Content-Length: 5"], "hello"));
    expect(message).toEqual({
      type: "request",
      method: "INVITE",
      uri: "sip:bob@example.com",
      headers: [
        { name: "Via", value: "SIP/2.0/UDP 192.0.2.1:5060;branch=z9hG4bKa1" },
        { name: "From", value: "<sip:alice@example.com>;tag=1" },
        { name: "To", value: "<sip:bob@example.com>" },
        { name: "Call-ID", value: "c1@192.0.2.1" },
        { name: "CSeq", value: "7 INVITE" },
        { name: "Content-Type", value: "text/plain" },
      ],
      body: encode("hello"),
    });
  });

  test("may have a tel Request-URI", () => {
    const message = mustRead(crlf(["INVITE tel:+34600111222 SIP/2.0", ...needed]));
    expect(message.type === "request" && message.uri).toBe("tel:+34600111222");
  });

  test("may have the protocol in small letters", () => {
    expect(parseMessage(crlf(["INVITE sip:bob@example.com sip/2.0", ...needed])).ok).toBe(true);
  });
});

describe("a response", () => {
  test("is read into status, reason, headers and body", () => {
    const message = mustRead(crlf(["SIP/2.0 486 Busy Here", ...needed]));
    expect(message).toMatchObject({ type: "response", status: 486, reason: "Busy Here" });
  });

  test.each(["SIP/2.0 200", "SIP/2.0 200 ", "sip/2.0 200   "])("may lack its reason: %j", (line) => {
    expect(mustRead(crlf([line, ...needed]))).toMatchObject({ status: 200, reason: "" });
  });

  test.each([
    "SIP/2.0 99 Low",
    "SIP/2.0 099 Low",
    "SIP/2.0 700 High",
    "SIP/2.0 2000 Long",
    "SIP/2.0 20x Odd",
    "SIP/2.0  200 OK",
    "SIP/2.0",
    "SIP/3.0 200 OK",
    "SIP/2.00 200 OK",
  ])("is refused, without an answer, for the status line %j", (line) => {
    const result = parseMessage(crlf([line, ...needed]));
    expect(result.ok).toBe(false);
    expect(result).not.toHaveProperty("request");
  });

  test("is taken with a Contact that cannot be read: the status counts", () => {
    expect(parseMessage(crlf(["SIP/2.0 486 Busy", ...needed, "Contact: sip:a?b"])).ok).toBe(true);
  });
});

describe("header lines", () => {
  test("in compact form get their long name, those of unknown headers stay", () => {
    const message = mustRead(
      invite([
        "m: <sip:a@b>",
        "K: timer",
        "x: 1800",
        "x-Own: 1",
        "SESSION-EXPIRES: 1",
        "o: e",
        "allow-EVENTS: e",
      ]),
    );
    expect(message.headers.slice(5).map(({ name }) => name)).toEqual([
      "Contact",
      "Supported",
      "Session-Expires",
      "x-Own",
      "Session-Expires",
      "Event",
      "Allow-Events",
    ]);
  });

  test("are unfolded to one space, ends trimmed", () => {
    const message = mustRead(invite(["Subject:  one\r\n \t two\r\n\tthree \t", "Server:\r\n x"]));
    expect(headerValue(message, "Subject")).toBe("one two three");
    expect(headerValue(message, "Server")).toBe("x");
  });

  test("may end in LF alone", () => {
    const text = new TextDecoder().decode(invite(["Subject: a\r\n b", "Content-Length: 2"], "hi"));
    const message = mustRead(encode(text.replaceAll("\r\n", "\n")));
    expect(headerValue(message, "Subject")).toBe("a b");
    expect(message.body).toEqual(encode("hi"));
  });

  test("may have white space before the colon and none behind it", () => {
    expect(headerValue(mustRead(invite(["Subject \t:x"])), "Subject")).toBe("x");
  });

  test("are UTF-8, a byte order mark included", () => {
    expect(headerValue(mustRead(invite(["Subject: \ufeffñandú 中"])), "Subject")).toBe("\ufeffñandú 中");
  });

  test.each([
    ["no colon", "Subject x"],
    ["no name", ": x"],
    ["a name with a space inside", "Sub ject: x"],
    ["a stray carriage return", "Subject: a\rb"],
  ])("with %s are refused with 400", (_what, line) => {
    expect(parseMessage(invite([line]))).toMatchObject({
      ok: false,
      status: 400,
      request: { method: "INVITE" },
    });
  });

  test("before the start line may be empty", () => {
    expect(parseMessage(new Uint8Array([13, 10, 13, 10, ...invite()])).ok).toBe(true);
  });

  test("with a folded start line are refused", () => {
    expect(parseMessage(crlf(["INVITE sip:bob@example.com\r\n SIP/2.0", ...needed])).ok).toBe(false);
  });
});

describe("the body", () => {
  test("runs to the end of the datagram without Content-Length", () => {
    expect(mustRead(invite([], "abc")).body).toEqual(encode("abc"));
  });

  test("is cut to Content-Length, in octets", () => {
    expect(mustRead(invite(["l: 3"], "ñabc")).body).toEqual(encode("ña"));
  });

  test("is a copy: the datagram's buffer may be used again", () => {
    const bytes = invite(["l: 2"], "ab");
    const message = mustRead(bytes);
    bytes.fill(0);
    expect(message.body).toEqual(encode("ab"));
  });

  test("of a Buffer comes as plain octets", () => {
    const message = mustRead(Buffer.from(invite(["l: 2"], "ab")));
    expect(Object.getPrototypeOf(message.body)).toBe(Uint8Array.prototype);
  });

  test.each(["-1", "1.5", "0x1", "", "4", "99999999999999999999", "1, 1"])(
    "with Content-Length %j and three octets is refused with 400",
    (length) => {
      expect(parseMessage(invite([`Content-Length: ${length}`], "abc"))).toMatchObject({
        ok: false,
        status: 400,
      });
    },
  );
});

describe("headers every transaction needs", () => {
  test.each(needed)("%s: without it a request is refused and cannot be answered", (line) => {
    const result = parseMessage(
      crlf(["INVITE sip:bob@example.com SIP/2.0", ...needed.filter((l) => l !== line)]),
    );
    expect(result).toMatchObject({ ok: false, status: 400 });
    expect(result).not.toHaveProperty("request");
  });

  test.each(needed)("%s: without it a response is refused", (line) => {
    expect(parseMessage(crlf(["SIP/2.0 200 OK", ...needed.filter((l) => l !== line)])).ok).toBe(false);
  });

  test.each([
    "From: <sip:x@y>",
    "To: <sip:x@y>",
    "Call-ID: 2",
    "CSeq: 8 INVITE",
    "Max-Forwards: 1\r\nMax-Forwards: 1",
  ])("%s: a second one is refused", (line) => {
    expect(parseMessage(invite([line]))).toMatchObject({ ok: false, status: 400 });
  });

  test.each(["256", "-1", "x", "", "70, 70"])("Max-Forwards %j is refused", (value) => {
    expect(parseMessage(invite([`Max-Forwards: ${value}`]))).toMatchObject({ ok: false, status: 400 });
  });

  test("a Contact of * is accepted", () => {
    expect(parseMessage(invite(["Contact: *"])).ok).toBe(true);
  });

  test("only the topmost Via must be readable", () => {
    expect(parseMessage(invite(["Via: who knows"])).ok).toBe(true);
    expect(headerValues(mustRead(invite(["Via: a, b"])), "Via")).toHaveLength(3);
  });
});

describe("limits", () => {
  test("a message above 64 KiB is refused", () => {
    expect(parseMessage(new Uint8Array(65_537))).toMatchObject({ ok: false, status: 513 });
  });

  test("a value of 8 KiB is read, a longer one refused with 513, answerable when it comes last", () => {
    expect(parseMessage(invite([`Subject: ${"x".repeat(8192)}`])).ok).toBe(true);
    expect(parseMessage(invite([`Subject: ${"x".repeat(8193)}`]))).toMatchObject({
      ok: false,
      status: 513,
      request: { method: "INVITE" },
    });
  });

  test("a start line beyond 8 KiB is refused with 513", () => {
    const line = `INVITE sip:${"b".repeat(8200)}@example.com SIP/2.0`;
    expect(parseMessage(crlf([line, ...needed]))).toMatchObject({ ok: false });
  });

  test("200 headers are read, the 201st refused with 513", () => {
    const more = Array.from({ length: 195 }, (_, i) => `X-${i}: ${i}`);
    expect(mustRead(invite(more)).headers).toHaveLength(200);
    expect(parseMessage(invite([...more, "X: y"]))).toMatchObject({ ok: false, status: 513 });
  });
});

test.each([
  "",
  "\r\n",
  "\r\n\r\n",
  "\0",
  "hello",
  "GET / HTTP/1.1\r\n\r\n",
  "\0\x01\0\0!\x12\xa4B",
  "INVITE",
])("%j is no message and gets no answer", (text) => {
  const result = parseMessage(encode(text));
  expect(result.ok).toBe(false);
  expect(result).not.toHaveProperty("request");
});

describe("whatever comes", () => {
  const pieces = fc.constantFrom(
    "INVITE ",
    "sip:a@b",
    " SIP/2.0",
    "SIP/2.0 200 OK",
    "\r\n",
    "\n",
    "\r",
    " ",
    "\t",
    ":",
    ";",
    ",",
    "<",
    ">",
    '"',
    "Via: SIP/2.0/UDP h;branch=z9hG4bK1",
    "From: <sip:a@b>",
    "To: <sip:a@b>",
    "Call-ID: x",
    "CSeq: 1 INVITE",
    "Content-Length: 0",
    "Content-Length: 5",
    "v:",
    "\r\n\r\n",
    "\\",
    "%",
    "é",
    "\0",
    "x",
  );
  const sipLike = fc.array(pieces, { maxLength: 60 }).map((parts) => encode(parts.join("")));

  test("any octets: no exception", () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 600 }), (bytes) => {
        expect(() => parseMessage(bytes)).not.toThrow();
      }),
      { numRuns: 1000 },
    );
  });

  test("octets that look like SIP: no exception, and what is read survives printing", () => {
    fc.assert(
      fc.property(sipLike, (bytes) => {
        const result = parseMessage(bytes);
        if (result.ok) {
          expect(parseMessage(printMessage(result.message))).toEqual(result);
        }
      }),
      { numRuns: 2000 },
    );
  });

  test("valid headers around anything: what is read survives printing", () => {
    const anything = fc.uint8Array({ maxLength: 80 });
    fc.assert(
      fc.property(anything, anything, (value, body) => {
        const head = crlf(["INVITE sip:bob@example.com SIP/2.0", ...needed, "Subject: "]).subarray(0, -4);
        const result = parseMessage(new Uint8Array([...head, ...value, 13, 10, 13, 10, ...body]));
        if (result.ok) {
          expect(parseMessage(printMessage(result.message))).toEqual(result);
        }
      }),
      { numRuns: 1000 },
    );
  });
});

test("full datagrams built to hurt are read, and their times printed", () => {
  const full = 65_507;
  const fill = (start: string, unit: string) =>
    encode(`${start}${unit.repeat((full - 4 - start.length) / unit.length)}\r\n\r\n`);
  const start = `INVITE sip:bob@example.com SIP/2.0\r\n${needed.join("\r\n")}\r\n`;
  const hard: readonly (readonly [string, Uint8Array])[] = [
    ["folded line without end", fill(`${start}Subject:`, "\r\n ")],
    ["many folded lines", fill(start, `S:${"\n x".repeat(2500)}\n`)],
    ["headers without end", fill(start, "a:b\r\n")],
    ["lengths without end", fill(start, "l:0\r\n")],
    ["one long line", fill(start, "x")],
    ["commas in Contact", fill(start, `m:${",".repeat(8000)}\r\n`)],
    ["quotes in Contact", fill(start, `m:${'"\\'.repeat(4000)}\r\n`)],
    ["brackets in Contact", fill(start, `m:${"<,".repeat(4000)}\r\n`)],
    ["contacts in Contact", fill(start, `m:${"<a:b>,".repeat(1300)}\r\n`)],
    ["parameters in Via", fill("OPTIONS sip:a SIP/2.0\r\n", `v:SIP/2.0/UDP h${";a=b".repeat(1900)}\r\n`)],
    ["a long Request-URI", fill("OPTIONS sip:", "%41")],
    ["spaces", fill("OPTIONS sip:a SIP/2.0", " ")],
    ["line feeds", fill("", "\n")],
    ["lines without a name", fill(start, "x\n")],
    ["noise", Uint8Array.from({ length: full }, (_, i) => (i * 7919) % 251)],
    ["a full body", fill(`${start}\r\n`, "a")],
  ];
  const times = hard.map(([name, bytes]) => {
    parseMessage(bytes);
    const from = performance.now();
    for (let i = 0; i < 5; i++) parseMessage(bytes);
    return `${((performance.now() - from) / 5).toFixed(2)} ms ${name}`;
  });
  process.stdout.write(`parseMessage, ${full} octets:\n  ${times.join("\n  ")}\n`);
  expect(times).toHaveLength(hard.length);
});
