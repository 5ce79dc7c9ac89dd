import { drive } from "#base";
import { expect, test } from "vitest";
import { callee, pickUp, type CalleeEffect, type CalleeInput } from "../../src/sandbox/callee.ts";
import { roles, type CalleeRole } from "../../src/sandbox/roles.ts";
import { VirtualClock } from "../support/virtual-clock.ts";

test("the agreeable callee greets, listens to the end of the turn, and presses the digit the text asked for", () => {
  const call = answer(roles.agreeable, { hasText: true });
  call.agentSays(2_000, "Para confirmar, pulse 7.");
  call.clock.advance(3_000);
  expect(call.log).toEqual(["150 say hello", "4200 say yes", "4400 press 7"]);
});

test("asked for no digit, it types its yes; without text it presses 1", () => {
  const typing = answer(roles.agreeable, { hasText: true });
  typing.agentSays(1_000, "¿Le viene bien?");
  typing.clock.advance(3_000);
  expect(typing.log.at(-1)).toMatch(/type yes$/);
  const pressing = answer(roles.agreeable, { hasText: false });
  pressing.agentSays(1_000, "");
  pressing.clock.advance(3_000);
  expect(pressing.log.at(-1)).toMatch(/press 1$/);
});

test("a pause between two sentences is not the end of the agent's turn", () => {
  const call = answer(roles.agreeable, { hasText: false });
  call.agentSays(1_000, "");
  call.agentSays(1_000, "", { afterMs: 600 });
  call.clock.advance(3_000);
  expect(call.log.filter((line) => line.includes("press"))).toHaveLength(1);
});

test("the mailbox speaks its greeting, then beeps, whatever the agent does", () => {
  const call = answer(roles.voicemail, { hasText: false });
  call.agentSays(1_000, "");
  call.clock.advance(5_000);
  expect(call.log).toEqual(["0 say mailbox", "500 beep"]);
});

test("the one who hangs up does so in the middle of the agent's sentence", () => {
  const call = answer(roles.hangsUp, { hasText: false });
  call.agentSays(10_000, "");
  expect(call.log.at(-1)).toBe("2500 hang-up");
});

test("the one who opts out says and types it, and presses 9 when that changed nothing", () => {
  const call = answer(roles.optsOut, { hasText: true });
  call.agentSays(1_000, "Hola.");
  call.clock.advance(3_000);
  call.agentSays(1_000, "¿Sigue ahí?");
  call.clock.advance(3_000);
  expect(call.log.map((line) => line.replace(/^\d+ /, ""))).toEqual([
    "say hello",
    "say neverAgain",
    "type neverAgain",
    "say neverAgain",
    "press 9",
  ]);
});

test("the interrupter speaks into every turn, at most six times, and gives in at last", () => {
  const call = answer(roles.interrupts, { hasText: false });
  for (let turn = 0; turn < 8; turn++) {
    call.agentSays(3_000, "");
    call.clock.advance(2_500);
  }
  expect(call.log.filter((line) => line.includes("say interruption"))).toHaveLength(7);
  expect(call.log.at(-1)).toMatch(/press 1$/);
});

test("the menu repeats itself until a digit leads to a person", () => {
  const call = answer(roles.menu, { hasText: false });
  call.clock.advance(9_000);
  expect(call.log.filter((line) => line.includes("say menu")).length).toBeGreaterThanOrEqual(2);
  call.feed({ type: "agent-digit", digit: "1" });
  call.clock.advance(1_000);
  expect(call.log.at(-1)).toMatch(/say hello$/);
});

test("the silent callee does nothing, for ever", () => {
  const call = answer(roles.silent, { hasText: true });
  call.agentSays(3_000, "Hola");
  call.clock.advance(60_000);
  expect(call.log).toEqual([]);
});

function answer(role: CalleeRole, { hasText }: { hasText: boolean }) {
  const clock = new VirtualClock();
  const log: string[] = [];
  const driver = drive(callee, pickUp(role, hasText, 0), clock, (effect: CalleeEffect) => {
    const detail = "phrase" in effect ? ` ${effect.phrase}` : "digits" in effect ? ` ${effect.digits}` : "";
    log.push(`${clock.now()} ${effect.type}${detail}`);
    // Everything said takes 200 ms.
    if (effect.type === "say" || effect.type === "beep") {
      clock.alarm(clock.now() + 200, () => driver.feed({ type: "said" }));
    }
  });
  return { clock, log, feed: (input: CalleeInput) => driver.feed(input), agentSays };

  function agentSays(ms: number, text: string, { afterMs = 1_000 } = {}): void {
    clock.advance(afterMs);
    driver.feed({ type: "agent-text", text });
    driver.feed({ type: "agent-speech", active: true });
    clock.advance(ms);
    driver.feed({ type: "agent-speech", active: false });
  }
}
