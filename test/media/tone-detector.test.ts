import { describe, expect, test } from "vitest";
import { ToneDetector, type ToneFound } from "../../src/media/tone-detector.ts";
import { beepTone, dtmfTone, ringbackTone, silence, sineTone } from "../../src/media/tone-generator.ts";
import { framesOf, joined, overTheLine, speechLike } from "./signals.ts";

function found(pcm: Int16Array, noiseDb = -55): (ToneFound & { readonly atMs: number })[] {
  const detector = new ToneDetector();
  let ms = 0;
  return [...framesOf(overTheLine(pcm, noiseDb))].flatMap((frame) => {
    ms += 20;
    const tone = detector.push(frame);
    return tone === undefined ? [] : [{ ...tone, atMs: ms - tone.agoMs }];
  });
}

function repeated(times: number, ...parts: readonly Int16Array[]): Int16Array {
  return joined(...Array.from({ length: times }, () => joined(...parts)));
}

describe("the beep detector", () => {
  const frequencies = [320, 440, 500, 620, 850, 1000, 1400, 2000, 2450];

  test.each(frequencies)("a beep of %i Hz after a greeting is found, whatever its length", (hz) => {
    for (const ms of [130, 200, 250, 400, 700]) {
      const lead = joined(speechLike(1500, { seed: hz }), silence(307));
      const tones = found(joined(lead, sineTone([hz], ms), silence(1500)));
      expect(
        tones.map(({ type }) => type),
        `${ms} ms`,
      ).toEqual(["beep"]);
      expect(Math.abs(tones[0]!.frequencyHz - hz)).toBeLessThan(10);
      expect(Math.abs(tones[0]!.durationMs - ms)).toBeLessThan(25);
      expect(Math.abs(tones[0]!.atMs - (1807 + ms))).toBeLessThan(41);
    }
  });

  test("a faint beep is found in noise", () => {
    expect(found(joined(silence(500), sineTone([1000], 300, -34), silence(800)), -52)).toHaveLength(1);
  });

  test("speech straight after the beep does not hide it", () => {
    const tones = found(joined(silence(300), beepTone(), silence(60), speechLike(2000)));
    expect(tones.map(({ type }) => type)).toEqual(["beep"]);
  });

  test("nothing is reported before 300 ms without a tone have passed", () => {
    const detector = new ToneDetector();
    const early = [...framesOf(joined(beepTone(), silence(280)))].map((frame) => detector.push(frame));
    expect(early.every((tone) => tone === undefined)).toBe(true);
  });

  test.each([
    ["European ringback", ringbackTone(13_000)],
    ["French ringback", repeated(3, sineTone([440], 1500), silence(3500))],
    [
      "British ringback",
      repeated(4, sineTone([400, 450], 400), silence(200), sineTone([400, 450], 400), silence(2000)),
    ],
    ["American ringback", repeated(3, sineTone([440, 480], 2000), silence(4000))],
    ["busy", repeated(10, sineTone([425], 500), silence(500))],
    ["Spanish busy", repeated(20, sineTone([425], 200), silence(200))],
    ["American busy", repeated(10, sineTone([480, 620], 500), silence(500))],
    ["dial tone", sineTone([350, 440], 4000)],
    ["a short blip", joined(silence(300), sineTone([1000], 60), silence(1000))],
    ["a tone that does not end", sineTone([1000], 6000)],
    [
      "the special information tones",
      joined(...[950, 1400, 1800].map((hz) => sineTone([hz], 330)), silence(1500)),
    ],
    ["a siren", joined(...Array.from({ length: 60 }, (_, i) => sineTone([500 + 20 * i], 20)), silence(800))],
  ])("%s is no beep", (_name, pcm) => {
    expect(found(joined(silence(411), pcm, silence(700)))).toEqual([]);
  });

  test("no key of a telephone is a beep", () => {
    for (const key of "0123456789*#ABCD") {
      for (const ms of [80, 150, 400]) {
        expect(found(joined(silence(203), dtmfTone(key, ms), silence(900))), `${key} ${ms} ms`).toEqual([]);
      }
    }
  });

  test("a pair of unequal strength is no beep either", () => {
    const low = sineTone([770], 200, -10);
    const high = sineTone([1336], 200, -17);
    expect(
      found(
        joined(
          silence(200),
          low.map((sample, i) => sample + high[i]!),
          silence(900),
        ),
      ),
    ).toEqual([]);
  });

  test("two minutes of voices hold no beep", () => {
    for (let seed = 0; seed < 12; seed++) {
      const pcm = speechLike(10_000, { seed, pitchHz: 90 + 15 * seed });
      expect(found(pcm), `voice ${seed}`).toEqual([]);
    }
  });

  test("the calling and the answering tone of a fax are told apart from beeps", () => {
    expect(found(joined(silence(300), sineTone([1100], 500), silence(1500)))).toMatchObject([
      { type: "fax" },
    ]);
    expect(found(joined(silence(300), sineTone([2100], 3000), silence(900)))).toMatchObject([
      { type: "fax", agoMs: 0, durationMs: 1000 },
    ]);
  });
});

describe("the tone generators", () => {
  test("keys are their two frequencies, other characters nothing", () => {
    expect(dtmfTone("5", 100)).toHaveLength(800);
    expect(dtmfTone("d", 50)).toEqual(sineTone([941, 1633], 50));
    expect(dtmfTone("x", 100)).toHaveLength(0);
    expect(dtmfTone("12", 100)).toHaveLength(0);
  });

  test("levels are RMS in dBFS, and loud sums are clipped, not wrapped", () => {
    const pcm = sineTone([1000], 1000, -20);
    const power = pcm.reduce((sum, x) => sum + x * x, 0) / pcm.length;
    expect(10 * Math.log10(power / 32_768 ** 2)).toBeCloseTo(-20, 1);
    expect(Math.min(...sineTone([500, 600], 100, -1))).toBe(-32_768);
  });
});
