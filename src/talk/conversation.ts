import type { Machine, Step } from "#base";
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
import {
  andThen,
  become,
  playbookText,
  speak,
  stay,
  type ConversationState,
  type Move,
} from "./conversation-state.ts";
import {
  askDialog,
  noteSilence,
  noteThinkingTooLong,
  passAnswerOn,
  silenceDueMs,
  thinkingDueMs,
} from "./dialog-turns.ts";
import { keysDueMs, noEars, typedDueMs, utteranceDueMs, type Hearing } from "./ears.ts";
import { close, closingDueMs, finish, sayGoodbye } from "./ending.ts";
import { isIdle, quietFloor } from "./floor.ts";
import type { ConversationPlan } from "./plan.ts";
import type { ConversationEffect, ConversationInput } from "./protocol.ts";
import { receive } from "./receive.ts";
import { unscreened } from "./screening.ts";
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
 * transcriber, whose final words come so long after the speech at the latest.
 */
export function startConversation(
  plan: ConversationPlan,
  ears: { readonly finalWithinMs?: number } = {},
): Step<ConversationState, ConversationEffect> {
  const hearing: Hearing = { language: plan.language, finalWithinMs: ears.finalWithinMs };
  const state: ConversationState = {
    plan,
    hearing,
    phase: { type: "ringing" },
    answeredAt: undefined,
    rtt: false,
    detectsTones: false,
    floor: quietFloor,
    ears: noEars,
    screening: unscreened,
    dialog: noDialog,
    turns: [],
    firstWordMs: undefined,
    voicemailMessageLeft: false,
    optedOut: false,
    trouble: undefined,
  };
  const { opening } = plan.settings;
  return andThen(
    stay(state),
    (next) =>
      opening === undefined
        ? stay(next)
        : speak(next, { role: "opening", text: playbookText(next, opening, "goodbye") }),
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
  { dueMs: (state) => keysDueMs(state.ears, state.dialog.question?.digits ?? []), act: concludeKeys },
  { dueMs: (state) => typedDueMs(state.ears), act: concludeTyped },
  { dueMs: silenceDueMs, act: noteSilence },
  { dueMs: thinkingDueMs, act: noteThinkingTooLong },
  { dueMs: closingDueMs, act: hangUp },
];

/** Does what has become possible and lets happen what is due, the most overdue first, until neither is left. */
function catchUp(state: ConversationState, at: number): Move {
  if (state.answeredAt === undefined) return stay(state);
  let move = settle(state, at);
  for (let due = mostOverdue(move.state, at); due !== undefined; due = mostOverdue(move.state, at)) {
    const { act } = due;
    move = andThen(
      move,
      (next) => act(next, at),
      (next) => settle(next, at),
    );
  }
  return move;
}

function mostOverdue(state: ConversationState, at: number): Watch | undefined {
  if (state.phase.type === "over") return undefined;
  const due = watches
    .map((watch) => ({ watch, dueMs: watch.dueMs(state) }))
    .filter(({ dueMs }) => dueMs <= at);
  return due.toSorted((a, b) => a.dueMs - b.dueMs)[0]?.watch;
}

type Rule = (state: ConversationState, at: number) => Move | undefined;

const rules: readonly Rule[] = [
  switchToneDetection,
  speakOn,
  noteMessageLeft,
  passAnswerOn,
  closeWhenAllIsSaid,
];

/** Does what has become possible, until nothing more is. */
function settle(state: ConversationState, at: number): Move {
  let move = stay(state);
  for (let next = firstMove(move.state, at); next !== undefined; next = firstMove(move.state, at)) {
    const done = next;
    move = andThen(move, () => done);
  }
  return move;
}

function firstMove(state: ConversationState, at: number): Move | undefined {
  if (state.phase.type === "over") return undefined;
  for (const rule of rules) {
    const move = rule(state, at);
    if (move !== undefined) return move;
  }
  return undefined;
}

function closeWhenAllIsSaid(state: ConversationState, at: number): Move | undefined {
  const { dialog, floor, phase } = state;
  if (phase.type !== "talking" || dialog.status.type !== "ended" || !isIdle(floor)) return undefined;
  return close(state, "agent", at);
}

function maxLengthDueMs(state: ConversationState): number {
  return state.phase.type === "closing" ? Infinity : state.plan.settings.maxCallMs;
}

function hangUp(state: ConversationState, at: number): Move {
  return state.phase.type === "closing" ? finish(state, state.phase.endedBy, at) : become(state, {});
}

/** Whole milliseconds: a clock's fractions never leave a deadline a hair in the future. */
function sinceAnswer(state: ConversationState, now: number): number {
  return state.answeredAt === undefined ? 0 : Math.max(0, Math.floor(now - state.answeredAt + 0.01));
}
