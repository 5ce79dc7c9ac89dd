import type { Machine, Step } from "#base";
import { digitAskedFor, type PhraseName } from "./phrases.ts";
import type { Act, CalleeRole } from "./roles.ts";

/**
 * The person (or machine) behind a sandbox number, as a pure machine: hears whether the agent speaks, reads its
 * text, and does what the role says. One list of acts runs at a time; a new moment is ignored while one runs,
 * except hanging up.
 */
export interface CalleeState {
  readonly type: "listening" | "over";
  readonly role: CalleeRole;
  readonly hasText: boolean;
  /** Acts still to be done; the first one is under way when `busyUntil` or `saying` says so. */
  readonly acts: readonly Act[];
  readonly busyUntil: number;
  readonly saying: boolean;
  /** Since when the agent speaks; undefined: it does not. */
  readonly agentSince: number | undefined;
  /** The agent has said something in this turn; sounds after a short gap belong to it. */
  readonly inTurn: boolean;
  /** When the agent stopped; undefined: nothing to answer. */
  readonly agentStoppedAt: number | undefined;
  readonly agentTurns: number;
  readonly interruptions: number;
  readonly interruptedThisTurn: boolean;
  /** The agent's text of this turn. */
  readonly agentText: string;
  readonly quietSince: number;
}

export type CalleeInput =
  | { readonly type: "agent-speech"; readonly active: boolean }
  | { readonly type: "agent-text"; readonly text: string }
  | { readonly type: "agent-digit"; readonly digit: string }
  /** What we said, or our beep, has been played. */
  | { readonly type: "said" };

export type CalleeEffect =
  | { readonly type: "say"; readonly phrase: PhraseName }
  | { readonly type: "beep" }
  | { readonly type: "press"; readonly digits: string }
  | { readonly type: "type"; readonly phrase: PhraseName }
  | { readonly type: "hang-up" };

/** The agent has finished when it was silent for so long; shorter gaps are between its sentences. */
const endOfTurnMs = 1_000;
/** Shorter sounds of the agent are no turn. */
const shortestTurnMs = 250;

type Next = Step<CalleeState, CalleeEffect>;

export const callee = {
  step,
  deadline,
  isOver: (state) => state.type === "over",
} satisfies Machine<CalleeState, CalleeInput, CalleeEffect>;

/** The call has just been answered. */
export function pickUp(role: CalleeRole, hasText: boolean, now: number): Next {
  return proceed(
    {
      type: "listening",
      role,
      hasText,
      acts: role.onAnswer,
      busyUntil: 0,
      saying: false,
      agentSince: undefined,
      inTurn: false,
      agentStoppedAt: undefined,
      agentTurns: 0,
      interruptions: 0,
      interruptedThisTurn: false,
      agentText: "",
      quietSince: now,
    },
    now,
  );
}

function step(state: CalleeState, input: CalleeInput | { type: "tick" }, now: number): Next {
  if (state.type === "over") return { state, effects: [] };
  switch (input.type) {
    case "agent-speech":
      return proceed(hearAgent(state, input.active, now), now);
    case "agent-text":
      return proceed({ ...state, agentText: state.agentText + input.text, quietSince: now }, now);
    case "agent-digit":
      return state.role.onDigit === undefined
        ? proceed(state, now)
        : pickUp(state.role.onDigit, state.hasText, now);
    case "said":
      return proceed({ ...state, saying: false, quietSince: now }, now);
    case "tick":
      return proceed(moments(state, now), now);
  }
}

function deadline(state: CalleeState): number {
  if (state.saying) return Infinity;
  if (state.acts.length > 0) return state.busyUntil;
  return Math.min(interruptAt(state), turnOverAt(state), idleAt(state));
}

function hearAgent(state: CalleeState, active: boolean, now: number): CalleeState {
  if (active) {
    if (state.agentSince !== undefined) return state;
    return {
      ...state,
      agentSince: now,
      inTurn: state.inTurn || state.agentStoppedAt !== undefined,
      agentStoppedAt: undefined,
      quietSince: now,
    };
  }
  if (state.agentSince === undefined) return state;
  const spoke = state.inTurn || now - state.agentSince >= shortestTurnMs;
  return {
    ...state,
    agentSince: undefined,
    inTurn: spoke,
    agentStoppedAt: spoke ? now : undefined,
    quietSince: now,
  };
}

/** Which moment has come, when nothing is under way. */
function moments(state: CalleeState, now: number): CalleeState {
  if (state.saying || state.acts.length > 0) return state;
  const { role } = state;
  if (role.onAgentSpeaking !== undefined && now >= interruptAt(state)) {
    return {
      ...state,
      acts: role.onAgentSpeaking.acts,
      interruptions: state.interruptions + 1,
      interruptedThisTurn: true,
    };
  }
  if (now >= turnOverAt(state)) {
    const answers = role.onAgentDone ?? [];
    const acts = answers[Math.min(state.agentTurns, answers.length - 1)] ?? [];
    return {
      ...state,
      acts,
      agentTurns: state.agentTurns + 1,
      inTurn: false,
      agentStoppedAt: undefined,
      interruptedThisTurn: false,
    };
  }
  return role.onIdle !== undefined && now >= idleAt(state)
    ? { ...state, acts: role.onIdle.acts, quietSince: now }
    : state;
}

function interruptAt(state: CalleeState): number {
  const moment = state.role.onAgentSpeaking;
  if (moment === undefined || state.agentSince === undefined || state.interruptedThisTurn) return Infinity;
  return state.interruptions < moment.atMost ? state.agentSince + moment.afterMs : Infinity;
}

function turnOverAt(state: CalleeState): number {
  return state.agentStoppedAt === undefined ? Infinity : state.agentStoppedAt + endOfTurnMs;
}

function idleAt(state: CalleeState): number {
  return state.role.onIdle === undefined || state.agentSince !== undefined
    ? Infinity
    : state.quietSince + state.role.onIdle.afterMs;
}

/** Does the acts whose time has come. */
function proceed(from: CalleeState, now: number): Next {
  const effects: CalleeEffect[] = [];
  let state = from;
  while (state.type === "listening" && !state.saying && state.acts.length > 0 && now >= state.busyUntil) {
    const [act, ...acts] = state.acts;
    if (act === undefined) break;
    state = perform({ ...state, acts }, act, now, effects);
  }
  return { state, effects };
}

function perform(state: CalleeState, act: Act, now: number, effects: CalleeEffect[]): CalleeState {
  switch (act.type) {
    case "wait":
      // Kept as a list of its own so that a list that ends with a wait is under way until the wait is over.
      return { ...state, busyUntil: now + act.ms };
    case "say":
      effects.push({ type: "say", phrase: act.phrase });
      return { ...state, saying: true };
    case "beep":
      effects.push({ type: "beep" });
      return { ...state, saying: true };
    case "type":
      if (state.hasText) effects.push({ type: "type", phrase: act.phrase });
      return state;
    case "press":
      effects.push({ type: "press", digits: act.digits });
      return state;
    case "agree":
      effects.push(agreement(state));
      return { ...state, agentText: "" };
    case "hang-up":
      effects.push({ type: "hang-up" });
      return { ...state, type: "over", acts: [] };
  }
}

function agreement(state: CalleeState): CalleeEffect {
  if (!state.hasText) return { type: "press", digits: "1" };
  const asked = digitAskedFor(state.agentText);
  return asked === undefined ? { type: "type", phrase: "yes" } : { type: "press", digits: asked };
}
