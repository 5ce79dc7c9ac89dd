import type { Machine, Step, Tick } from "#base";
import { GIVE_UP_MS, T1_MS, T2_MS } from "./timers.ts";

/** A response that the callee repeats until it is acknowledged: the 2xx of an INVITE (RFC 3261 13.3.1.4), or a reliable provisional one (RFC 3262 3). */
export type AcceptanceState =
  | {
      readonly type: "waiting";
      readonly resendAt: number;
      readonly intervalMs: number;
      readonly longestMs: number;
      readonly giveUpAt: number;
    }
  | { readonly type: "over" };

/** ACK or PRACK came, or the call ended otherwise. */
export interface AcceptanceInput {
  readonly type: "settled";
}

export type AcceptanceEffect = { readonly type: "send-response" } | { readonly type: "give-up" };

type AcceptanceStep = Step<AcceptanceState, AcceptanceEffect>;

/** Repeats the response at T1, doubling, for 64*T1. */
export const acceptance = {
  step,
  deadline: (state) => (state.type === "over" ? Infinity : Math.min(state.resendAt, state.giveUpAt)),
  isOver: (state) => state.type === "over",
} satisfies Machine<AcceptanceState, AcceptanceInput, AcceptanceEffect>;

/** Sends the response for the first time; its interval grows to `longestMs`, for a 2xx T2. */
export function startAcceptance(now: number, longestMs: number = T2_MS): AcceptanceStep {
  return to(
    { type: "waiting", resendAt: now + T1_MS, intervalMs: T1_MS, longestMs, giveUpAt: now + GIVE_UP_MS },
    { type: "send-response" },
  );
}

function step(state: AcceptanceState, input: AcceptanceInput | Tick, now: number): AcceptanceStep {
  if (state.type === "over") return to(state);
  if (input.type === "settled") return to({ type: "over" });
  if (now >= state.giveUpAt) return to({ type: "over" }, { type: "give-up" });
  if (now < state.resendAt) return to(state);
  const intervalMs = Math.min(2 * state.intervalMs, state.longestMs);
  return to({ ...state, intervalMs, resendAt: now + intervalMs }, { type: "send-response" });
}

function to(state: AcceptanceState, ...effects: AcceptanceEffect[]): AcceptanceStep {
  return { state, effects };
}
