import { describe, expect, test } from "vitest";
import { levelDb, SpeechDetector } from "../../src/media/level.ts";
import { beepTone, dtmfTone, ringbackTone, silence, sineTone } from "../../src/media/tone-generator.ts";
import { framesOf, joined, overTheLine, speechLike } from "./signals.ts";

function activity(pcm: Int16Array, detector = new SpeechDetector()): boolean[] {
  return [...framesOf(pcm)].map((frame) => detector.push(frame));
}

describe("speech detection", () => {
  test.each([-70, -55, -45])(
    "speech in noise of %i dBFS begins and ends within a tenth of a second",
    (noiseDb) => {
      const pcm = overTheLine(joined(silence(2000), speechLike(2000, { seed: 5 }), silence(1500)), noiseDb);
      const active = activity(pcm);
      expect(active.slice(0, 100)).not.toContain(true);
      const first = active.indexOf(true);
      expect(first).toBeGreaterThanOrEqual(102);
      expect(first).toBeLessThanOrEqual(106);
      const end = active.lastIndexOf(true);
      expect(end).toBeGreaterThanOrEqual(200);
      expect(end).toBeLessThanOrEqual(215);
      expect(active.slice(first, 200).filter(Boolean).length).toBeGreaterThan(0.85 * (200 - first));
    },
  );

  test("three frames of speech are needed, a pause of 200 ms ends it", () => {
    const loud = speechLike(400, { seed: 11 }).subarray(0, 160 * 12);
    const active = activity(joined(silence(200), loud, silence(600)));
    const first = active.indexOf(true);
    expect(active.slice(0, 12)).not.toContain(true);
    const quiet = 10 + 12;
    expect(active[first + 1]).toBe(true);
    expect(active.lastIndexOf(true) - quiet).toBeGreaterThanOrEqual(8);
    expect(active.lastIndexOf(true) - quiet).toBeLessThanOrEqual(9);
  });

  test("noise that rises becomes the floor within two seconds", () => {
    const pcm = joined(overTheLine(silence(3000), -65), overTheLine(silence(6000), -45, 2));
    expect(activity(pcm).slice(150 + 100)).not.toContain(true);
  });

  test.each([
    ["ringback", ringbackTone(9000)],
    ["dial tone", sineTone([350, 440], 3000)],
    ["American busy", joined(sineTone([480, 620], 500), silence(500), sineTone([480, 620], 500))],
    ["a beep", beepTone()],
    ["fax", sineTone([2100], 3000)],
    ["digits", joined(...Array.from("159*0#").flatMap((key) => [dtmfTone(key, 120), silence(90)]))],
  ])("%s is not speech", (_name, pcm) => {
    expect(activity(overTheLine(joined(silence(507), pcm, silence(500))))).not.toContain(true);
  });

  test("the hum of the mains is not speech", () => {
    const hum = joined(silence(1000), sineTone([50], 2000, -38));
    expect(activity(hum)).not.toContain(true);
  });

  test("nothing below −52 dBFS is speech, however quiet the line", () => {
    expect(activity(joined(silence(1000), speechLike(2000, { levelDb: -60 })))).not.toContain(true);
  });

  test("while we speak, an echo must be louder to count", () => {
    const noise = overTheLine(silence(2000), -48);
    const echo = joined(noise, overTheLine(speechLike(1500, { levelDb: -42 }), -48, 3));
    const careful = new SpeechDetector();
    careful.extraMarginDb = 10;
    const count = (active: readonly boolean[]) => active.filter(Boolean).length;
    expect(count(activity(echo, careful))).toBeLessThan(count(activity(echo)) / 2);
  });

  test("levels are RMS in dBFS", () => {
    expect(levelDb(sineTone([1000], 200, -20))).toBeCloseTo(-20, 0);
    expect(levelDb(new Int16Array(160))).toBe(-100);
    expect(levelDb(new Int16Array(0))).toBe(-100);
    expect(levelDb(new Int16Array(160).fill(-32_768))).toBeCloseTo(0, 5);
  });
});
