import type { Machine, Step } from "#base";
import { substitute } from "#domain";
import {
  noteMessageLeft,
  screenByTime,
  screeningWatchMs,
  stopWaitingForBeep,
  switchToneDetection,
  tonesDueMs,
  voicemailDueMs,
} from "./answering.ts";
import { noDialog } from "./answers.ts";
import { bargeIn, bargeInDueMs } from "./barge-in.ts";
import { concludeKeys, concludeTyped, concludeUtterance } from "./callee-turns.ts";
import { andThen, speak, stay, type ConversationState, type Move } from "./conversation-state.ts";
import {
  askAgain,
  askAgainDueMs,
  askDialog,
  noteSilence,
  passAnswerOn,
  silenceDueMs,
} from "./dialog-turns.ts";
import { thinkAhead } from "./drafts.ts";
import { keysDueMs, noEars, typedDueMs, utteranceDueMs, type EarsFacts, type Hearing } from "./ears.ts";
import { close, closingDueMs, finish, sayGoodbye } from "./ending.ts";
import { isIdle, quietFloor } from "./floor.ts";
import type { ConversationPlan } from "./plan.ts";
import type { ConversationEffect, ConversationInput } from "./protocol.ts";
import { receive } from "./receive.ts";
import { unscreened } from "./screening.ts";
import { noteThinkingTooLong, thinkingDueMs } from "./setback.ts";
import { mendVoice, speakOn, voiceDueMs } from "./voice-rules.ts";

export type { ConversationState } from "./conversation-state.ts";

/**
 * One call's conversation, from the first ring to the last word. A step takes in what happened, lets happen what is
 * due by now, and does everything that has become possible.
 */
export const conversation: Machine<ConversationState, ConversationInput, ConversationEffect> = {
  step: (state, input, now) => {
    const at = sinceAnswer(state, now);
    return andThen(
      stay(state),
      (next) => catchUp(next, at),
      (next) => (input.type === "tick" ? stay(next) : receive(next, input, now, at)),
      (next) => catchUp(next, sinceAnswer(next, now)),
    );
  },
  deadline: (state) => {
    if (state.answeredAt === undefined) return Infinity;
    return state.answeredAt + Math.min(...watches.map((watch) => watch.dueMs(state)));
  },
  isOver: (state) => state.phase.type === "over",
};

/**
 * The conversation while the phone still rings: its first words are prepared at once. `finalWithinMs`: there is a
 * transcriber, whose final words come so long after the speech at the latest. `revocable`: see DialogModel.
 */
export function startConversation(
  plan: ConversationPlan,
  facts: EarsFacts & { readonly revocable?: boolean } = {},
): Step<ConversationState, ConversationEffect> {
  const { finalWithinMs, endsTurns = false, streaming = true, revocable = false } = facts;
  const hearing: Hearing = { language: plan.language, finalWithinMs, endsTurns, dreams: !streaming };
  const state: ConversationState = {
    plan,
    hearing,
    deaf: false,
    revocable,
    phase: { type: "ringing" },
    answeredAt: undefined,
    rtt: false,
    detectsTones: false,
    floor: quietFloor,
    ears: noEars,
    screening: unscreened,
    dialog: noDialog,
    turns: [],
    replyClock: undefined,
    timings: [],
    firstWordMs: undefined,
    voicemailMessageLeft: false,
    told: false,
    optedOut: false,
    trouble: undefined,
  };
  const { opening } = plan.settings;
  return andThen(
    stay(state),
    (next) =>
      opening === undefined
        ? stay(next)
        : speak(next, { role: "opening", text: substitute(opening, plan.params) }),
    (next) => askDialog(next, { type: "start" }, 0),
  );
}

/** Something that time alone brings about: when it is due (ms since the answer), and what happens then. */
interface Watch {
  readonly dueMs: (state: ConversationState) => number;
  /** Moves its own due time on. */
  readonly act: (state: ConversationState, at: number) => Move;
}

const watches: readonly Watch[] = [
  { dueMs: maxLengthDueMs, act: (state, at) => sayGoodbye(state, "limit", at) },
  { dueMs: screeningWatchMs, act: screenByTime },
  { dueMs: voicemailDueMs, act: stopWaitingForBeep },
  { dueMs: tonesDueMs, act: (state, at) => switchToneDetection(state, at) ?? stay(state) },
  { dueMs: voiceDueMs, act: mendVoice },
  { dueMs: bargeInDueMs, act: bargeIn },
  { dueMs: (state) => utteranceDueMs(state.ears, state.hearing), act: concludeUtterance },
  {
    dueMs: (state) => keysDueMs(state.ears, state.dialog.question?.digits ?? [], state.revocable),
    act: concludeKeys,
  },
  { dueMs: (state) => typedDueMs(state.ears), act: concludeTyped },
  { dueMs: silenceDueMs, act: noteSilence },
  { dueMs: thinkingDueMs, act: noteThinkingTooLong },
  { dueMs: askAgainDueMs, act: askAgain },
  { dueMs: closingDueMs, act: hangUp },
];

/** Something that may have become possible; undefined: not now. */
type Rule = (state: ConversationState, at: number) => Move | undefined;

const rules: readonly Rule[] = [
  switchToneDetection,
  speakOn,
  noteMessageLeft,
  passAnswerOn,
  thinkAhead,
  closeWhenAllIsSaid,
];

const maxRounds = 1000;

/** Does what has become possible and lets happen what is due, the most overdue first, until neither is left. */
function catchUp(state: ConversationState, at: number): Move {
  let move = stay(state);
  for (let round = 0; round < maxRounds; round++) {
    const next = nextMove(move.state, at);
    if (next === undefined) return move;
    move = andThen(move, () => next);
  }
  // A rule that does not see its own effect is a bug, and must not hold up the other calls of the thread.
  throw new Error(
    `The conversation does not settle in phase ${move.state.phase.type}, ${at} ms after the answer.`,
  );
}

function nextMove(state: ConversationState, at: number): Move | undefined {
  if (state.answeredAt === undefined || state.phase.type === "over") return undefined;
  for (const rule of rules) {
    const move = rule(state, at);
    if (move !== undefined) return move;
  }
  return mostOverdue(state, at)?.act(state, at);
}

function mostOverdue(state: ConversationState, at: number): Watch | undefined {
  const due = watches
    .map((watch) => ({ watch, dueMs: watch.dueMs(state) }))
    .filter(({ dueMs }) => dueMs <= at);
  return due.toSorted((a, b) => a.dueMs - b.dueMs)[0]?.watch;
}

function closeWhenAllIsSaid(state: ConversationState, at: number): Move | undefined {
  const { dialog, floor, phase } = state;
  if (phase.type !== "talking" || dialog.status.type !== "ended" || !isIdle(floor)) return undefined;
  return close({ ...state, told: true }, "agent", at);
}

function maxLengthDueMs(state: ConversationState): number {
  return state.phase.type === "closing" ? Infinity : state.plan.settings.maxCallMs;
}

function hangUp(state: ConversationState, at: number): Move {
  return state.phase.type === "closing" ? finish(state, state.phase.endedBy, at) : stay(state);
}

/** Whole milliseconds: a clock's fractions never leave a deadline a hair in the future. */
function sinceAnswer(state: ConversationState, now: number): number {
  return state.answeredAt === undefined ? 0 : Math.max(0, Math.floor(now - state.answeredAt + 0.01));
}
