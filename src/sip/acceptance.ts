import type { Machine, Step, Tick } from "#base";
import { GIVE_UP_MS, T1_MS, T2_MS } from "./timers.ts";

/** RFC 3261 13.3.1.4: the 2xx of an INVITE, repeated by the callee until the ACK. */
export type AcceptanceState =
  | {
      readonly type: "waiting";
      readonly resendAt: number;
      readonly intervalMs: number;
      readonly giveUpAt: number;
    }
  | { readonly type: "over" };

/** The ACK came, or the call ended otherwise. */
export interface AcceptanceInput {
  readonly type: "settled";
}

export type AcceptanceEffect = { readonly type: "send-response" } | { readonly type: "give-up" };

type AcceptanceStep = Step<AcceptanceState, AcceptanceEffect>;

/** Repeats a 2xx at T1, doubling up to T2, for 64*T1. */
export const acceptance = {
  step,
  deadline: (state) => (state.type === "over" ? Infinity : Math.min(state.resendAt, state.giveUpAt)),
  isOver: (state) => state.type === "over",
} satisfies Machine<AcceptanceState, AcceptanceInput, AcceptanceEffect>;

/** Sends the 2xx for the first time. */
export function startAcceptance(now: number): AcceptanceStep {
  return to(
    { type: "waiting", resendAt: now + T1_MS, intervalMs: T1_MS, giveUpAt: now + GIVE_UP_MS },
    { type: "send-response" },
  );
}

function step(state: AcceptanceState, input: AcceptanceInput | Tick, now: number): AcceptanceStep {
  if (state.type === "over") return to(state);
  if (input.type === "settled") return to({ type: "over" });
  if (now >= state.giveUpAt) return to({ type: "over" }, { type: "give-up" });
  if (now < state.resendAt) return to(state);
  const intervalMs = Math.min(2 * state.intervalMs, T2_MS);
  return to({ ...state, intervalMs, resendAt: now + intervalMs }, { type: "send-response" });
}

function to(state: AcceptanceState, ...effects: AcceptanceEffect[]): AcceptanceStep {
  return { state, effects };
}
