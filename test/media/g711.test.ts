import { describe, expect, test } from "vitest";
import { decodeG711, encodeG711 } from "../../src/media/g711.ts";

describe("G.711", () => {
  test.each(["PCMU", "PCMA"] as const)(
    "%s encodes every 16-bit sample as the decision values of the standard say",
    (codec) => {
      const all = Int16Array.from({ length: 65_536 }, (_, i) => i - 32_768);
      const octets = new Uint8Array(65_536);
      encodeG711(codec, all, octets);
      const reference = codec === "PCMU" ? muByDecisionValues : aByDecisionValues;
      const wrong = all.filter((sample, i) => octets[i] !== reference(sample));
      expect(wrong).toHaveLength(0);
    },
  );

  test.each(["PCMU", "PCMA"] as const)("%s decodes every octet to the middle of its interval", (codec) => {
    const octets = Uint8Array.from({ length: 256 }, (_, i) => i);
    const pcm = new Int16Array(256);
    decodeG711(codec, octets, pcm);
    const expected = Array.from(octets, codec === "PCMU" ? muOutput : aOutput);
    expect(Array.from(pcm)).toEqual(expected);
  });

  test.each([
    // ITU-T G.711 tables: largest, smallest and the first values of segments.
    ["PCMU", 0x80, 32_124],
    ["PCMU", 0x00, -32_124],
    ["PCMU", 0xff, 0],
    ["PCMU", 0xfe, 8],
    ["PCMU", 0xef, 132],
    ["PCMA", 0xaa, 32_256],
    ["PCMA", 0x2a, -32_256],
    ["PCMA", 0xd5, 8],
    ["PCMA", 0x55, -8],
  ] as const)("%s octet %i is %i", (codec, octet, sample) => {
    const pcm = new Int16Array(1);
    decodeG711(codec, Uint8Array.of(octet), pcm);
    expect(pcm[0]).toBe(sample);
  });

  test.each(["PCMU", "PCMA"] as const)("%s encodes what it decoded to the same octet", (codec) => {
    const octets = Uint8Array.from({ length: 256 }, (_, i) => i);
    const pcm = new Int16Array(256);
    decodeG711(codec, octets, pcm);
    const again = new Uint8Array(256);
    encodeG711(codec, pcm, again);
    if (codec === "PCMU") octets[0x7f] = 0xff; // both are zero, and zero is positive
    expect(again).toEqual(octets);
  });

  test("only as many octets are decoded as the run and the room allow", () => {
    const pcm = new Int16Array(4).fill(99);
    expect(decodeG711("PCMA", new Uint8Array(10), pcm, { offset: 8, length: 8 })).toBe(2);
    expect(decodeG711("PCMA", new Uint8Array(10), pcm, { offset: 0, length: 10 })).toBe(4);
    expect(decodeG711("PCMA", new Uint8Array(10), pcm, { offset: 20, length: 4 })).toBe(0);
  });
});

/** Table 2a of G.711: 14-bit magnitudes; segment s begins at 2^(s+5) − 33. */
function muByDecisionValues(sample: number): number {
  const magnitude = Math.min(8158, sample < 0 ? -(Math.floor(sample / 4) + 1) : Math.floor(sample / 4));
  let segment = 7;
  while (magnitude < 2 ** (segment + 5) - 33) segment--;
  const step = 2 ** (segment + 1);
  const interval = Math.floor((magnitude - (2 ** (segment + 5) - 33)) / step);
  return (255 - (segment * 16 + interval)) & (sample < 0 ? 0x7f : 0xff);
}

/** Table 1a of G.711: 13-bit magnitudes; the first two segments share one step. */
function aByDecisionValues(sample: number): number {
  const magnitude = sample < 0 ? -(Math.floor(sample / 16) + 1) : Math.floor(sample / 16);
  let segment = 7;
  while (segment > 0 && magnitude < 2 ** (segment + 3)) segment--;
  const base = segment === 0 ? 0 : 2 ** (segment + 3);
  const step = 2 ** Math.max(0, segment - 1);
  const code = segment * 16 + Math.floor((magnitude - base) / step);
  return (sample < 0 ? code : code + 128) ^ 0x55;
}

function muOutput(octet: number): number {
  const code = ~octet & 0x7f;
  const segment = code >> 4;
  const magnitude = 2 ** segment * (2 * (code & 15) + 33) - 33;
  return octet < 128 ? 0 - 4 * magnitude : 4 * magnitude;
}

function aOutput(octet: number): number {
  const code = (octet ^ 0x55) & 0x7f;
  const segment = code >> 4;
  const base = segment === 0 ? 0 : 2 ** (segment + 3);
  const step = 2 ** Math.max(0, segment - 1);
  const magnitude = 16 * (base + step * (code & 15)) + 8 * step;
  return octet < 128 ? -magnitude : magnitude;
}
