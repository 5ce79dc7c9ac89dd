import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { Playout } from "../../src/lines/playout.ts";

function pull(playout: Playout, played: number[] = []): Int16Array {
  const out = new Int16Array(160);
  playout.pull(out, (segment) => played.push(segment));
  return out;
}

describe("the playout queue", () => {
  test("whatever the pieces, every sample comes out once and in order, and each segment ends once", () => {
    const segments = fc.array(fc.array(fc.nat({ max: 400 }), { maxLength: 5 }), {
      minLength: 1,
      maxLength: 6,
    });
    fc.assert(
      fc.property(segments, (plan) => {
        const playout = new Playout();
        let next = 1;
        for (const [id, pieces] of plan.entries()) {
          if (pieces.length === 0) playout.append(id, new Int16Array(0));
          for (const length of pieces)
            playout.append(
              id,
              Int16Array.from({ length }, () => next++),
            );
          playout.finish(id);
        }
        const total = next - 1;
        expect(playout.queuedMs).toBe(total / 8);
        const played: number[] = [];
        const samples: number[] = [];
        for (let frame = 0; frame <= total / 160 + 1; frame++) samples.push(...pull(playout, played));
        expect(samples.slice(0, total)).toEqual(Array.from({ length: total }, (_, i) => i + 1));
        expect(played).toEqual([...plan.keys()]);
        expect(playout.underruns).toBe(0);
      }),
      { numRuns: 200 },
    );
  });

  test("sound that stops early sinks to silence in 4 ms instead of breaking off", () => {
    const playout = new Playout();
    playout.append(1, new Int16Array(170).fill(8000));
    pull(playout);
    const out = pull(playout);
    const steps = Array.from(out.subarray(10), (sample, i) => Math.abs(sample - out[9 + i]!));
    expect(Math.max(...steps)).toBeLessThanOrEqual(260);
    expect(out.subarray(10 + 32)).toEqual(new Int16Array(118));
  });

  test("a segment that runs dry before its end is an underrun, once a gap", () => {
    const playout = new Playout();
    playout.append(1, new Int16Array(160).fill(5));
    for (let i = 0; i < 4; i++) pull(playout);
    expect(playout.underruns).toBe(1);
    playout.append(1, new Int16Array(160).fill(5));
    for (let i = 0; i < 4; i++) pull(playout);
    expect(playout.underruns).toBe(2);
    playout.finish(1);
    for (let i = 0; i < 4; i++) pull(playout);
    expect(playout.underruns).toBe(2);
  });

  test("waiting for the first sound of a segment is no underrun", () => {
    const playout = new Playout();
    playout.append(1, new Int16Array(0));
    for (let i = 0; i < 4; i++) pull(playout);
    expect(playout.underruns).toBe(0);
  });

  test("what is queued while a segment's end is told plays next", () => {
    const playout = new Playout();
    const first = new Int16Array(160).fill(1);
    playout.append(1, first);
    playout.finish(1);
    playout.pull(new Int16Array(160), () => {
      playout.append(2, new Int16Array(160).fill(2));
      playout.finish(2);
    });
    expect(pull(playout)).toEqual(new Int16Array(160).fill(2));
  });

  test("an id that was played may be used again, and finishing an unknown one is nothing", () => {
    const playout = new Playout();
    const played: number[] = [];
    playout.finish(9);
    for (let i = 0; i < 2; i++) {
      playout.append(1, new Int16Array(160));
      playout.finish(1);
      pull(playout, played);
    }
    expect(played).toEqual([1, 1]);
  });

  test("clearing ends a pause", () => {
    const playout = new Playout();
    playout.append(1, new Int16Array(320).fill(9));
    pull(playout);
    playout.pause();
    pull(playout);
    expect(playout.clear()).toEqual([{ segmentId: 1, playedMs: 20, totalMs: 40 }]);
    playout.append(2, new Int16Array(160).fill(3));
    expect(pull(playout)).toEqual(new Int16Array(160).fill(3));
  });
});
