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
import { plainWords } from "./phrases.ts";
import type { ReplyClock } from "./timing.ts";

export const noDialog: Dialog = {
  generation: 0,
  status: { type: "asked" },
  question: undefined,
  answer: undefined,
  silentRounds: 0,
  step: undefined,
  draft: undefined,
  drafts: 0,
  notes: {},
};

/** Stops listening to the dialog model if it is still answering, or about to be asked again. */
export function dropDialog(state: ConversationState): Move {
  const { dialog } = state;
  const { generation, status } = dialog;
  if (status.type === "recovering")
    return become(state, { dialog: { ...dialog, status: { type: "asked" } } });
  if (status.type !== "thinking") return stay(state);
  const dropped: Dialog = { ...dialog, generation: generation + 1, status: { type: "asked" } };
  return stay({ ...state, dialog: dropped }, { type: "abort-dialog", generation });
}

/** Forgets an answer that was asked for ahead. */
export function dropDraft(state: ConversationState): Move {
  const { dialog } = state;
  const { draft } = dialog;
  if (draft === undefined) return stay(state);
  const { generation } = draft;
  return stay(
    { ...state, dialog: { ...dialog, generation, draft: undefined } },
    { type: "abort-dialog", generation },
  );
}

/** Whether an answer to just these words was asked for ahead, and nothing but them was said since. */
export function isDraftOf({ dialog, turns }: ConversationState, cue: DialogCue): boolean {
  const { draft } = dialog;
  if (draft === undefined || cue.type !== "answer" || turns.length !== draft.turns + 1) return false;
  return cue.via === "voice" && plainWords(cue.text) === plainWords(draft.text);
}

/** Whether what the callee says or presses now answers something: the question was begun, or the words allow it. */
export function canAnswer(state: ConversationState): boolean {
  const { dialog, floor } = state;
  const [head] = floor.queue;
  if (head?.answerable === true && head.startMs !== undefined) return true;
  if (mayTakeBack(state)) return true;
  if (dialog.status.type !== "asked" || dialog.question === undefined) return false;
  const question = floor.queue.find((utterance) => utterance.id === dialog.question?.utteranceId);
  return question === undefined || question.startMs !== undefined;
}

/** Whether the dialog is at an answer which the callee's going on would make an answer to half of what they say. */
export function mayTakeBack({ dialog, revocable }: ConversationState): boolean {
  const { status } = dialog;
  return (
    revocable && (status.type === "thinking" || status.type === "recovering") && status.cue.type !== "start"
  );
}

/** Keeps an answer for the moment when the agent has stopped speaking. Words outdo a sound without words. */
export function noteAnswer(state: ConversationState, cue: DialogCue, clock?: ReplyClock): Move {
  const { answer, status } = state.dialog;
  if (status.type === "ended") return stay(state);
  if (answer !== undefined && answer.type !== "wordless-speech") return stay(state);
  return andThen(dropUnsaid(state), (next) =>
    become(next, { dialog: { ...next.dialog, answer: cue }, replyClock: clock }),
  );
}

/** The callee takes the floor: what the agent has not begun to say is not said any more. */
export function dropUnsaid(state: ConversationState): Move {
  return andThen(dropDialog(state), (next) => onFloor(next, dropQueue(next.floor)));
}
