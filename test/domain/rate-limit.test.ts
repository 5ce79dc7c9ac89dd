import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { askRate, type RateWindow } from "../../src/domain/rate-limit.ts";

function askAt(times: readonly number[]) {
  let window: RateWindow = [];
  return times.map((at) => {
    const verdict = askRate(window, at);
    window = verdict.window;
    return verdict;
  });
}

describe("the rate of a token", () => {
  test("the 11th request in a second is refused until the first of them is a second old", () => {
    const verdicts = askAt([...Array.from({ length: 11 }, (_, i) => i * 10), 999, 1_000]);
    expect(verdicts.map(({ allowed }) => allowed)).toEqual([
      ...Array.from({ length: 10 }, () => true),
      false,
      false,
      true,
    ]);
    expect(verdicts[10]).toMatchObject({ limit: 10, remaining: 0, resetS: 1 });
  });

  test("the 101st request in a minute is refused, and the wait is the time until the first leaves", () => {
    const verdicts = askAt(Array.from({ length: 101 }, (_, i) => i * 200));
    expect(verdicts.slice(0, 100).every(({ allowed }) => allowed)).toBe(true);
    expect(verdicts[99]).toMatchObject({ limit: 100, remaining: 0 });
    expect(verdicts[100]).toMatchObject({ allowed: false, limit: 100, remaining: 0, resetS: 40 });
  });

  test("refused requests do not lengthen the wait", () => {
    const hammering = Array.from({ length: 1_000 }, (_, i) => i);
    expect(askAt([...hammering, 1_000]).at(-1)?.allowed).toBe(true);
  });

  test("a clock that is set back does not lock a token out", () => {
    const later = askAt(Array.from({ length: 10 }, () => 10_000_000)).at(-1)?.window ?? [];
    expect(askRate(later, 5_000_000).allowed).toBe(true);
  });

  test("never more than 10 in any second nor 100 in any minute, and never refused below both", () => {
    const gaps = fc.array(fc.integer({ min: 0, max: 900 }), { maxLength: 300 });
    fc.assert(
      fc.property(gaps, (steps) => {
        let now = 0;
        const times = steps.map((step) => (now += step));
        const verdicts = askAt(times);
        const passed: number[] = [];
        for (const [i, { allowed }] of verdicts.entries()) {
          const at = times[i] ?? 0;
          const inside = (ms: number) => passed.filter((before) => before > at - ms).length;
          expect(allowed).toBe(inside(1_000) < 10 && inside(60_000) < 100);
          if (allowed) passed.push(at);
        }
      }),
    );
  });
});
