import { drive } from "#base";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { breaker, breakerFault, startBreaker, type BreakerEffect } from "../../src/daemon/breaker.ts";
import { VirtualClock } from "../support/virtual-clock.ts";

function rig() {
  const clock = new VirtualClock();
  const effects: BreakerEffect[] = [];
  let { state } = startBreaker();
  const watched: typeof breaker = {
    ...breaker,
    step: (from, input, now) => {
      const next = breaker.step(from, input, now);
      state = next.state;
      return next;
    },
  };
  const driver = drive(watched, startBreaker(), clock, (effect) => effects.push(effect));
  const call = (how: "ok" | "failed" | "forbidden" | "refused" | "unsaid"): void => {
    driver.feed({ type: "call-started" });
    driver.feed({ type: "call-ended", how, detail: `it ${how}` });
  };
  return { clock, effects, driver, call, state: () => state, fault: () => breakerFault(state) };
}

describe("a trunk's breaker", () => {
  test("pauses it after five failures among the last twenty calls", () => {
    const { clock, call, fault, effects } = rig();
    for (let n = 0; n < 19; n++) {
      call(n % 5 === 4 ? "failed" : "ok");
      clock.advance(20_000);
    }
    expect(fault()).toBeUndefined();
    call("failed");
    expect(fault()).toBeUndefined(); // Four: 4, 9, 14 and this one.
    call("failed");
    expect(fault()).toEqual({
      why: "5 of the last 20 calls failed: it failed",
      until: clock.now() + 60_000,
      held: false,
    });
    expect(effects).toMatchObject([{ type: "pause" }]);
  });

  test("pauses it when half of a few calls in two minutes failed", () => {
    const { call, fault } = rig();
    for (const how of ["ok", "ok", "failed"] as const) call(how);
    expect(fault()).toBeUndefined();
    call("failed");
    expect(fault()?.why).toBe("2 of 4 calls in two minutes failed: it failed");
  });

  test("does not count half of what happened long ago", () => {
    const { clock, call, fault } = rig();
    for (const how of ["ok", "ok", "failed"] as const) call(how);
    clock.advance(120_000);
    call("failed");
    expect(fault()).toBeUndefined();
  });

  test("then tries one call at a time, and goes on after one that went well", () => {
    const { clock, call, fault, driver, effects } = rig();
    for (let n = 0; n < 4; n++) call("failed");
    clock.advance(59_999);
    expect(fault()).toBeDefined();
    clock.advance(1);
    expect(fault()).toBeUndefined();
    driver.feed({ type: "call-started" });
    expect(fault()?.why).toContain("one call tries it");
    driver.feed({ type: "call-ended", how: "ok", detail: "" });
    expect(fault()).toBeUndefined();
    expect(effects.map(({ type }) => type)).toEqual(["pause", "resume", "resume"]);
    call("failed");
    expect(fault()).toBeUndefined(); // It starts from nothing.
  });

  test("doubles the pause with each failed trial, up to a quarter of an hour", () => {
    const { clock, call, state: stateNow } = rig();
    for (let n = 0; n < 4; n++) call("failed");
    const pauses: number[] = [];
    for (let n = 0; n < 6; n++) {
      const state = stateNow();
      if (state.type !== "paused") throw new Error("not paused");
      pauses.push((state.until - clock.now()) / 60_000);
      clock.advance(state.until - clock.now());
      call("failed");
    }
    expect(pauses).toEqual([1, 2, 4, 8, 15, 15]);
  });

  test("a trial that we ended ourselves says nothing; the next call is the trial", () => {
    const { clock, call, fault } = rig();
    for (let n = 0; n < 4; n++) call("failed");
    clock.advance(60_000);
    call("unsaid");
    expect(fault()).toBeUndefined();
    call("ok");
    expect(fault()).toBeUndefined();
  });

  test("holds a trunk that refuses us until somebody looked after it", () => {
    const { clock, call, fault, driver, effects } = rig();
    call("refused");
    clock.advance(86_400_000);
    call("ok");
    expect(fault()).toEqual({ why: "it refused", until: null, held: true });
    driver.feed({ type: "mended" });
    expect(fault()).toBeUndefined();
    expect(effects).toEqual([
      { type: "hold", why: "it refused" },
      { type: "resume", trial: false },
    ]);
  });

  test("holds a trunk that forbids three calls in a row, or its trial", () => {
    const { clock, call, fault, driver } = rig();
    for (const how of ["ok", "ok", "ok", "forbidden", "forbidden", "ok", "forbidden", "ok"] as const)
      call(how);
    expect(fault()).toBeUndefined();
    driver.feed({ type: "mended" });
    for (let n = 0; n < 3; n++) call("forbidden");
    expect(fault()).toMatchObject({ held: true, why: "it forbidden" });
    driver.feed({ type: "mended" });
    for (let n = 0; n < 4; n++) call("failed");
    clock.advance(60_000);
    call("forbidden");
    expect(fault()?.held).toBe(true);
  });

  test("a trial that rings is good enough, however long the call takes", () => {
    const { clock, call, fault, driver } = rig();
    for (let n = 0; n < 4; n++) call("failed");
    clock.advance(60_000);
    driver.feed({ type: "call-started" });
    driver.feed({ type: "call-went" });
    expect(fault()).toBeUndefined();
  });

  test("never pauses for longer than a quarter of an hour, never without a failure", () => {
    const inputs = fc.array(
      fc.record({
        how: fc.constantFrom("ok" as const, "failed" as const, "unsaid" as const),
        waitMs: fc.integer({ min: 0, max: 200_000 }),
      }),
      { maxLength: 200 },
    );
    const property = fc.property(inputs, (calls) => {
      const { clock, call, state: stateNow, effects } = rig();
      const pauses = (): number => effects.filter(({ type }) => type === "pause").length;
      return calls.every(({ how, waitMs }) => {
        const before = pauses();
        call(how);
        const state = stateNow();
        const sound =
          (how === "failed" || pauses() === before) &&
          (state.type !== "paused" || state.until <= clock.now() + 900_000) &&
          (state.type !== "closed" || state.recent.length <= 20);
        clock.advance(waitMs);
        return sound;
      });
    });
    expect(fc.check(property).failed).toBe(false);
  });
});
