import { createHash } from "node:crypto";
import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { AudioDecoder, AudioEncoder } from "../../src/media/codec.ts";
import { G722Decoder, G722Encoder } from "../../src/media/g722.ts";
import { joined, shareAt } from "./signals.ts";

/** 16 kHz of saws and noise, made of whole numbers only: the reference depends on no library's sine. */
function sawsAndNoise(): Int16Array {
  let seed = 1;
  return Int16Array.from({ length: 16_000 }, (_, i) => {
    seed = (Math.imul(seed, 1_103_515_245) + 12_345) >>> 0;
    const noise = (seed >>> 16) - 32_768;
    const period = 8 + (i >> 9);
    const saw = Math.trunc(((i % period) * 20_000) / period) - 10_000;
    return i < 8000 ? saw : (noise >> 3) + (saw >> 1);
  });
}

function tone(hz: number, rateHz: number, samples: number, amplitude = 10_000): Int16Array {
  return Int16Array.from({ length: samples }, (_, i) =>
    Math.round(amplitude * Math.sin((2 * Math.PI * hz * i) / rateHz)),
  );
}

function throughCodec(pcm: Int16Array): Int16Array {
  const octets = new Uint8Array(pcm.length / 2);
  new G722Encoder().encode(pcm, octets);
  const heard = new Int16Array(pcm.length);
  expect(new G722Decoder().decode(octets, heard)).toBe(pcm.length);
  return heard;
}

const sha256 = (bytes: Uint8Array): string => createHash("sha256").update(bytes).digest("hex");

describe("G.722 at 64 kbit/s", () => {
  // made once with libspandsp 0.0.6
  test("codes and decodes bit by bit as another implementation does", () => {
    const octets = new Uint8Array(8000);
    expect(new G722Encoder().encode(sawsAndNoise(), octets)).toBe(8000);
    expect(Buffer.from(octets.subarray(0, 32)).toString("hex")).toBe(
      "2e8420852184059b2d9e0d9c2e9e0e9c2e9e0f9c2f9f4fdc2f9f4fdd6f9f505d",
    );
    expect(sha256(octets)).toBe("1f406834dad9d47284658516648abfa0a6a1e4918c7d4691ea80bb7331d6d0fc");
    const pcm = new Int16Array(16_000);
    new G722Decoder().decode(octets, pcm);
    expect(sha256(new Uint8Array(pcm.buffer))).toBe(
      "db03191713f093bb6573f402c18429dcf0bf3eda1ab2bc12a76ee370669cb842",
    );
  });

  test.each([
    [300, 35],
    [1000, 35],
    [3000, 30],
    [5000, 20],
    [6500, 20],
  ])("a tone of %i Hz comes out with at least %i dB between it and the rest", (hz, leastDb) => {
    const heard = throughCodec(tone(hz, 16_000, 16_000)).subarray(1600);
    const share = shareAt(heard, hz, 16_000);
    expect(10 * Math.log10(share / (1 - share))).toBeGreaterThan(leastDb);
  });

  test("silence stays silence", () => {
    const heard = throughCodec(new Int16Array(3200));
    expect(Math.max(...heard.map(Math.abs))).toBeLessThan(8);
  });

  test("the loudest sounds are clipped, not wrapped", () => {
    const loud = Int16Array.from({ length: 3200 }, (_, i) => (i % 64 < 32 ? 32_767 : -32_768));
    const heard = throughCodec(loud).subarray(640);
    let wrong = 0;
    heard.forEach((sample, i) => {
      // the codec delays by 22 samples; edges aside, the sign must be right
      const phase = (i + 640 - 22) % 64;
      if (phase % 32 > 8 && phase % 32 < 24 && sample > 0 !== phase < 32) wrong++;
    });
    expect(wrong).toBe(0);
  });

  test("it matters not how the stream is cut", () => {
    const pcm = sawsAndNoise().subarray(0, 4000);
    const whole = new Uint8Array(2000);
    new G722Encoder().encode(pcm, whole);
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 1, max: 300 }), { minLength: 1, maxLength: 12 }), (cuts) => {
        const encoder = new G722Encoder();
        const octets = new Uint8Array(2000);
        let at = 0;
        for (const cut of [...cuts, 2000]) {
          const end = Math.min(2000, at + cut);
          at = encoder.encode(pcm.subarray(2 * at, 2 * end), octets, at);
        }
        expect(octets).toEqual(whole);
      }),
      { numRuns: 20 },
    );
  });

  test("any octets decode to something, and never more than fits", () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 400 }), fc.nat(300), (octets, room) => {
        const pcm = new Int16Array(room);
        const made = new G722Decoder().decode(octets, pcm);
        expect(made).toBe(2 * Math.min(octets.length, room >> 1));
      }),
    );
  });
});

describe("8 kHz sound over G.722", () => {
  function overFrames(pcm: Int16Array): Int16Array {
    const encoder = new AudioEncoder();
    const decoder = new AudioDecoder();
    const parts: Int16Array[] = [];
    const octets = new Uint8Array(172);
    for (let at = 0; at + 160 <= pcm.length; at += 160) {
      expect(encoder.encode("G722", pcm.subarray(at, at + 160), octets, 12)).toBe(172);
      const frame = new Int16Array(4000);
      expect(decoder.decode("G722", octets, frame, { offset: 12, length: 160 })).toBe(160);
      parts.push(frame.slice(0, 160));
    }
    return joined(...parts);
  }

  test.each([400, 1000, 2500, 3200])("a tone of %i Hz keeps its frequency and level", (hz) => {
    const said = tone(hz, 8000, 8000);
    const heard = overFrames(said).subarray(800);
    const share = shareAt(heard, hz);
    expect(10 * Math.log10(share / (1 - share))).toBeGreaterThan(28);
    const power = (pcm: Int16Array) => pcm.reduce((sum, x) => sum + x * x, 0) / pcm.length;
    expect(Math.abs(10 * Math.log10(power(heard) / power(said)))).toBeLessThan(0.6);
  });

  test("each frame comes at once, 6 to 7 ms late", () => {
    const click = new Int16Array(1600);
    click.fill(20_000, 800, 804);
    const heard = overFrames(click);
    const peak = heard.indexOf(Math.max(...heard));
    expect(peak - 801).toBeGreaterThanOrEqual(48);
    expect(peak - 801).toBeLessThanOrEqual(58);
  });

  test("packets of other lengths are taken as well", () => {
    const decoder = new AudioDecoder();
    const pcm = new Int16Array(480);
    for (const length of [240, 80, 160, 480, 1]) {
      expect(decoder.decode("G722", new Uint8Array(480), pcm, { offset: 0, length })).toBe(length);
    }
    expect(decoder.decode("G722", new Uint8Array(900), pcm, { offset: 0, length: 900 })).toBe(480);
  });
});
