import { describe, expect, test } from "vitest";
import { ReceptionStats } from "../../src/media/reception.ts";

describe("reception statistics", () => {
  test("loss is what the sequence numbers miss, over their wrap", () => {
    const stats = new ReceptionStats();
    for (let i = 0; i < 200; i++) {
      if (i % 10 !== 5) stats.count((65_500 + i) & 0xffff, i * 160, i * 20);
    }
    expect(stats).toMatchObject({ expected: 200, received: 180, lost: 20, extendedHighest: 65_699 });
    expect(stats.takeFractionLost()).toBe(Math.floor((20 * 256) / 200));
    expect(stats.takeFractionLost()).toBe(0);
  });

  test("an even stream has no jitter, an uneven one that of RFC 3550 A.8", () => {
    const even = new ReceptionStats();
    const uneven = new ReceptionStats();
    for (let i = 0; i < 500; i++) {
      even.count(i, 2 ** 32 - 8000 + i * 160, 1.7e12 + i * 20);
      uneven.count(i, i * 160, i * 20 + (i % 2) * 10);
    }
    expect(even.jitterMs).toBe(0);
    expect(uneven.jitterMs).toBeCloseTo(10, 1);
  });

  test("one packet far out of sequence is not counted, two in a row are a new beginning", () => {
    const stats = new ReceptionStats();
    for (let i = 0; i < 10; i++) stats.count(i, i * 160, i * 20);
    stats.count(30_000, 0, 200);
    expect(stats).toMatchObject({ expected: 10, received: 10 });
    stats.count(40_000, 0, 220);
    stats.count(40_001, 160, 240);
    expect(stats).toMatchObject({ expected: 1, received: 1, lost: 0 });
  });

  test("packets that come twice do not make the loss negative", () => {
    const stats = new ReceptionStats();
    for (const sequence of [1, 2, 2, 2, 3]) stats.count(sequence, sequence * 160, sequence * 20);
    expect(stats.lost).toBe(0);
  });

  test("telephone events count as packets but not for the jitter", () => {
    const stats = new ReceptionStats();
    stats.count(1, 160, 20);
    for (let i = 2; i < 30; i++) stats.countEvent(i);
    stats.count(30, 30 * 160, 600);
    expect(stats).toMatchObject({ received: 30, lost: 0, jitterMs: 0 });
  });
});
