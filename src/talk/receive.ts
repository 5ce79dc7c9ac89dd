import { screen } from "./answering.ts";
import { canAnswer, dropDraft } from "./answers.ts";
import { interruptByHand } from "./barge-in.ts";
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
import { dialogFailed, takeAct } from "./dialog-turns.ts";
import { takeBack } from "./drafts.ts";
import {
  isDreamt,
  keyPressed,
  soundChanged,
  turnJudged,
  typed,
  wordsHeard,
  type HeardWords,
} from "./ears.ts";
import { optOut, wrapUp } from "./ending.ts";
import { holdsPhrase } from "./phrases.ts";
import type { ConversationInput } from "./protocol.ts";
import { isCertain } from "./screening.ts";
import { receiveSpeech } from "./voice-rules.ts";

/** Takes in one thing that happened. Before the answer only preparations and hang-ups count. */
export function receive(state: ConversationState, input: ConversationInput, now: number, at: number): Move {
  switch (input.type) {
    case "answered":
      return state.answeredAt === undefined
        ? become(state, { phase: { type: "talking" }, answeredAt: now, rtt: input.rtt })
        : stay(state);
    case "hearing-lost":
      return loseHearing(state, input.reason, at);
    case "speech-ready":
      return receiveSpeech(
        state,
        input.soundMs === undefined ? input : { ...input, soundMs: within(input.soundMs, at) },
        at,
      );
    case "speech-failed":
    case "speech-played":
    case "speech-stopped":
      return receiveSpeech(state, input, at);
    case "speech-started":
      return receiveSpeech(state, { ...input, atMs: within(input.atMs, at) }, at);
    case "dialog-acted":
      return takeAct(state, input.generation, input.act, at);
    case "dialog-failed":
      return dialogFailed(state, input.generation, input.reason, at);
    case "callee-hung-up":
      return wrapUp(state, "callee", at);
    case "operator-hung-up":
      return wrapUp(state, "operator", at);
    case "callee-speech":
    case "beep":
    case "tone":
    case "digit":
    case "text":
    case "heard":
    case "turn-ending":
    case "turn-resumed":
    case "turn-ended":
      return state.answeredAt === undefined ? stay(state) : hear(state, input, at);
  }
}

type CalleeInput = Extract<
  ConversationInput,
  {
    readonly type:
      | "callee-speech"
      | "beep"
      | "tone"
      | "digit"
      | "text"
      | "heard"
      | "turn-ending"
      | "turn-resumed"
      | "turn-ended";
  }
>;

function hear(state: ConversationState, input: CalleeInput, at: number): Move {
  switch (input.type) {
    case "callee-speech":
      return hearSound(state, input.active, within(input.atMs, at), at);
    case "beep":
    case "tone":
      return screen(state, { ...input, atMs: within(input.atMs, at) }, at);
    case "digit":
      return hearKey(state, input.digit, at);
    case "text":
      return hearTyping(state, input.text, at);
    case "heard": {
      const startMs = within(input.startMs, at);
      return hearWords(state, { ...input, startMs, endMs: Math.max(startMs, within(input.endMs, at)) }, at);
    }
    case "turn-ending":
      return become(state, { ears: turnJudged(state.ears, "ending", input.text) });
    case "turn-resumed":
      return andThen(become(state, { ears: turnJudged(state.ears, "open", "") }), dropDraft);
    case "turn-ended":
      return andThen(become(state, { ears: turnJudged(state.ears, "ended", input.text) }), (next) =>
        heedStopWords(next, next.ears.utterance?.words ?? "", at),
      );
  }
}

function hearSound(state: ConversationState, active: boolean, atMs: number, at: number): Move {
  if (active === state.ears.voice.active) return stay(state);
  const begins = state.ears.utterance === undefined;
  return andThen(
    become(state, { ears: soundChanged(state.ears, active, atMs) }),
    (next) => (begins ? publish(next, { type: "speech-started", speaker: "callee", atMs }) : stay(next)),
    (next) => screen(next, { type: "callee-speech", active, atMs }, at),
    (next) => (active ? dropDraft(next) : finaliseWords(next)),
  );
}

/** A transcriber that leaves the end of turns to us is told of each pause. */
function finaliseWords(state: ConversationState): Move {
  const { endsTurns, finalWithinMs } = state.hearing;
  return finalWithinMs === undefined || endsTurns || state.phase.type === "over"
    ? stay(state)
    : stay(state, { type: "finalise-hearing" });
}

/** From here on the callee has only keys and typed text, and is told so. */
function loseHearing(state: ConversationState, reason: string, at: number): Move {
  if (state.deaf || state.hearing.finalWithinMs === undefined) return stay(state);
  const hearing = { ...state.hearing, finalWithinMs: undefined, endsTurns: false };
  return andThen(
    become(state, { deaf: true, hearing }),
    dropDraft,
    (next) => publish(next, { type: "hearing-lost", atMs: at, reason }),
    (next) =>
      next.phase.type === "talking" && next.dialog.status.type !== "ended"
        ? speak(next, { role: "prompt", text: phrasesFor(next).cannotHear })
        : stay(next),
  );
}

function hearKey(state: ConversationState, digit: string, at: number): Move {
  if (!/^[0-9*#A-D]$/.test(digit)) return stay(state);
  return andThen(
    become(state, { ears: keyPressed(state.ears, digit, at, canAnswer(state)) }),
    (next) => screen(next, { type: "digit", atMs: at }, at),
    (next) => interruptByHand(next, at),
  );
}

function hearTyping(state: ConversationState, text: string, at: number): Move {
  return andThen(
    become(state, { ears: typed(state.ears, text, at) }),
    (next) => (next.ears.typed === undefined ? stay(next) : screen(next, { type: "text", atMs: at }, at)),
    (next) => (next.ears.typed?.text.includes("\u2028") === true ? interruptByHand(next, at) : stay(next)),
    (next) => heedStopWords(next, next.ears.typed?.text ?? "", at),
  );
}

function hearWords(state: ConversationState, heard: HeardWords, at: number): Move {
  const { language } = state.plan;
  if (heard.text.trim() !== "" && isDreamt(state.ears, state.hearing, heard.startMs)) return stay(state);
  return andThen(
    become(state, { ears: wordsHeard(state.ears, heard, at) }),
    (next) => screen(next, { type: "words", text: heard.text, language, atMs: heard.endMs }, at),
    (next) =>
      heard.kind === "final" ? heedStopWords(next, next.ears.utterance?.words ?? "", at) : stay(next),
    takeBack,
  );
}

/** "Never call me again" counts whoever has the floor, but not when a machine says it. */
function heedStopWords(state: ConversationState, words: string, at: number): Move {
  const { verdict } = state.screening;
  const machine = verdict !== undefined && verdict.kind !== "person" && isCertain(verdict);
  return !machine && holdsPhrase(words, phrasesFor(state).stop) ? optOut(state, at) : stay(state);
}

/** A time from outside, brought into the call so far. */
function within(atMs: number, at: number): number {
  return Number.isFinite(atMs) ? Math.min(at, Math.max(0, Math.round(atMs))) : at;
}
