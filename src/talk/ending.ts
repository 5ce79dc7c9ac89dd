import { dropDialog, dropDraft, dropUnsaid } from "./answers.ts";
import type { DialogResult } from "./plan.ts";
import type { ConversationEffect } from "./protocol.ts";
import {
  andThen,
  become,
  onFloor,
  phrasesFor,
  playbookText,
  publish,
  speak,
  stay,
  type ConversationState,
  type EndedBy,
  type Move,
} from "./conversation-state.ts";
import { isIdle } from "./floor.ts";
import { abandon, cut } from "./floor-moves.ts";
import { concludeAll } from "./callee-turns.ts";
import { finalVerdict } from "./screening.ts";

/** The far end's jitter buffer still holds the last words when the last packet has left. */
const tailMs = 300;
/** For the last words, whatever happens to them. */
const closingMs = 15_000;

/** Breaks off whatever is going on, says the farewell if there is one, and then hangs up. */
export function close(state: ConversationState, endedBy: EndedBy, at: number, farewell?: string): Move {
  return andThen(
    dropUnsaid(state),
    dropDraft,
    (next) => onFloor(next, cut(next.floor, at)),
    (next) => (farewell === undefined ? stay(next) : speak(next, { role: "goodbye", text: farewell })),
    (next) => become(next, { phase: { type: "closing", endedBy, untilMs: at + closingMs } }),
  );
}

export function sayGoodbye(state: ConversationState, endedBy: EndedBy, at: number): Move {
  return close(state, endedBy, at, playbookText(state, state.plan.settings.goodbye, "goodbye"));
}

/** The callee wants no more calls: that is law, whatever else was going on. */
export function optOut(state: ConversationState, at: number): Move {
  if (state.optedOut) return stay(state);
  const noted = andThen(become(state, { optedOut: true }), (next) =>
    publish(next, { type: "opted-out", atMs: at }),
  );
  const { type } = state.phase;
  if (type === "closing") return noted;
  return andThen(noted, (next) => close(next, "agent", at, phrasesFor(next).optedOut));
}

/** The dialog said its last; its words, if any, are still to be spoken. */
export function noteResult(state: ConversationState, result: DialogResult, at: number): Move {
  const ended = become(state, { dialog: { ...state.dialog, status: { type: "ended", result } } });
  if (!result.doNotCall || state.optedOut) return ended;
  return andThen(
    ended,
    (next) => become(next, { optedOut: true }),
    (next) => publish(next, { type: "opted-out", atMs: at }),
  );
}

/** The dialog cannot answer: an apology in place of dead air. */
export function apologise(state: ConversationState, reason: string, at: number): Move {
  return andThen(become(state, { trouble: reason }), (next) =>
    close(next, "agent", at, phrasesFor(next).trouble),
  );
}

/** The agent has no voice any more: nothing is left but to hang up. */
export function goSilently(state: ConversationState, reason: string, at: number): Move {
  return andThen(become(state, { trouble: reason }), (next) => finish(next, "agent", at));
}

/** When a closing conversation hangs up. */
export function closingDueMs(state: ConversationState): number {
  const { phase, floor } = state;
  if (phase.type !== "closing") return Infinity;
  return isIdle(floor) ? Math.min(phase.untilMs, floor.voice.sinceMs + tailMs) : phase.untilMs;
}

/** Hangs up now. */
export function finish(state: ConversationState, endedBy: EndedBy, at: number): Move {
  const move = wrapUp(state, endedBy, at);
  return { ...move, effects: [...move.effects, { type: "finish" }] };
}

/** The call is over: writes down what was still in the air. */
export function wrapUp(state: ConversationState, endedBy: EndedBy, at: number): Move {
  const verdict = finalVerdict(state.screening, at);
  const effects: ConversationEffect[] = [];
  if (state.answeredAt !== undefined && state.screening.verdict === undefined) {
    effects.push({ type: "publish", event: { type: "verdict-reached", verdict } });
  }
  if (state.detectsTones) effects.push({ type: "detect-tones", on: false });
  return andThen(
    dropDialog({ ...state, told: state.told || isAsGoodAsTold(state) }),
    dropDraft,
    (next) => onFloor(next, abandon(next.floor, at)),
    (next) => concludeAll(next, at),
    (next) => stay({ ...next, screening: { ...next.screening, verdict } }, ...effects),
    (next) => become(next, { detectsTones: false, phase: { type: "over", endedBy, atMs: at } }),
  );
}

/**
 * Who hangs up during the thanks after their answer, or during the goodbye, has been through the dialog; who hangs up
 * during anything else has not.
 */
function isAsGoodAsTold({ dialog, floor, phase }: ConversationState): boolean {
  if (phase.type !== "talking" || dialog.status.type !== "ended") return false;
  const [head, more] = floor.queue;
  if (head === undefined) return true;
  const answered = dialog.generation > 1;
  return more === undefined && head.startMs !== undefined && (answered || head.role === "goodbye");
}
