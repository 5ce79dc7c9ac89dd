import type { DialogAct, DialogCue } from "./ports.ts";
import {
  andThen,
  become,
  playbookText,
  speak,
  stay,
  type ConversationState,
  type Dialog,
  type Move,
} from "./conversation-state.ts";
import { isBusy } from "./ears.ts";
import { dropDialog } from "./answers.ts";
import { apologise, noteResult, sayGoodbye } from "./ending.ts";
import { isIdle } from "./floor.ts";

const patienceMs = 15_000;

/** Asks the dialog model what to do next. An answer it was still giving is no longer wanted. */
export function askDialog(state: ConversationState, cue: DialogCue, at: number): Move {
  return andThen(dropDialog(state), (next) => {
    const generation = next.dialog.generation + 1;
    const status = { type: "thinking", sinceMs: at, spoke: false } as const;
    const dialog: Dialog = { ...next.dialog, generation, status, answer: undefined };
    return stay({ ...next, dialog }, { type: "ask-dialog", generation, turn: { cue, turns: next.turns } });
  });
}

/** Takes one act of the dialog's answer. */
export function takeAct(state: ConversationState, generation: number, act: DialogAct, at: number): Move {
  const { dialog } = state;
  if (generation !== dialog.generation || dialog.status.type !== "thinking") return stay(state);
  const spoke: Dialog = { ...dialog, status: { ...dialog.status, spoke: true } };
  switch (act.type) {
    case "say":
      return andThen(become(state, { dialog: spoke }), (next) =>
        speak(next, { role: "say", text: act.text, step: act.step, answerable: act.answerable ?? false }),
      );
    case "press":
      return speak(state, { role: "press", text: "", digits: act.digits });
    case "ask":
      return takeQuestion(state, act);
    case "pass":
      return passOver(state, at);
    case "end":
      return andThen(noteResult(state, act.result, at), (next) =>
        dialog.status.type === "thinking" && dialog.status.spoke
          ? stay(next)
          : speak(next, { role: "goodbye", text: playbookText(next, next.plan.settings.goodbye, "goodbye") }),
      );
  }
}

/** The dialog model gave up on this turn. */
export function dialogFailed(state: ConversationState, generation: number, reason: string, at: number): Move {
  const { dialog } = state;
  if (generation !== dialog.generation || dialog.status.type !== "thinking") return stay(state);
  return apologise(state, reason, at);
}

/** Gives the dialog the answer it waits for. */
export function passAnswerOn(state: ConversationState, at: number): Move | undefined {
  const { dialog, floor, phase } = state;
  if (phase.type !== "talking" || dialog.status.type !== "asked" || dialog.answer === undefined)
    return undefined;
  return isIdle(floor) ? askDialog(state, dialog.answer, at) : undefined;
}

/** When nobody has said anything for so long that the dialog must know. */
export function silenceDueMs(state: ConversationState): number {
  const { dialog, ears, floor, phase, plan } = state;
  if (phase.type !== "talking" || dialog.status.type !== "asked" || dialog.answer !== undefined)
    return Infinity;
  if (!isIdle(floor) || isBusy(ears)) return Infinity;
  return (
    Math.max(floor.voice.sinceMs, ears.lastSignMs, ears.voice.sinceMs) + plan.settings.silence.promptAfterMs
  );
}

export function noteSilence(state: ConversationState, at: number): Move {
  const round = state.dialog.silentRounds + 1;
  const dialog = { ...state.dialog, silentRounds: round };
  return askDialog({ ...state, dialog }, { type: "silence", round }, at);
}

/** When a dialog model that does not answer is given up. */
export function thinkingDueMs(state: ConversationState): number {
  const { dialog, floor, phase } = state;
  if (phase.type !== "talking" || dialog.status.type !== "thinking" || !isIdle(floor)) return Infinity;
  return Math.max(dialog.status.sinceMs, floor.voice.sinceMs) + patienceMs;
}

export function noteThinkingTooLong(state: ConversationState, at: number): Move {
  return apologise(state, "the dialog model did not answer in time", at);
}

function takeQuestion(state: ConversationState, act: DialogAct & { readonly type: "ask" }): Move {
  const asked = (next: ConversationState, utteranceId: string | undefined): Move =>
    become(next, {
      dialog: { ...next.dialog, status: { type: "asked" }, question: { utteranceId, digits: act.digits } },
    });
  if (act.text.trim() === "") return asked(state, undefined);
  return andThen(speak(state, { role: "ask", text: act.text, step: act.step }), (next) =>
    asked(next, next.floor.queue.at(-1)?.id),
  );
}

/** The dialog has nothing to say about the silence: the usual prompt, as often as the playbook wants, then goodbye. */
function passOver(state: ConversationState, at: number): Move {
  const { silence } = state.plan.settings;
  const waiting = become(state, { dialog: { ...state.dialog, status: { type: "asked" } } });
  if (state.dialog.silentRounds > silence.maxPrompts)
    return andThen(waiting, (next) => sayGoodbye(next, "silence", at));
  return andThen(waiting, (next) =>
    speak(next, { role: "prompt", text: playbookText(next, silence.prompt, "stillThere") }),
  );
}
