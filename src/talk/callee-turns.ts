import { canAnswer, noteAnswer } from "./answers.ts";
import type { ReplyClock } from "./timing.ts";
import type { DialogCue } from "./ports.ts";
import {
  andThen,
  become,
  phrasesFor,
  publish,
  record,
  stay,
  type ConversationState,
  type Move,
} from "./conversation-state.ts";
import type { Ears } from "./ears.ts";
import { wordsOf } from "./ears.ts";
import { secondsText } from "./phrases.ts";
import { weigh } from "./screening.ts";

/*
 * What the callee said, pressed or typed, once it is complete: a turn of the transcript, and perhaps an answer.
 */

/** Shorter sounds are clicks and coughs. */
const shortestSpeechMs = 200;

/** The speech being heard is over. */
export function concludeUtterance(state: ConversationState, at: number): Move {
  const { utterance } = state.ears;
  if (utterance === undefined) return stay(state);
  const words = wordsOf(state.ears);
  const endMs = state.ears.voice.active ? at : utterance.endMs;
  const durationMs = endMs - utterance.startMs;
  const cleared = become(state, { ears: emptied(state.ears, words === "" ? undefined : endMs, at) });
  if (words === "" && durationMs < shortestSpeechMs) return cleared;
  const overlap = wasTalkedOver(state, endMs);
  const turn = {
    speaker: "callee",
    text: words === "" ? withoutWords(state, durationMs) : words,
    startMs: utterance.startMs,
    endMs,
    via: words === "" ? "none" : "voice",
    ...(overlap && { overlap }),
  } as const;
  const cue: DialogCue =
    words === "" ? { type: "wordless-speech", durationMs } : { type: "answer", text: words, via: "voice" };
  const clock = { speechEndMs: endMs, wordsFinalMs: utterance.finalAtMs, endOfTurnMs: at };
  return andThen(
    cleared,
    (next) => record(next, turn),
    signOfLife,
    (next) => (words === "" ? stay(next) : clearOfSuspicion(next, words, endMs)),
    (next) =>
      next.phase.type === "talking" && !overlap && canAnswer(next)
        ? noteAnswer(next, cue, clock)
        : stay(next),
  );
}

/** A long speech that made the callee look like a voicemail: its words may say that it was none. */
function clearOfSuspicion(state: ConversationState, text: string, atMs: number): Move {
  const screening = weigh(state.screening, { type: "turn", text, language: state.plan.language, atMs });
  const { verdict } = screening;
  if (screening === state.screening || verdict === undefined || state.phase.type === "over")
    return stay(state);
  const phase = state.phase.type === "voicemail-waiting" ? ({ type: "talking" } as const) : state.phase;
  return andThen(become(state, { screening, phase }), (next) =>
    publish(next, { type: "verdict-reached", verdict }),
  );
}

/** The keys pressed so far are the whole. */
export function concludeKeys(state: ConversationState, at = 0): Move {
  const { keys } = state.ears;
  if (keys === undefined) return stay(state);
  const { digits, startMs, lastMs, answers } = keys;
  // "#" only says that the sequence is over, unless the question gives it a meaning.
  const known = state.dialog.question?.digits ?? [];
  const text =
    digits.length > 1 && digits.endsWith("#") && !known.includes(digits) ? digits.slice(0, -1) : digits;
  return andThen(
    become(state, { ears: { ...state.ears, keys: undefined } }),
    (next) => record(next, { speaker: "callee", text, startMs, endMs: lastMs, via: "dtmf" }),
    signOfLife,
    (next) =>
      answers ? noteAnswer(next, { type: "answer", text, via: "dtmf" }, handClock(lastMs, at)) : stay(next),
  );
}

/** The typed text is complete; of several lines, each is a turn and all are the answer. */
export function concludeTyped(state: ConversationState, at = 0): Move {
  const line = state.ears.typed;
  if (line === undefined) return stay(state);
  const text = line.text.replaceAll("\u2028", " ").replace(/ +/g, " ").trim();
  const cleared = become(state, { ears: { ...state.ears, typed: undefined } });
  if (text === "") return cleared;
  const answers = canAnswer(state);
  return andThen(
    cleared,
    (next) =>
      record(next, { speaker: "callee", text, startMs: line.startMs, endMs: line.lastMs, via: "rtt" }),
    signOfLife,
    (next) =>
      answers
        ? noteAnswer(next, { type: "answer", text, via: "rtt" }, handClock(line.lastMs, at))
        : stay(next),
  );
}

/** Everything that is still in the air becomes a turn. */
export function concludeAll(state: ConversationState, at: number): Move {
  return andThen(
    concludeUtterance(state, at),
    (next) => concludeKeys(next, at),
    (next) => concludeTyped(next, at),
  );
}

/** A sound that a transcriber took for over is over: a noisy line would never fall silent. */
function emptied(ears: Ears, takenDownTillMs: number | undefined, at: number): Ears {
  const over = ears.utterance?.turn === "ended" && ears.voice.active;
  return {
    ...ears,
    utterance: undefined,
    ...(over && { voice: { active: false, sinceMs: at } }),
    ...(takenDownTillMs !== undefined && { takenDownTillMs }),
  };
}

function handClock(speechEndMs: number, endOfTurnMs: number): ReplyClock {
  return { speechEndMs, wordsFinalMs: undefined, endOfTurnMs };
}

/** Whether the sound ended inside the agent's own speech: then it answers nothing. What goes on after it does. */
function wasTalkedOver(state: ConversationState, endMs: number): boolean {
  const { voice, queue } = state.floor;
  if (voice.type === "stopping") return false;
  const speaking = voice.type !== "silent" && queue[0]?.startMs !== undefined;
  if (speaking) return endMs > voice.runMs;
  const spokeTill = voice.type === "silent" && !voice.cut ? voice.sinceMs : 0;
  return endMs > voice.runMs && endMs <= spokeTill;
}

function withoutWords(state: ConversationState, durationMs: number): string {
  const phrases = phrasesFor(state);
  const seconds = secondsText(durationMs, phrases);
  return state.hearing.finalWithinMs === undefined && !state.deaf
    ? phrases.unheard(seconds)
    : phrases.notUnderstood(seconds);
}

function signOfLife(state: ConversationState): Move {
  return become(state, { dialog: { ...state.dialog, silentRounds: 0 } });
}
