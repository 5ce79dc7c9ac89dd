import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { Pacer } from "../../src/media/pacer.ts";

describe("the pacer", () => {
  test("ticks are due at multiples of the period, however late they are served", () => {
    fc.assert(
      fc.property(fc.array(fc.double({ min: 0, max: 70, noNaN: true }), { maxLength: 200 }), (delays) => {
        const pacer = new Pacer(1000.25, 20);
        let now = 1000.25;
        let served = 0;
        for (const delay of delays) {
          now += delay;
          const due = pacer.due(now);
          pacer.advance(due);
          served += due;
          expect(served).toBe(Math.floor((now - 1000.25) / 20));
          expect(pacer.dueAt).toBeGreaterThan(now - 1e-6);
          expect(now + pacer.delayMs(now)).toBeGreaterThanOrEqual(pacer.dueAt);
        }
      }),
    );
  });

  test("a clock that goes back makes nothing due", () => {
    const pacer = new Pacer(0, 20);
    pacer.advance(pacer.due(100));
    expect(pacer.due(40)).toBe(0);
  });

  test("one never sleeps past the tick by a whole millisecond", () => {
    const pacer = new Pacer(0, 20);
    expect(pacer.delayMs(0.5)).toBe(20);
    expect(pacer.delayMs(19.999)).toBe(1);
    expect(pacer.delayMs(25)).toBe(0);
  });
});
