import { endOfTurnMs } from "./endpoint.ts";

/*
 * The callee's side of the line: sounds, words, keys and typed text, gathered into what was said at one go.
 * Times: ms since the answer.
 */

export interface Ears {
  /** Whether there is speech right now, and since when there is or is not. */
  readonly voice: { readonly active: boolean; readonly sinceMs: number };
  /** Speech that is not over yet. */
  readonly utterance: HeardUtterance | undefined;
  readonly keys: PressedKeys | undefined;
  readonly typed: TypedText | undefined;
  /** When the callee last gave any sign of life. */
  readonly lastSignMs: number;
  /** End of the last speech whose words were taken down: words that come for it later are no news. */
  readonly takenDownTillMs: number;
}

interface HeardUtterance {
  readonly startMs: number;
  readonly endMs: number;
  /** Final words, and after them what is only supposed so far. */
  readonly words: string;
  readonly guess: string;
  /** When the last final words came. */
  readonly finalAtMs: number | undefined;
  /** What the transcriber thinks of it: `ended` is its verdict. */
  readonly turn: "open" | "ending" | "ended";
}

interface PressedKeys {
  readonly digits: string;
  readonly startMs: number;
  readonly lastMs: number;
  /** Pressed when the question was already being asked. */
  readonly answers: boolean;
}

interface TypedText {
  readonly text: string;
  readonly startMs: number;
  readonly lastMs: number;
}

/** Speech is transcribed when `finalWithinMs` is known: so long after its end the final words may still come. */
export interface Hearing {
  readonly language: string;
  readonly finalWithinMs: number | undefined;
  /** The transcriber itself decides when a turn is over. */
  readonly endsTurns: boolean;
  /** The transcriber is given whole recordings: out of silence it makes words that nobody said. */
  readonly dreams: boolean;
}

/** What is known of a transcriber; nothing, when there is none. */
export interface EarsFacts {
  readonly finalWithinMs?: number;
  readonly endsTurns?: boolean;
  /** It hears along with the callee; one that is given whole recordings does not. Default true. */
  readonly streaming?: boolean;
}

const betweenKeysMs = 2000;
const betweenOpenKeysMs = 1200;
const typingPauseMs = 2500;
const typedSentencePauseMs = 1000;
const maxTypedChars = 2000;
/** For a transcriber that ends turns itself and does not. */
const longestPauseMs = 2500;
/** The clocks of a transcriber and of our own detector differ by this much at most. */
const sameSpeechMs = 500;

export const noEars: Ears = {
  voice: { active: false, sinceMs: 0 },
  utterance: undefined,
  keys: undefined,
  typed: undefined,
  lastSignMs: 0,
  takenDownTillMs: -Infinity,
};

/** Whether the callee is in the middle of saying, pressing or typing something. */
export function isBusy(ears: Ears): boolean {
  return (
    ears.voice.active || ears.utterance !== undefined || ears.keys !== undefined || ears.typed !== undefined
  );
}

export function soundChanged(ears: Ears, active: boolean, atMs: number): Ears {
  if (active === ears.voice.active) return ears;
  const before = ears.utterance ?? begun(atMs, atMs);
  const turn = active ? "open" : before.turn;
  return {
    ...ears,
    voice: { active, sinceMs: atMs },
    utterance: { ...before, turn, endMs: Math.max(before.endMs, atMs) },
    lastSignMs: Math.max(ears.lastSignMs, atMs),
  };
}

export interface HeardWords {
  readonly kind: "partial" | "final";
  readonly text: string;
  readonly startMs: number;
  readonly endMs: number;
}

/** `at`: now. */
export function wordsHeard(ears: Ears, heard: HeardWords, at: number): Ears {
  const text = heard.text.trim();
  if (heard.startMs < ears.takenDownTillMs && heard.endMs <= ears.takenDownTillMs + sameSpeechMs) return ears;
  const before = ears.utterance ?? begun(heard.startMs, heard.endMs);
  const words =
    heard.kind === "final" ? [before.words, text].filter((part) => part !== "").join(" ") : before.words;
  if (ears.utterance === undefined && text === "") return ears;
  return {
    ...ears,
    utterance: {
      ...before,
      startMs: Math.min(before.startMs, heard.startMs),
      endMs: endsWithSound(ears, before, heard.endMs) ? before.endMs : Math.max(before.endMs, heard.endMs),
      words,
      guess: heard.kind === "partial" ? text : "",
      finalAtMs: heard.kind === "final" ? at : before.finalAtMs,
    },
    lastSignMs: Math.max(ears.lastSignMs, heard.endMs),
  };
}

export function keyPressed(ears: Ears, digit: string, at: number, answers: boolean): Ears {
  const before = ears.keys ?? { digits: "", startMs: at, lastMs: at, answers };
  return { ...ears, keys: { ...before, digits: before.digits + digit, lastMs: at }, lastSignMs: at };
}

/** Adds typed characters one after the other (T.140: U+0008 takes back, U+FEFF keeps the stream alive). */
export function typed(ears: Ears, text: string, at: number): Ears {
  let line = ears.typed?.text ?? "";
  for (const char of text.replace(/\r\n|[\r\n]/g, "\u2028")) {
    if (char === "\b") line = line.replace(/.$/su, "");
    else if (char === "\u2028" || !/[\p{Cc}\p{Cf}]/u.test(char)) line += char;
  }
  if (line === "") return { ...ears, typed: undefined };
  const startMs = ears.typed?.startMs ?? at;
  return { ...ears, typed: { text: line.slice(0, maxTypedChars), startMs, lastMs: at }, lastSignMs: at };
}

/** What the transcriber says about the turn; `text` is the whole of it, if it says. */
export function turnJudged(ears: Ears, turn: HeardUtterance["turn"], text: string): Ears {
  const { utterance } = ears;
  if (utterance === undefined || utterance.turn === "ended") return ears;
  const whole = text.trim();
  const words = turn === "ended" && utterance.words === "" ? whole : utterance.words;
  const guess = turn === "ended" ? "" : turn === "ending" && words === "" ? whole : utterance.guess;
  return { ...ears, utterance: { ...utterance, turn, words, guess: guess === words ? "" : guess } };
}

/** Whether words are said to lie where our own detector heard nothing at all. */
export function isDreamt({ voice }: Ears, hearing: Hearing, startMs: number): boolean {
  return hearing.dreams && !voice.active && voice.sinceMs <= startMs;
}

/** All words of the speech being heard, the supposed ones too. */
export function wordsOf(ears: Ears): string {
  const { utterance } = ears;
  return [utterance?.words ?? "", utterance?.guess ?? ""].filter((part) => part !== "").join(" ");
}

/** When the speech being heard counts as said; Infinity while it goes on. */
export function utteranceDueMs(ears: Ears, hearing: Hearing): number {
  const { utterance } = ears;
  if (utterance === undefined) return Infinity;
  if (utterance.turn === "ended" && hearing.endsTurns) return 0;
  if (ears.voice.active) return Infinity;
  if (hearing.endsTurns) return utterance.endMs + longestPauseMs;
  const awaitsWords =
    hearing.finalWithinMs !== undefined &&
    (utterance.guess !== "" || (utterance.words === "" && !saidToBeWordless(utterance)));
  const delay = endOfTurnMs(utterance.words, hearing.language);
  return utterance.endMs + (awaitsWords ? Math.max(delay, hearing.finalWithinMs ?? 0) : delay);
}

/**
 * When the keys pressed so far count as the whole; 0 at once, `known` being the sequences that mean something.
 * `open`: without any, every sequence does, and "#" ends it.
 */
export function keysDueMs(ears: Ears, known: readonly string[], open = false): number {
  const { keys } = ears;
  if (keys === undefined) return Infinity;
  if (open && known.length === 0) return keys.digits.endsWith("#") ? 0 : keys.lastMs + betweenOpenKeysMs;
  const longer = known.some((each) => each.length > keys.digits.length && each.startsWith(keys.digits));
  return keys.answers && !longer ? 0 : keys.lastMs + betweenKeysMs;
}

/** When the text typed so far counts as sent: at its line end at once, else after a pause. */
export function typedDueMs(ears: Ears): number {
  const line = ears.typed;
  if (line === undefined) return Infinity;
  if (line.text.includes("\u2028") || line.text.length >= maxTypedChars) return 0;
  return line.lastMs + (/[.!?…]\s*$/.test(line.text) ? typedSentencePauseMs : typingPauseMs);
}

function begun(startMs: number, endMs: number): HeardUtterance {
  return { startMs, endMs, words: "", guess: "", finalAtMs: undefined, turn: "open" };
}

/** Our detector has heard the end already, and knows it better than a transcriber that counts the pause in. */
function endsWithSound({ voice }: Ears, before: HeardUtterance, endMs: number): boolean {
  return (
    !voice.active &&
    voice.sinceMs > before.startMs &&
    voice.sinceMs === before.endMs &&
    endMs <= voice.sinceMs + sameSpeechMs
  );
}

/** The transcriber has listened to all of it, and there were no words. */
function saidToBeWordless({ endMs, finalAtMs }: HeardUtterance): boolean {
  return finalAtMs !== undefined && finalAtMs >= endMs;
}
