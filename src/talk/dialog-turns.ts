import type { DialogAct, DialogCue } from "./ports.ts";
import {
  andThen,
  become,
  onFloor,
  playbookText,
  speak,
  stay,
  type ConversationState,
  type Dialog,
  type Draft,
  type Move,
} from "./conversation-state.ts";
import { dropDialog, dropDraft, isDraftOf } from "./answers.ts";
import { isBusy } from "./ears.ts";
import { noteResult, optOut, sayGoodbye } from "./ending.ts";
import { extend, isIdle } from "./floor.ts";
import { setBack } from "./setback.ts";

/** Asks the dialog model what to do next. An answer it was still giving is no longer wanted. */
export function askDialog(state: ConversationState, cue: DialogCue, at: number, tries = 0): Move {
  return andThen(dropDialog(state), (next) => {
    const { draft } = next.dialog;
    if (draft !== undefined && isDraftOf(next, cue)) return takeUpDraft(next, draft, cue, at);
    return andThen(dropDraft(next), (undrafted) => {
      const generation = undrafted.dialog.generation + 1;
      return stay(thinking(undrafted, { generation, cue, tries }, at), {
        type: "ask-dialog",
        generation,
        turn: turnFor(undrafted, cue),
      });
    });
  });
}

/** Takes one act of the dialog's answer. */
export function takeAct(state: ConversationState, generation: number, act: DialogAct, at: number): Move {
  const { dialog } = state;
  if (generation === dialog.draft?.generation) return keepForLater(state, act, at);
  if (generation !== dialog.generation || dialog.status.type !== "thinking") return stay(state);
  const { status } = dialog;
  switch (act.type) {
    case "begin":
      return become(state, {
        dialog: { ...dialog, status: { ...status, begun: true, sinceMs: at } },
        replyClock: state.replyClock && {
          ...state.replyClock,
          firstTokenMs: state.replyClock.firstTokenMs ?? at,
        },
      });
    case "say": {
      const spoke: Dialog = { ...dialog, status: { ...status, begun: true, spoke: true } };
      return andThen(say({ ...state, dialog: spoke }, act, act.continues === true && status.spoke), (next) =>
        clockReply(next, at),
      );
    }
    case "press":
      return speak(state, { role: "press", text: "", digits: act.digits });
    case "note":
      return takeNote(state, act, at);
    case "ask":
      return andThen(takeQuestion(state, act), (next) => clockReply(next, at));
    case "pass":
      return passOver(state, at);
    case "end":
      return andThen(
        noteResult(state, act.result, at),
        (next) =>
          status.spoke
            ? stay(next)
            : speak(next, {
                role: "goodbye",
                text: playbookText(next, next.plan.settings.goodbye, "goodbye"),
              }),
        (next) => clockReply(next, at),
      );
  }
}

/** The dialog model gave up on this turn. */
export function dialogFailed(state: ConversationState, generation: number, reason: string, at: number): Move {
  const { dialog } = state;
  if (generation === dialog.draft?.generation) {
    return become(state, { dialog: { ...dialog, generation, draft: undefined, drafts: Infinity } });
  }
  if (generation !== dialog.generation || dialog.status.type !== "thinking") return stay(state);
  return setBack(state, reason, at);
}

/** Gives the dialog the answer it waits for. */
export function passAnswerOn(state: ConversationState, at: number): Move | undefined {
  const { dialog, floor, phase } = state;
  if (phase.type !== "talking" || dialog.status.type !== "asked" || dialog.answer === undefined)
    return undefined;
  return isIdle(floor) ? askDialog(state, dialog.answer, at) : undefined;
}

/** When a dialog that failed is asked again. */
export function askAgainDueMs({ dialog, phase }: ConversationState): number {
  return phase.type === "talking" && dialog.status.type === "recovering" ? dialog.status.untilMs : Infinity;
}

export function askAgain(state: ConversationState, at: number): Move {
  const { status } = state.dialog;
  return status.type === "recovering" ? askDialog(state, status.cue, at, status.tries) : stay(state);
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

/** The state in which a question is out. */
function thinking(
  state: ConversationState,
  asked: { readonly generation: number; readonly cue: DialogCue; readonly tries: number },
  at: number,
): ConversationState {
  const { generation, cue, tries } = asked;
  const status = { type: "thinking", sinceMs: at, begun: false, spoke: false, cue, tries } as const;
  const fresh = tries === 0 && cue.type !== "silence" && { drafts: 0 };
  return {
    ...state,
    dialog: { ...state.dialog, ...fresh, generation, status, answer: undefined, draft: undefined },
  };
}

function turnFor(
  state: ConversationState,
  cue: DialogCue,
): { cue: DialogCue; turns: ConversationState["turns"] } {
  const { deaf, dialog, turns } = state;
  const noted = Object.keys(dialog.notes).length > 0;
  return { cue, turns, ...(noted && { notes: dialog.notes }), ...(deaf && { deaf }) };
}

/** The callee said just what the draft supposed: as much of it as has come counts now. */
function takeUpDraft(state: ConversationState, draft: Draft, cue: DialogCue, at: number): Move {
  const { generation, acts } = draft;
  const replyClock =
    state.replyClock && draft.begunAtMs !== undefined
      ? { ...state.replyClock, firstTokenMs: draft.begunAtMs }
      : state.replyClock;
  const started = { ...thinking(state, { generation, cue, tries: 0 }, at), replyClock };
  return andThen(
    stay(started),
    ...acts.map((act) => (next: ConversationState) => takeAct(next, generation, act, at)),
  );
}

function keepForLater(state: ConversationState, act: DialogAct, at: number): Move {
  const { dialog } = state;
  if (dialog.draft === undefined) return stay(state);
  const { draft } = dialog;
  const acts = [...draft.acts, act];
  return become(state, {
    dialog: { ...dialog, draft: { ...draft, acts, begunAtMs: draft.begunAtMs ?? at } },
  });
}

function say(state: ConversationState, act: DialogAct & { readonly type: "say" }, continues: boolean): Move {
  const extended = continues ? extend(state.floor, act.text, state.plan.language) : undefined;
  if (extended !== undefined) return onFloor(state, extended);
  const { text, step } = act;
  return speak(state, { role: "say", text, step, answerable: act.answerable ?? false });
}

/** The words are there; from here on it is the voice that takes its time. */
function clockReply(state: ConversationState, at: number): Move {
  const { floor, replyClock } = state;
  const reply = floor.queue.at(-1);
  const sentence = reply?.sentences[0];
  if (replyClock === undefined || replyClock.utteranceId !== undefined || sentence === undefined)
    return stay(state);
  if (reply === undefined || reply.startMs !== undefined) return stay(state);
  const { speechId } = sentence;
  return become(state, { replyClock: { ...replyClock, utteranceId: reply.id, speechId, firstTextMs: at } });
}

function takeNote(state: ConversationState, act: DialogAct & { readonly type: "note" }, at: number): Move {
  const { dialog } = state;
  const noted = become(state, { dialog: { ...dialog, notes: { ...dialog.notes, ...act.note } } });
  return act.note.doNotCall === true ? andThen(noted, (next) => optOut(next, at)) : noted;
}

function takeQuestion(state: ConversationState, act: DialogAct & { readonly type: "ask" }): Move {
  const asked = (next: ConversationState, utteranceId: string | undefined): Move =>
    become(next, {
      dialog: { ...next.dialog, status: { type: "asked" }, question: { utteranceId, digits: act.digits } },
    });
  if (act.text.trim() === "") return asked(state, greetingOf(state));
  return andThen(speak(state, { role: "ask", text: act.text, step: act.step }), (next) =>
    asked(next, next.floor.queue.at(-1)?.id),
  );
}

/** The first words are answered only when they were begun: a "hello?" before them is none. */
function greetingOf({ dialog, floor, revocable }: ConversationState): string | undefined {
  const first = dialog.status.type === "thinking" && dialog.status.cue.type === "start";
  return revocable && first ? floor.queue.at(-1)?.id : undefined;
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
