import { canAnswer, dropDraft, dropUnsaid, mayTakeBack } from "./answers.ts";
import {
  andThen,
  become,
  stay,
  type ConversationState,
  type Draft,
  type Move,
} from "./conversation-state.ts";
import { isListening } from "./endpoint.ts";
import { wordsOf } from "./ears.ts";
import { isIdle } from "./floor.ts";
import { plainWords } from "./phrases.ts";

/*
 * Thinking ahead: a dialog that may be taken back is asked as soon as the callee pauses, not only when their turn is
 * surely over. What it answers is used if nothing was added meanwhile.
 */

const mostDrafts = 3;

/** Asks for an answer to what the callee seems to have said; undefined while that is not possible or already done. */
export function thinkAhead(state: ConversationState): Move | undefined {
  const { dialog, ears, floor, hearing, phase, revocable, turns } = state;
  const { utterance } = ears;
  const text = wordsOf(ears);
  if (!revocable || hearing.finalWithinMs === undefined || phase.type !== "talking") return undefined;
  if (utterance === undefined || text === "" || (ears.voice.active && utterance.turn === "open"))
    return undefined;
  if (dialog.status.type !== "asked" || dialog.answer !== undefined || dialog.drafts >= mostDrafts)
    return undefined;
  if (!isIdle(floor) || !canAnswer(state) || isSame(dialog.draft, text)) return undefined;
  return andThen(dropDraft(state), (next) => {
    const generation = next.dialog.generation + 1;
    const { startMs, endMs } = utterance;
    const said = { seq: turns.length + 1, speaker: "callee", text, startMs, endMs, via: "voice" } as const;
    const draft: Draft = { generation, text, turns: turns.length, acts: [], begunAtMs: undefined };
    const { notes } = next.dialog;
    return stay(
      { ...next, dialog: { ...next.dialog, draft, drafts: next.dialog.drafts + 1 } },
      {
        type: "ask-dialog",
        generation,
        turn: {
          cue: { type: "answer", text, via: "voice" },
          turns: [...turns, said],
          ...(Object.keys(notes).length > 0 && { notes }),
        },
      },
    );
  });
}

/**
 * The callee goes on with words while the answer to the half of them is still thought about or not yet begun: that
 * answer is taken back.
 */
export function takeBack(state: ConversationState): Move {
  const { dialog, floor, phase, plan } = state;
  if (!state.revocable || phase.type !== "talking") return stay(state);
  const words = wordsOf(state.ears);
  if (words.split(/\s+/).length < 2 || isListening(words, plan.language)) return stay(state);
  const [head] = floor.queue;
  const unheard = head?.role === "say" && head.startMs === undefined && floor.voice.type !== "playing";
  const asked = dialog.status.type === "asked" && unheard && dialog.generation > 1;
  if (!mayTakeBack(state) && !asked) return stay(state);
  if (head !== undefined && head.startMs !== undefined) return stay(state);
  return andThen(dropUnsaid(state), (next) =>
    become(next, { dialog: { ...next.dialog, question: { utteranceId: undefined, digits: [] } } }),
  );
}

function isSame(draft: Draft | undefined, text: string): boolean {
  return draft !== undefined && plainWords(draft.text) === plainWords(text);
}
