import { canAnswer, dropUnsaid } from "./answers.ts";
import { andThen, become, onFloor, stay, type ConversationState, type Move } from "./conversation-state.ts";
import { isListening } from "./endpoint.ts";
import { cut, pause, resume } from "./floor.ts";

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

/** When the floor must change hands, or back. */
export function bargeInDueMs(state: ConversationState): number {
  const { ears, floor } = state;
  if (!mayBeCut(state)) return Infinity;
  if (!ears.voice.active)
    return floor.voice.type === "paused" ? ears.voice.sinceMs + resumeAfterMs : Infinity;
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
  if (!ears.voice.active) return onFloor(state, resume(floor, at));
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
  const { floor, phase, plan } = state;
  const role = floor.queue[0]?.role;
  const { type } = floor.voice;
  return (
    plan.interrupt &&
    phase.type === "talking" &&
    role !== "goodbye" &&
    (type === "playing" || type === "paused" || (type === "waiting" && floor.queue[0]?.startMs !== undefined))
  );
}

function meansIt(state: ConversationState): boolean {
  const { utterance } = state.ears;
  const words = `${utterance?.words ?? ""} ${utterance?.guess ?? ""}`.trim();
  return words.split(/\s+/).length >= wordsThatCount && !isListening(words, state.plan.language);
}

function onlyListens(state: ConversationState): boolean {
  const { utterance } = state.ears;
  return isListening(`${utterance?.words ?? ""} ${utterance?.guess ?? ""}`, state.plan.language);
}
