import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createTimeline } from "../../src/sip/timeline.ts";

describe("the timeline", () => {
  it("rings alarms in the order of their moments, those of one moment in the order they were set", () => {
    const timeline = createTimeline();
    const rung: string[] = [];
    for (const [name, at] of [
      ["c", 30],
      ["a", 10],
      ["b1", 20],
      ["b2", 20],
    ] as const) {
      timeline.alarm(at, () => rung.push(name));
    }
    timeline.advance(20);
    expect(rung).toEqual(["a", "b1", "b2"]);
    expect(timeline.deadline()).toBe(30);
  });

  it("rings an alarm set by another one within the same advance when it is due by then", () => {
    const timeline = createTimeline();
    const rung: number[] = [];
    timeline.alarm(10, () => timeline.alarm(20, () => rung.push(20)));
    timeline.advance(20);
    expect(rung).toEqual([20]);
    expect(timeline.deadline()).toBe(Infinity);
  });

  it("never goes back", () => {
    const timeline = createTimeline();
    timeline.advance(100);
    timeline.advance(50);
    expect(timeline.now()).toBe(100);
  });

  it("rings each alarm that was not disposed exactly once, for any settings and disposals", () => {
    const plan = fc.array(fc.record({ at: fc.nat(1000), dispose: fc.boolean() }), { maxLength: 400 });
    fc.assert(
      fc.property(plan, fc.array(fc.nat(300), { maxLength: 10 }), (alarms, advances) => {
        const timeline = createTimeline();
        const rung: number[] = [];
        const handles = alarms.map(({ at }, index) => timeline.alarm(at, () => rung.push(index)));
        alarms.forEach(({ dispose }, index) => dispose && handles[index]![Symbol.dispose]());
        let now = 0;
        for (const ms of [...advances, 2000]) timeline.advance((now += ms));
        const expected = alarms
          .map((alarm, index) => ({ ...alarm, index }))
          .filter((alarm) => !alarm.dispose)
          .sort((a, b) => a.at - b.at || a.index - b.index)
          .map((alarm) => alarm.index);
        expect(rung).toEqual(expected);
        expect(timeline.deadline()).toBe(Infinity);
      }),
    );
  });
});
