import { describe, expect, test } from "vitest";
import { estimateMos } from "../../src/media/quality.ts";

const clean = { codec: "PCMA", lossShare: 0, delayMs: 0 } as const;

describe("the estimated quality", () => {
  test("of an undisturbed call is the E-model's best", () => {
    expect(estimateMos(clean)).toBeCloseTo(4.41, 2);
  });

  // G.711 with concealment: R 93.2 − 95·p/(p + 25.1), then the cubic of G.107 B.4
  test.each([
    [1, 4.33],
    [5, 3.92],
    [10, 3.41],
    [20, 2.63],
  ])("with %i %% of loss is as the model says", (percent, mos) => {
    expect(estimateMos({ ...clean, lossShare: percent / 100 })).toBeCloseTo(mos, 2);
  });

  test("falls gently with delay, steeply beyond 177 ms", () => {
    const at = (delayMs: number): number => estimateMos({ ...clean, delayMs });
    expect(at(0) - at(150)).toBeLessThan(0.15);
    expect(at(200) - at(350)).toBeGreaterThan(0.6);
  });

  test("G.722 suffers more from loss, and is no better without", () => {
    const lossShare = 0.05;
    expect(estimateMos({ ...clean, codec: "G722" })).toBe(estimateMos(clean));
    expect(estimateMos({ ...clean, codec: "G722", lossShare })).toBeLessThan(
      estimateMos({ ...clean, lossShare }),
    );
  });

  test.each([
    [1, 0],
    [2, 5000],
    [0, 1e9],
    [-1, 0],
  ])("stays between 1 and 4.41 (loss %d, delay %d)", (lossShare, delayMs) => {
    const mos = estimateMos({ ...clean, lossShare, delayMs });
    expect(mos).toBeGreaterThanOrEqual(1);
    expect(mos).toBeLessThanOrEqual(4.42);
  });
});
