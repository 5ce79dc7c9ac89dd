import type { Machine, Step, Tick } from "#base";

/** RFC 4028: a session that one side refreshes before its interval is over, and that both sides end when it is not. */
export type SessionTimerState =
  | { readonly type: "off" }
  /** Ours to refresh. `refreshAt` is Infinity while a refresh is out. */
  | { readonly type: "refreshing"; readonly refreshAt: number; readonly endAt: number }
  /** The peer's to refresh. */
  | { readonly type: "listening"; readonly endAt: number }
  | { readonly type: "over" };

export type SessionTimerInput =
  /** A 2xx set the interval anew, from now on. */
  | { readonly type: "agreed"; readonly intervalMs: number; readonly byUs: boolean }
  /** A 2xx without an interval: the session does not expire any more. */
  | { readonly type: "dropped" }
  /** Our refresh was refused, or could not be sent. */
  | { readonly type: "refresh-failed" }
  /** The call is over. */
  | { readonly type: "ended" };

export type SessionTimerEffect =
  | { readonly type: "refresh" }
  /** Nobody refreshed the session: BYE. */
  | { readonly type: "expire" };

type SessionTimerStep = Step<SessionTimerState, SessionTimerEffect>;

/** Shortest time between two refreshes of ours, whatever the peer asks for, ms. */
const shortestPauseMs = 5_000;
/** RFC 4028 10: how much before the end of the interval the call is ended, at most, ms. */
const longestMarginMs = 32_000;
/** A peer that promises refreshes more often than RFC 4028 4 allows is not held to it, ms. */
const shortestIntervalMs = 90_000;

/** Refreshes at half the interval, tries again when that fails, and expires a little before its end (RFC 4028 10). */
export const sessionTimer = {
  step,
  deadline,
  isOver: (state) => state.type === "over",
} satisfies Machine<SessionTimerState, SessionTimerInput, SessionTimerEffect>;

/** Without an interval yet. */
export function startSessionTimer(): SessionTimerStep {
  return to({ type: "off" });
}

function step(state: SessionTimerState, input: SessionTimerInput | Tick, now: number): SessionTimerStep {
  if (state.type === "over") return to(state);
  switch (input.type) {
    case "agreed":
      return to(agreed(input, now));
    case "dropped":
      return to({ type: "off" });
    case "refresh-failed":
      return to(triedInVain(state, now));
    case "ended":
      return to({ type: "over" });
    case "tick":
      return tick(state, now);
  }
}

function agreed(
  input: { readonly intervalMs: number; readonly byUs: boolean },
  now: number,
): SessionTimerState {
  if (!input.byUs)
    return { type: "listening", endAt: endOf(Math.max(input.intervalMs, shortestIntervalMs), now) };
  const intervalMs = Math.max(input.intervalMs, 2 * shortestPauseMs);
  return { type: "refreshing", refreshAt: now + intervalMs / 2, endAt: endOf(intervalMs, now) };
}

function endOf(intervalMs: number, now: number): number {
  return now + intervalMs - Math.min(longestMarginMs, intervalMs / 3);
}

function triedInVain(state: SessionTimerState, now: number): SessionTimerState {
  if (state.type !== "refreshing" || state.refreshAt !== Infinity) return state;
  return { ...state, refreshAt: now + Math.max((state.endAt - now) / 2, shortestPauseMs) };
}

function tick(state: SessionTimerState, now: number): SessionTimerStep {
  switch (state.type) {
    case "refreshing":
      if (now >= state.endAt && state.refreshAt > state.endAt)
        return to({ type: "over" }, { type: "expire" });
      if (now < state.refreshAt) return to(state);
      return to({ ...state, refreshAt: Infinity }, { type: "refresh" });
    case "listening":
      return now < state.endAt ? to(state) : to({ type: "over" }, { type: "expire" });
    case "off":
    case "over":
      return to(state);
  }
}

function deadline(state: SessionTimerState): number {
  switch (state.type) {
    case "refreshing":
      return Math.min(state.refreshAt, state.endAt);
    case "listening":
      return state.endAt;
    case "off":
    case "over":
      return Infinity;
  }
}

function to(state: SessionTimerState, ...effects: SessionTimerEffect[]): SessionTimerStep {
  return { state, effects };
}
