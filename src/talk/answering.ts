import { dropUnsaid } from "./answers.ts";
import {
  andThen,
  become,
  onFloor,
  publish,
  speak,
  stay,
  type ConversationState,
  type Move,
} from "./conversation-state.ts";
import { close, finish } from "./ending.ts";
import { isIdle } from "./floor.ts";
import { cut } from "./floor-moves.ts";
import {
  beepWithinMs,
  isCertain,
  screeningDueMs,
  settleSpeech,
  weigh,
  type Evidence,
  type Screening,
} from "./screening.ts";
import { substitute } from "#domain";

/*
 * What follows from who answered. The greeting never waits for a verdict; a voicemail stops the dialog; nobody is
 * hung up on for the length of their speech alone.
 */

const beepPatienceMs = 25_000;
const quietMs = 2000;

/** Weighs a piece of evidence and draws the consequences. */
export function screen(state: ConversationState, evidence: Evidence, at: number): Move {
  const beeped = evidence.type === "beep" && state.screening.verdict?.by !== "beep";
  return concludeScreening(state, weigh(state.screening, evidence), at, beeped);
}

export function screeningWatchMs(state: ConversationState): number {
  return hasEnded(state) ? Infinity : screeningDueMs(state.screening);
}

export function screenByTime(state: ConversationState, at: number): Move {
  return concludeScreening(state, settleSpeech(state.screening, at), at, false);
}

/** When waiting for a beep ends: the far end has been quiet for a while, or patience is over. */
export function voicemailDueMs(state: ConversationState): number {
  const { ears, floor, phase } = state;
  if (phase.type !== "voicemail-waiting") return Infinity;
  if (ears.voice.active || floor.queue[0]?.startMs !== undefined) return phase.untilMs;
  return Math.min(phase.untilMs, Math.max(ears.voice.sinceMs, floor.voice.sinceMs) + quietMs);
}

/** No beep came. A message is left all the same; without one, a mere suspicion gives the dialog its turn again. */
export function stopWaitingForBeep(state: ConversationState, at: number): Move {
  const { verdict } = state.screening;
  if (leavesMessage(state)) return leaveMessage(state, at);
  return verdict !== undefined && isCertain(verdict)
    ? close(state, "agent", at)
    : become(state, { phase: { type: "talking" } });
}

/** The message was spoken to its end. */
export function noteMessageLeft(state: ConversationState, at: number): Move | undefined {
  if (state.phase.type !== "voicemail-speaking" || !isIdle(state.floor)) return undefined;
  return andThen(
    become(state, { voicemailMessageLeft: true }),
    (next) => publish(next, { type: "voicemail-message-left", atMs: at }),
    (next) => close(next, "agent", at),
  );
}

/** Tones matter only until it is clear who answered. */
export function switchToneDetection(state: ConversationState, at: number): Move | undefined {
  const { phase } = state;
  const on = (phase.type === "talking" && at < beepWithinMs) || phase.type === "voicemail-waiting";
  if (on === state.detectsTones) return undefined;
  return stay({ ...state, detectsTones: on }, { type: "detect-tones", on });
}

export function tonesDueMs(state: ConversationState): number {
  return state.detectsTones && state.phase.type === "talking" ? beepWithinMs : Infinity;
}

function concludeScreening(
  state: ConversationState,
  screening: Screening,
  at: number,
  beeped: boolean,
): Move {
  const { verdict } = screening;
  const before = state.screening.verdict;
  const weighed = become(state, { screening });
  if (verdict === undefined || (verdict.kind === before?.kind && verdict.by === before.by)) return weighed;
  return andThen(
    weighed,
    (next) => publish(next, { type: "verdict-reached", verdict }),
    (next) => {
      if (hasEnded(next) || next.phase.type === "voicemail-speaking") return stay(next);
      if (verdict.kind === "fax") return finish(next, "agent", at);
      if (verdict.kind === "person" && next.phase.type === "voicemail-waiting") {
        return become(next, { phase: { type: "talking" } });
      }
      if (verdict.kind !== "voicemail") return stay(next);
      return beeped ? answerBeep(next, at) : waitForBeep(next, at);
    },
  );
}

function waitForBeep(state: ConversationState, at: number): Move {
  return state.phase.type === "talking"
    ? become(state, { phase: { type: "voicemail-waiting", untilMs: at + beepPatienceMs } })
    : stay(state);
}

function answerBeep(state: ConversationState, at: number): Move {
  return leavesMessage(state) ? leaveMessage(state, at) : close(state, "agent", at);
}

function leaveMessage(state: ConversationState, at: number): Move {
  const message = substitute(state.plan.settings.voicemail.message ?? "", state.plan.params);
  return andThen(
    dropUnsaid(state),
    (next) => onFloor(next, cut(next.floor, at)),
    (next) => speak(next, { role: "voicemail-message", text: message }),
    (next) => become(next, { phase: { type: "voicemail-speaking" } }),
  );
}

function leavesMessage(state: ConversationState): boolean {
  const { action, message } = state.plan.settings.voicemail;
  return action === "leave-message" && message !== undefined;
}

function hasEnded(state: ConversationState): boolean {
  return state.phase.type === "closing" || state.phase.type === "over";
}
