import { describe, expect, test } from "vitest";
import { ComfortNoise } from "../../src/media/comfort-noise.ts";
import { rms } from "./signals.ts";

function noiseOf(payload: readonly number[], samples = 16_000): Int16Array {
  const noise = new ComfortNoise();
  const packet = Uint8Array.of(99, ...payload, 99);
  noise.describe(packet, { offset: 1, length: payload.length });
  const pcm = new Int16Array(samples);
  noise.mix(pcm);
  return pcm;
}

const db = (pcm: Int16Array): number => 20 * Math.log10(rms(pcm) / 32_767);

/** Power below 1 kHz against that above, in dB, by a difference filter. */
function tilt(pcm: Int16Array): number {
  let low = 0;
  let high = 0;
  for (let i = 1; i < pcm.length; i++) {
    low += (pcm[i]! + pcm[i - 1]!) ** 2;
    high += (pcm[i]! - pcm[i - 1]!) ** 2;
  }
  return 10 * Math.log10(low / high);
}

describe("comfort noise", () => {
  test.each([30, 45, 60])("has the level that was described (−%i dBov)", (level) => {
    expect(db(noiseOf([level]))).toBeCloseTo(-level, 0);
  });

  test("is white when no spectrum is given", () => {
    expect(Math.abs(tilt(noiseOf([40])))).toBeLessThan(0.5);
  });

  test("takes the spectrum's shape and keeps its level", () => {
    const dark = noiseOf([40, 127 - 90, 127 + 20]);
    const bright = noiseOf([40, 127 + 90, 127 - 20]);
    expect(tilt(dark)).toBeGreaterThan(5);
    expect(tilt(bright)).toBeLessThan(-5);
    for (const pcm of [dark, bright]) expect(Math.abs(db(pcm) + 40)).toBeLessThan(1);
  });

  test("is none before a description, and none at the lowest level", () => {
    const pcm = Int16Array.of(5, -5);
    new ComfortNoise().mix(pcm);
    expect(pcm).toEqual(Int16Array.of(5, -5));
    expect(rms(noiseOf([127]))).toBe(0);
    expect(rms(noiseOf([]))).toBe(0);
  });

  test("is added to what is there, and clipped", () => {
    const noise = new ComfortNoise();
    noise.describe(Uint8Array.of(0), { offset: 0, length: 1 });
    const pcm = new Int16Array(1000).fill(32_000);
    noise.mix(pcm);
    expect(Math.max(...pcm)).toBe(32_767);
  });

  test("stays within bounds with any coefficients", () => {
    for (const k of [0, 255, 127]) {
      const pcm = noiseOf([50, ...Array.from({ length: 30 }, () => k)], 4000);
      expect(pcm.every(Number.isFinite)).toBe(true);
      expect(db(pcm)).toBeLessThan(-20);
    }
  });
});
