import { dropDialog } from "./answers.ts";
import {
  andThen,
  become,
  phrasesFor,
  publish,
  speak,
  stay,
  type ConversationState,
  type Move,
} from "./conversation-state.ts";
import { apologise } from "./ending.ts";
import { isIdle } from "./floor.ts";

/*
 * A dialog model that fails, or does not answer in time: it is asked once more behind a phrase that covers the pause;
 * when that fails too the call is closed with an apology.
 */

const patienceMs = 15_000;
/** For the first token of a model that can be asked again. */
const firstTokenMs = 4000;
/** A provider that refused (429) is not asked again at once. */
const pauseMs = 1000;
const mostTries = 1;

/** When a dialog model that does not answer is given up. */
export function thinkingDueMs(state: ConversationState): number {
  const { dialog, floor, phase, revocable } = state;
  if (phase.type !== "talking" || dialog.status.type !== "thinking" || !isIdle(floor)) return Infinity;
  return Math.max(dialog.status.sinceMs, floor.voice.sinceMs) + (revocable ? firstTokenMs : patienceMs);
}

export function noteThinkingTooLong(state: ConversationState, at: number): Move {
  return setBack(state, "the dialog model did not answer in time", at, 0);
}

/** The answer to the present question will not come, or not go on. */
export function setBack(state: ConversationState, reason: string, at: number, waitMs = pauseMs): Move {
  const { status } = state.dialog;
  if (!state.revocable || status.type !== "thinking") return apologise(state, reason, at);
  if (status.spoke) return andThen(dropDialog(state), leaveFloorToCallee);
  if (status.tries >= mostTries) return apologise(state, reason, at);
  const untilMs = state.answeredAt === undefined ? 0 : at + waitMs;
  const recovering = { type: "recovering", untilMs, cue: status.cue, tries: status.tries + 1 } as const;
  return andThen(
    dropDialog(state),
    (next) => become(next, { dialog: { ...next.dialog, status: recovering } }),
    (next) => publish(next, { type: "dialog-asked-again", atMs: at, reason }),
    (next) =>
      next.phase.type === "talking"
        ? speak(next, { role: "prompt", text: phrasesFor(next).oneMoment })
        : stay(next),
  );
}

/** What was said of a broken answer may be answered. */
function leaveFloorToCallee(state: ConversationState): Move {
  return become(state, { dialog: { ...state.dialog, question: { utteranceId: undefined, digits: [] } } });
}
