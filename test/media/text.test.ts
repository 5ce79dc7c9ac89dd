import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { createRtpHeader, readRtp, rtpHeaderBytes, writeRtpHeader } from "../../src/media/rtp.ts";
import { TextReceiver } from "../../src/media/text-receiver.ts";
import { TextSender, type TextFormat } from "../../src/media/text-sender.ts";
import { fromT140, toT140 } from "../../src/media/text.ts";

const red: TextFormat = { payloadType: 98, redPayloadType: 99 };
const plain: TextFormat = { payloadType: 98 };

interface Packet {
  readonly at: number;
  readonly octets: Uint8Array;
}

/** The packets of a sender that types each text at its time, in ms. */
function packetsOf(
  format: TextFormat,
  typing: readonly { at: number; text: string }[],
  untilMs: number,
): Packet[] {
  const sender = new TextSender(format, 2 ** 32 - 500);
  const waiting = [...typing];
  const packets: Packet[] = [];
  for (let now = 0; now <= untilMs; now += 20) {
    while (waiting[0] !== undefined && waiting[0].at <= now) sender.type(waiting.shift()!.text);
    if (!sender.next(now)) continue;
    const octets = new Uint8Array(rtpHeaderBytes + sender.length);
    const sequence = (65_534 + packets.length) & 0xffff;
    const { marker, payloadType, timestamp } = sender;
    writeRtpHeader(octets, { payloadType, marker, sequence, timestamp, ssrc: 7, offset: 0, length: 0 });
    octets.set(sender.payload.subarray(0, sender.length), rtpHeaderBytes);
    packets.push({ at: now, octets });
  }
  return packets;
}

function read(format: TextFormat, packets: readonly Packet[]): string {
  const receiver = new TextReceiver(format);
  const header = createRtpHeader();
  return packets
    .map(({ octets }) => (readRtp(octets, header) && receiver.receive(octets, header)) || "")
    .join("");
}

describe("real-time text", () => {
  test("text comes through, with a byte order mark first that the reader does not see", () => {
    const packets = packetsOf(red, [{ at: 0, text: "¿Hablo con Ana? 😀" }], 2000);
    expect(new TextDecoder("utf-8", { ignoreBOM: true }).decode(packets[0]!.octets.subarray(13))).toMatch(
      /^\ufeff?¿/u,
    );
    expect(read(red, packets)).toBe("¿Hablo con Ana? 😀");
  });

  test("what is typed within 300 ms goes together, and after the last text come two repetitions", () => {
    const typing = Array.from("hello").map((text, i) => ({ at: i * 100, text }));
    const packets = packetsOf(red, typing, 5000);
    expect(packets.map(({ at }) => at)).toEqual([0, 300, 600, 900, 1200].slice(0, packets.length));
    expect(packets).toHaveLength(5);
    expect(read(red, packets)).toBe("hello");
  });

  test("the marker is set on the first packet and on the first after a pause", () => {
    const packets = packetsOf(
      red,
      [
        { at: 0, text: "a" },
        { at: 3000, text: "b" },
      ],
      5000,
    );
    expect(packets.map(({ octets }) => octets[1]! >> 7)).toEqual([1, 0, 0, 1, 0, 0]);
  });

  test("the octets of a packet with two repetitions are those of RFC 4103 and RFC 2198", () => {
    const packets = packetsOf(
      red,
      [
        { at: 0, text: "A" },
        { at: 300, text: "BC" },
        { at: 600, text: "D" },
      ],
      600,
    );
    expect([...packets[2]!.octets.subarray(rtpHeaderBytes)]).toEqual(
      [
        [0x80 | 98, 600 >> 6, (600 & 63) << 2, 4], // byte order mark and A
        [0x80 | 98, 300 >> 6, (300 & 63) << 2, 2],
        [98, 0xef, 0xbb, 0xbf, 0x41, 0x42, 0x43, 0x44],
      ].flat(),
    );
  });

  test("up to two packets lost in a row cost nothing; more leave one mark", () => {
    const typing = Array.from({ length: 12 }, (_, i) => ({ at: i * 300, text: String.fromCharCode(97 + i) }));
    const packets = packetsOf(red, typing, 8000);
    const without = (...lost: number[]) =>
      read(
        red,
        packets.filter((_, i) => !lost.includes(i)),
      );
    expect(without(3, 4)).toBe("abcdefghijkl");
    expect(without(0, 1)).toBe("abcdefghijkl");
    expect(without(11, 12)).toBe("abcdefghijkl");
    expect(without(3, 4, 5)).toBe("abc\u{fffd}efghijkl");
  });

  test("without redundancy each gap leaves one mark", () => {
    const typing = Array.from({ length: 6 }, (_, i) => ({ at: i * 300, text: String(i) }));
    const packets = packetsOf(plain, typing, 4000);
    expect(read(plain, packets)).toBe("012345");
    expect(
      read(
        plain,
        packets.filter((_, i) => i !== 2 && i !== 3),
      ),
    ).toBe("01\u{fffd}45");
  });

  test("with any loss and repetition the reader gets the text in order, with marks only where it was lost", () => {
    const text = fc
      .string({ unit: "grapheme", minLength: 1, maxLength: 4 })
      .map((s) => s.replaceAll(/[\p{Cc}\p{Zl}\p{Zp}\u{feff}\u{fffd}]/gu, "x"));
    fc.assert(
      fc.property(
        fc.array(text, { minLength: 3, maxLength: 20 }),
        fc.infiniteStream(fc.nat({ max: 5 })),
        (texts, fate) => {
          const packets = packetsOf(
            red,
            texts.map((each, i) => ({ at: i * 300, text: each })),
            texts.length * 300 + 2000,
          );
          const arrived = packets.flatMap((packet) => {
            const chance = fate.next().value;
            return chance === 0 ? [] : chance === 1 ? [packet, packet] : [packet];
          });
          const pieces = read(red, arrived).split("\u{fffd}");
          let rest = texts.join("");
          for (const piece of pieces) {
            const at = rest.indexOf(piece);
            expect(at).toBeGreaterThanOrEqual(0);
            rest = rest.slice(at + piece.length);
          }
          const longestGap = longestRun(packets.map((packet) => !arrived.includes(packet)));
          if (longestGap <= 2 && arrived.includes(packets.at(-1)!)) expect(pieces).toEqual([texts.join("")]);
        },
      ),
      { numRuns: 300 },
    );
  });

  test("a long text is sent at a pace a reader's device must keep up with", () => {
    const packets = packetsOf(red, [{ at: 0, text: "x".repeat(900) }], 60_000);
    const lastText = packets.at(-3)!.at;
    expect(read(red, packets)).toBe("x".repeat(900));
    expect(lastText).toBeGreaterThan(19_000);
    expect(lastText).toBeLessThan(21_000);
  });

  test("a packet that comes late after it was recovered changes nothing, another source begins anew", () => {
    const packets = packetsOf(
      red,
      Array.from("abc").map((text, i) => ({ at: i * 300, text })),
      3000,
    );
    const [first, second, third] = packets;
    expect(read(red, [first!, third!, second!])).toBe("abc");
    const other = { at: 0, octets: first!.octets.slice() };
    other.octets[8] = 99;
    expect(read(red, [...packets, other])).toBe("abca");
  });

  test("any payload at all is read without harm", () => {
    const receiver = new TextReceiver(red);
    fc.assert(
      fc.property(
        fc.uint8Array({ maxLength: 60 }),
        fc.integer({ min: 97, max: 99 }),
        fc.nat({ max: 65_535 }),
        (octets, payloadType, sequence) => {
          const header = {
            payloadType,
            marker: false,
            sequence,
            timestamp: 0,
            ssrc: 1,
            offset: 0,
            length: octets.length,
          };
          const text = receiver.receive(octets, header);
          expect(text === undefined || !text.includes("\u{feff}")).toBe(true);
        },
      ),
      { numRuns: 1000 },
    );
  });

  test("new lines, backspaces and control codes are those of T.140", () => {
    expect(toT140("a\r\nb\nc\u0007\b")).toBe("a\u2028b\u2028c\b");
    expect(fromT140("\ufeffa\u2028b\r\nc\u0007\b\u001b[31mred\u009b0m\u0098secret\u009c!")).toBe(
      "a\nb\nc\bred!",
    );
  });
});

function longestRun(flags: readonly boolean[]): number {
  let longest = 0;
  let run = 0;
  for (const flag of flags) {
    run = flag ? run + 1 : 0;
    longest = Math.max(longest, run);
  }
  return longest;
}
