import { drive, type Machine, type Step } from "#base";
import { expect, test } from "vitest";
import { VirtualClock } from "../support/virtual-clock.ts";

type State = { readonly ringAt: number; readonly left: number };
type Input = { readonly type: "add"; readonly count: number };
type Effect = { readonly type: "ring"; readonly left: number };

/** Rings every 100 ms, as often as `left` says. */
const bell: Machine<State, Input, Effect> = {
  step(state, input, now): Step<State, Effect> {
    switch (input.type) {
      case "add":
        return { state: { ...state, left: state.left + input.count }, effects: [] };
      case "tick":
        return {
          state: { ringAt: now + 100, left: state.left - 1 },
          effects: [{ type: "ring", left: state.left - 1 }],
        };
    }
  },
  deadline: (state) => state.ringAt,
  isOver: (state) => state.left === 0,
};

test("the driver wakes the machine at its deadline until it is over", () => {
  const { clock, rings } = place(3);
  clock.advance(1_000);
  expect(rings).toEqual([
    [100, 2],
    [200, 1],
    [300, 0],
  ]);
});

test("an input fed by an effect is handled after that effect, in the same turn", () => {
  const clock = new VirtualClock();
  const log: string[] = [];
  const driver = drive(bell, { state: { ringAt: 100, left: 1 }, effects: [] }, clock, (effect) => {
    if (effect.left === 0 && log.length === 0) driver.feed({ type: "add", count: 1 });
    log.push(`${clock.now()} ${effect.left}`);
  });
  clock.advance(500);
  expect(log).toEqual(["100 0", "200 0"]);
});

test("a disposed driver neither wakes nor listens", () => {
  const { clock, rings, driver } = place(3);
  clock.advance(100);
  driver[Symbol.dispose]();
  driver.feed({ type: "add", count: 5 });
  clock.advance(1_000);
  expect(rings).toEqual([[100, 2]]);
});

function place(left: number) {
  const clock = new VirtualClock();
  const rings: [number, number][] = [];
  const driver = drive(bell, { state: { ringAt: 100, left }, effects: [] }, clock, (effect) => {
    rings.push([clock.now(), effect.left]);
  });
  return { clock, rings, driver };
}
