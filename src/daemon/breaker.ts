import type { Machine, Step } from "#base";

/*
 * Whether a trunk is worth a call. What a trunk is to blame for counts against it; what the called person or
 * the number is to blame for speaks for it: something was there to say so.
 *
 *   closed ──too many failures──▶ paused ──its time is over──▶ trial ──a call goes well──▶ closed
 *     │                             ▲                            │
 *     │                             └───── it fails: twice as long ┘
 *     └──refused us──▶ held ──settings changed or a test passed──▶ closed
 */
export type BreakerState =
  | { readonly type: "closed"; readonly recent: readonly Sample[] }
  | { readonly type: "paused"; readonly until: number; readonly pauseMs: number; readonly why: string }
  /** One call at a time, until one goes well. */
  | { readonly type: "trial"; readonly calling: boolean; readonly pauseMs: number; readonly why: string }
  | { readonly type: "held"; readonly why: string };

interface Sample {
  readonly at: number;
  readonly failed: boolean;
  readonly forbidden: boolean;
}

export type BreakerInput =
  | { readonly type: "call-started" }
  /** A call is getting through: its end may be long in coming. */
  | { readonly type: "call-went" }
  /**
   * `ok`: the trunk did its part; `failed`: it is to blame; `forbidden`: it would not do this call, or none;
   * `refused`: it does not accept us at all; `unsaid`: we ended it before it could show.
   */
  | {
      readonly type: "call-ended";
      readonly how: "ok" | "failed" | "forbidden" | "refused" | "unsaid";
      /** One sentence. */
      readonly detail: string;
    }
  /** Somebody looked after it. */
  | { readonly type: "mended" };

export type BreakerEffect =
  | { readonly type: "pause"; readonly until: number; readonly why: string }
  | { readonly type: "hold"; readonly why: string }
  /** Calls may be tried again: one, or as many as there are. */
  | { readonly type: "resume"; readonly trial: boolean };

/** Of so many calls so many failures are too many, whatever time they took. */
const lastCalls = 20;
const tooManyFailures = 5;
/** In this time half of them is too many, when there were a few. */
const windowMs = 120_000;
const fewestCalls = 4;
/** So many in a row are not about the numbers called. */
const forbiddenInARow = 3;
const firstPauseMs = 60_000;
const longestPauseMs = 15 * 60_000;

type Next = Step<BreakerState, BreakerEffect>;

export const breaker = {
  step,
  deadline: (state) => (state.type === "paused" ? state.until : Infinity),
  isOver: () => false,
} satisfies Machine<BreakerState, BreakerInput, BreakerEffect>;

/** A trunk nothing bad is known of. */
export function startBreaker(): Next {
  return { state: { type: "closed", recent: [] }, effects: [] };
}

/** Why no call may take the trunk now, and until when; undefined when one may. */
export function breakerFault(
  state: BreakerState,
): { readonly why: string; readonly until: number | null; readonly held: boolean } | undefined {
  switch (state.type) {
    case "closed":
      return undefined;
    case "paused":
      return { why: state.why, until: state.until, held: false };
    case "trial":
      return state.calling ? { why: `${state.why}; one call tries it`, until: null, held: false } : undefined;
    case "held":
      return { why: state.why, until: null, held: true };
  }
}

function step(state: BreakerState, input: BreakerInput | { readonly type: "tick" }, now: number): Next {
  switch (input.type) {
    case "tick":
      if (state.type !== "paused" || now < state.until) return to(state);
      return to(
        { type: "trial", calling: false, pauseMs: state.pauseMs, why: state.why },
        { type: "resume", trial: true },
      );
    case "mended":
      return state.type === "closed" && state.recent.length === 0
        ? to(state)
        : to({ type: "closed", recent: [] }, ...(state.type === "closed" ? [] : [resumed]));
    case "call-started":
      return to(state.type === "trial" ? { ...state, calling: true } : state);
    case "call-went":
      return state.type === "trial" ? to({ type: "closed", recent: [] }, resumed) : to(state);
    case "call-ended":
      return ended(state, input, now);
  }
}

const resumed: BreakerEffect = { type: "resume", trial: false };

function ended(state: BreakerState, call: BreakerInput & { readonly type: "call-ended" }, now: number): Next {
  if (state.type === "held") return to(state);
  if (call.how === "refused") return hold(call.detail);
  switch (state.type) {
    case "closed":
      return call.how === "unsaid" ? to(state) : counted(state.recent, call, now);
    case "paused": // Begun before the pause; it changes nothing.
      return to(state);
    case "trial":
      if (call.how === "unsaid") return to({ ...state, calling: false });
      if (call.how === "ok") return to({ type: "closed", recent: [] }, resumed);
      if (call.how === "forbidden") return hold(call.detail);
      return pause(Math.min(longestPauseMs, state.pauseMs * 2), call.detail, now);
  }
}

function counted(
  before: readonly Sample[],
  call: BreakerInput & { readonly type: "call-ended" },
  now: number,
): Next {
  const forbidden = call.how === "forbidden";
  const failed = forbidden || call.how === "failed";
  const recent = [...before, { at: now, failed, forbidden }].slice(-lastCalls);
  const last = recent.slice(-forbiddenInARow);
  if (last.length === forbiddenInARow && last.every((sample) => sample.forbidden)) return hold(call.detail);
  const failures = recent.filter((sample) => sample.failed).length;
  const lately = recent.filter((sample) => sample.at > now - windowMs);
  const failedLately = lately.filter((sample) => sample.failed).length;
  if (!failed) return to({ type: "closed", recent });
  if (failures >= tooManyFailures) {
    return pause(firstPauseMs, `${failures} of the last ${recent.length} calls failed: ${call.detail}`, now);
  }
  if (lately.length >= fewestCalls && failedLately * 2 >= lately.length) {
    const text = `${failedLately} of ${lately.length} calls in two minutes failed: ${call.detail}`;
    return pause(firstPauseMs, text, now);
  }
  return to({ type: "closed", recent });
}

function hold(why: string): Next {
  return to({ type: "held", why }, { type: "hold", why });
}

function pause(pauseMs: number, why: string, now: number): Next {
  const until = now + pauseMs;
  return to({ type: "paused", until, pauseMs, why }, { type: "pause", until, why });
}

const to = (state: BreakerState, ...effects: BreakerEffect[]): Next => ({ state, effects });
