import { canAnswer, dropUnsaid } from "./answers.ts";
import { andThen, become, onFloor, stay, type ConversationState, type Move } from "./conversation-state.ts";
import { wordsOf } from "./ears.ts";
import { isInterrupting, isListening } from "./endpoint.ts";
import { cut, pause, resume } from "./floor-moves.ts";

/*
 * Who keeps the floor when both speak. With `interrupt` the agent pauses soon, gives up when the callee means it,
 * and goes on where it was when they did not. Without it the agent is never cut.
 */

const pauseAfterMs = 240;
const commitAfterMs = 600;
/** While the callee only says "yes, yes". */
const commitListenerAfterMs = 1500;
const resumeAfterMs = 1200;
const wordsThatCount = 2;
/** A "hello?" into the agent's first words is a greeting. */
const helloWithinMs = 1500;
/** So close to the end of a question a "yes" is its answer. */
const nearEndMs = 1000;

/** When the floor must change hands, or back. */
export function bargeInDueMs(state: ConversationState): number {
  const { ears, floor } = state;
  if (!mayBeCut(state)) return Infinity;
  if (!ears.voice.active) {
    if (floor.voice.type !== "paused") return Infinity;
    return settlesNow(state) ? 0 : ears.voice.sinceMs + resumeAfterMs;
  }
  const [head] = floor.queue;
  if (
    head?.startMs === undefined ||
    ears.voice.sinceMs < head.startMs ||
    ears.voice.sinceMs < helloWithinMs
  ) {
    return Infinity;
  }
  if (floor.voice.type === "playing") return ears.voice.sinceMs + pauseAfterMs;
  if (meansIt(state)) return 0;
  return ears.voice.sinceMs + (onlyListens(state) ? commitListenerAfterMs : commitAfterMs);
}

export function bargeIn(state: ConversationState, at: number): Move {
  const { ears, floor } = state;
  if (!ears.voice.active) {
    return wantsFloor(state) ? takeFloor(state, at) : onFloor(state, resume(floor, at));
  }
  return floor.voice.type === "playing" ? onFloor(state, pause(floor, at)) : takeFloor(state, at);
}

/** The callee pressed a key or typed a line while the agent spoke. */
export function interruptByHand(state: ConversationState, at: number): Move {
  return mayBeCut(state) ? takeFloor(state, at) : stay(state);
}

/** The agent stops; what it had not begun to say is dropped only if the callee can answer what was said. */
function takeFloor(state: ConversationState, at: number): Move {
  const heard = canAnswer(state) ? andThen(dropUnsaid(state), giveFloor) : stay(state);
  return andThen(heard, (next) => onFloor(next, cut(next.floor, at)));
}

/** Words that may be answered are as good as a question. */
function giveFloor(state: ConversationState): Move {
  if (state.floor.queue[0]?.role !== "say") return stay(state);
  return become(state, { dialog: { ...state.dialog, question: { utteranceId: undefined, digits: [] } } });
}

function mayBeCut(state: ConversationState): boolean {
  const { dialog, floor, phase, plan, revocable } = state;
  const role = floor.queue[0]?.role;
  const { type } = floor.voice;
  return (
    plan.interrupt &&
    phase.type === "talking" &&
    role !== "goodbye" &&
    !(revocable && dialog.status.type === "ended") &&
    (type === "playing" || type === "paused" || (type === "waiting" && floor.queue[0]?.startMs !== undefined))
  );
}

/** The sound that made the agent pause is over, and its words tell already what it was. */
function settlesNow(state: ConversationState): boolean {
  return wantsFloor(state) || (onlyListens(state) && state.ears.utterance?.guess === "");
}

function wantsFloor(state: ConversationState): boolean {
  const words = wordsOf(state.ears);
  return (
    meansIt(state) || isInterrupting(words, state.plan.language) || (words !== "" && isAnswerToTheLast(state))
  );
}

function meansIt(state: ConversationState): boolean {
  const words = wordsOf(state.ears);
  return words.split(/\s+/).length >= wordsThatCount && !isListening(words, state.plan.language);
}

function onlyListens(state: ConversationState): boolean {
  return isListening(wordsOf(state.ears), state.plan.language);
}

/** The agent was at the last words of something that can be answered. */
function isAnswerToTheLast({ floor }: ConversationState): boolean {
  const [head, more] = floor.queue;
  const sentence = head?.sentences[head.done];
  if (head === undefined || more !== undefined || !head.answerable || head.done < head.sentences.length - 1)
    return false;
  if (sentence?.durationMs === undefined || sentence.playedAtMs === undefined) return false;
  return sentence.playedAtMs + sentence.durationMs - floor.voice.sinceMs <= nearEndMs;
}
