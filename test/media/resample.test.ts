import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { resample, Resampler } from "../../src/media/resample.ts";
import { joined, rms, seeded, shareAt } from "./signals.ts";

const rates = [
  [22_050, 8000],
  [24_000, 8000],
  [16_000, 8000],
  [8000, 16_000],
  [8000, 24_000],
  [24_000, 16_000],
  [48_000, 8000],
] as const;

function sine(hz: number, rateHz: number, ms: number, amplitude = 10_000): Int16Array {
  return Int16Array.from({ length: (rateHz * ms) / 1000 }, (_, i) =>
    Math.round(amplitude * Math.sin((2 * Math.PI * hz * i) / rateHz)),
  );
}

/** Without the edges, where the filter sees silence. */
function middle(pcm: Int16Array): Int16Array {
  return pcm.subarray(pcm.length >> 2, 3 * (pcm.length >> 2));
}

describe("resampling", () => {
  test.each(rates)("%i to %i Hz keeps tones of the telephone band, in level and purity", (from, to) => {
    for (const hz of [200, 1000, 2000, 3000]) {
      const out = middle(resample(sine(hz, from, 1000), from, to));
      expect(20 * Math.log10(rms(out) / (10_000 / Math.SQRT2)), `${hz} Hz`).toBeCloseTo(0, 1);
      expect(10 * Math.log10(1 - Math.min(1 - 1e-9, shareAt(out, hz, to))), `${hz} Hz`).toBeLessThan(-65);
    }
  });

  test.each(rates.filter(([from, to]) => from > to))("%i to %i Hz lets nothing alias", (from, to) => {
    for (const hz of [0.56 * to, 0.7 * to, 0.49 * from].filter(
      (each) => each < from / 2 && each > 0.55 * to,
    )) {
      const out = middle(resample(sine(hz, from, 1000, 20_000), from, to));
      expect(rms(out), `${hz} Hz`).toBeLessThan(3); // −74 dB, half of it rounding
    }
  });

  test("the length is that of the sound at the new rate, and an impulse stays where it was", () => {
    const pcm = new Int16Array(22_050);
    pcm[11_025] = 30_000;
    const out = resample(pcm, 22_050, 8000);
    expect(out).toHaveLength(8000);
    const peak = out.reduce((best, sample, i) => (Math.abs(sample) > Math.abs(out[best]!) ? i : best), 0);
    expect(peak).toBe(4000);
  });

  test("the same rate is a copy", () => {
    const pcm = Int16Array.of(1, 2, 3);
    const out = resample(pcm, 8000, 8000);
    expect(out).toEqual(pcm);
    expect(out.buffer).not.toBe(pcm.buffer);
  });

  test("a stream in pieces of any size gives what the whole gives", () => {
    const random = seeded(2);
    const whole = Int16Array.from({ length: 3000 }, () => (random() - 0.5) * 40_000);
    fc.assert(
      fc.property(
        fc.constantFrom(...rates),
        fc.array(fc.integer({ min: 0, max: 700 }), { minLength: 1, maxLength: 12 }),
        ([from, to], cuts) => {
          const resampler = new Resampler(from, to);
          const parts: Int16Array[] = [];
          let at = 0;
          for (const cut of [...cuts, 3000]) {
            parts.push(resampler.push(whole.subarray(at, at + cut)));
            at += cut;
          }
          parts.push(resampler.flush());
          expect(joined(...parts)).toEqual(resample(whole, from, to));
        },
      ),
      { numRuns: 60 },
    );
  });

  test("after a flush the stream starts anew", () => {
    const resampler = new Resampler(24_000, 8000);
    const pcm = sine(700, 24_000, 100);
    const first = joined(resampler.push(pcm), resampler.flush());
    const second = joined(resampler.push(pcm), resampler.flush());
    expect(second).toEqual(first);
  });

  test("loud sound is clipped, not wrapped", () => {
    const square = Int16Array.from({ length: 2400 }, (_, i) =>
      Math.floor(i / 30) % 2 === 0 ? 32_767 : -32_768,
    );
    const out = resample(square, 24_000, 8000);
    const jumps = out.filter((sample, i) => i > 0 && Math.abs(sample - out[i - 1]!) > 60_000).length;
    expect(jumps).toBeLessThan(out.length / 4);
    expect(Math.max(...out)).toBe(32_767);
  });
});
