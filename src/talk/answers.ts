import type { DialogCue } from "./ports.ts";
import {
  andThen,
  become,
  onFloor,
  stay,
  type ConversationState,
  type Dialog,
  type Move,
} from "./conversation-state.ts";
import { dropQueue } from "./floor.ts";

export const noDialog: Dialog = {
  generation: 0,
  status: { type: "asked" },
  question: undefined,
  answer: undefined,
  silentRounds: 0,
  step: undefined,
};

/** Stops listening to the dialog model if it is still answering. */
export function dropDialog(state: ConversationState): Move {
  const { dialog } = state;
  if (dialog.status.type !== "thinking") return stay(state);
  const { generation } = dialog;
  const dropped: Dialog = { ...dialog, generation: generation + 1, status: { type: "asked" } };
  return stay({ ...state, dialog: dropped }, { type: "abort-dialog", generation });
}

/** Whether what the callee says or presses now answers something: the question was begun, or the words allow it. */
export function canAnswer(state: ConversationState): boolean {
  const { dialog, floor } = state;
  const [head] = floor.queue;
  if (head?.answerable === true && head.startMs !== undefined) return true;
  if (dialog.status.type !== "asked" || dialog.question === undefined) return false;
  const question = floor.queue.find((utterance) => utterance.id === dialog.question?.utteranceId);
  return question === undefined || question.startMs !== undefined;
}

/** Keeps an answer for the moment when the agent has stopped speaking. Words outdo a sound without words. */
export function noteAnswer(state: ConversationState, cue: DialogCue): Move {
  const { answer, status } = state.dialog;
  if (status.type === "ended") return stay(state);
  if (answer !== undefined && answer.type !== "wordless-speech") return stay(state);
  return andThen(dropUnsaid(state), (next) => become(next, { dialog: { ...next.dialog, answer: cue } }));
}

/** The callee takes the floor: what the agent has not begun to say is not said any more. */
export function dropUnsaid(state: ConversationState): Move {
  return andThen(dropDialog(state), (next) => onFloor(next, dropQueue(next.floor)));
}
