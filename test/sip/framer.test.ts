import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createFramer, type Framed } from "../../src/sip/framer.ts";
import type { SipMessage } from "../../src/sip/message.ts";
import { parseMessage } from "../../src/sip/parse.ts";
import { printMessage } from "../../src/sip/print.ts";

const octets = (text: string) => new TextEncoder().encode(text);
const text = (bytes: Uint8Array) => new TextDecoder().decode(bytes);

/** What comes out, messages as text. */
function frame(chunks: readonly Uint8Array[]): readonly string[] {
  const framer = createFramer();
  return chunks.flatMap((chunk) => framer.push(chunk)).map(shown);
}

function shown(framed: Framed): string {
  if (framed.type === "message") return text(framed.bytes);
  return framed.type === "broken" ? `broken: ${framed.reason}` : framed.type;
}

function cut(bytes: Uint8Array, places: readonly number[]): readonly Uint8Array[] {
  const ends = [...new Set(places.map((place) => place % (bytes.length + 1)))].toSorted((a, b) => a - b);
  return [...ends, bytes.length].map((end, i) => bytes.slice(i === 0 ? 0 : ends[i - 1], end));
}

const message = (body: string, method = "MESSAGE"): Uint8Array =>
  printMessage({
    type: "request",
    method,
    uri: "sip:a@b",
    headers: [
      { name: "Via", value: "SIP/2.0/TCP 10.0.0.1;branch=z9hG4bK1" },
      { name: "From", value: "<sip:a@b>;tag=1" },
      { name: "To", value: "<sip:c@d>" },
      { name: "Call-ID", value: "1" },
      { name: "CSeq", value: `1 ${method}` },
    ],
    body: octets(body),
  } satisfies SipMessage);

const anyMessage = fc
  .string({ unit: "binary", maxLength: 300 })
  .map((body) => message(body))
  .map((bytes) => ({ bytes, shown: text(bytes) }));
const lineEnd = fc.constant({ bytes: octets("\r\n"), shown: "line-end" });

describe("a stream of messages", () => {
  it("comes out the same however it is chopped", () => {
    fc.assert(
      fc.property(
        fc.array(fc.oneof(anyMessage, lineEnd), { maxLength: 8 }),
        fc.array(fc.nat(), { maxLength: 40 }),
        (parts, places) => {
          const stream = Buffer.concat(parts.map(({ bytes }) => bytes));
          const expected = parts.map((part) => part.shown);
          expect(frame(cut(stream, places))).toEqual(expected);
          expect(frame(Array.from(stream, (octet) => Uint8Array.of(octet)))).toEqual(expected);
        },
      ),
      { numRuns: 60 },
    );
  });

  it("holds messages that can be read, and copies of them", () => {
    const framer = createFramer();
    const chunk = message("hello");
    const [framed] = framer.push(chunk);
    chunk.fill(0);
    if (framed?.type !== "message") throw new Error("no message came");
    const result = parseMessage(framed.bytes);
    expect(result.ok && text(result.message.body)).toBe("hello");
  });

  it("may have bare line feeds, compact names, folded lengths and no Content-Length at all", () => {
    const ack = "ACK sip:a@b SIP/2.0\nv: SIP/2.0/TCP x\n\n";
    const compact = "SIP/2.0 200 OK\r\nl:\r\n 5\r\n\r\nhello";
    expect(frame([octets(ack + compact)])).toEqual([ack, compact]);
  });

  it("never makes anything throw, and never keeps more than a message", () => {
    fc.assert(
      fc.property(fc.array(fc.uint8Array({ maxLength: 3_000 }), { maxLength: 30 }), (chunks) => {
        const framer = createFramer();
        for (const chunk of chunks) {
          framer.push(chunk);
          expect(framer.pendingBytes).toBeLessThanOrEqual(65_536);
        }
      }),
    );
  });
});

describe("a stream that is none", () => {
  it.each([
    ["another protocol", "GET / HTTP/1.1\r\nHost: a\r\n\r\n", "the start line is not SIP"],
    ["TLS", "\x16\x03\x01\x02\n", "the start line is not SIP"],
    ["a carriage return alone", "\rINVITE", "a line begins with a carriage return"],
    ["an endless start line", "x".repeat(9_000), "the start line is too long"],
    ["a long start line", `${"x".repeat(9_000)} SIP/2.0\r\n`, "the start line is too long"],
    ["an endless head", `INVITE sip:a SIP/2.0\r\n${"X: y\r\n".repeat(12_000)}`, "the message is too large"],
    ["a body too large", "INVITE sip:a SIP/2.0\r\nContent-Length: 65536\r\n\r\n", "the message is too large"],
    ["a length that is none", "INVITE sip:a SIP/2.0\r\nl: -1\r\n\r\n", "the Content-Length is not a number"],
    [
      "two lengths",
      "INVITE sip:a SIP/2.0\r\nl: 1\r\nContent-Length: 2\r\n\r\n",
      "there is more than one Content-Length",
    ],
  ])("%s is broken off", (_name, stream, reason) => {
    expect(frame([octets(stream)])).toEqual([`broken: ${reason}`]);
    expect(frame(Array.from(octets(stream), (octet) => Uint8Array.of(octet)))).toEqual([`broken: ${reason}`]);
  });

  it("brings nothing more after it broke", () => {
    const framer = createFramer();
    framer.push(octets("nonsense\r\n"));
    expect(framer.push(message("hello"))).toEqual([]);
    expect(framer.pendingBytes).toBe(0);
  });

  it("is read in linear time", () => {
    const head = octets(`INVITE sip:a SIP/2.0\r\n${"X: y\r\n".repeat(10_000)}`);
    const framer = createFramer();
    let framed = 0;
    for (const octet of head) framed += framer.push(Uint8Array.of(octet)).length;
    expect(framed).toBe(0);
  });
});
