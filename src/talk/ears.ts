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
}

export interface HeardUtterance {
  readonly startMs: number;
  readonly endMs: number;
  /** Final words, and after them what is only supposed so far. */
  readonly words: string;
  readonly guess: string;
}

export interface PressedKeys {
  readonly digits: string;
  readonly startMs: number;
  readonly lastMs: number;
  /** Pressed when the question was already being asked. */
  readonly answers: boolean;
}

export interface TypedText {
  readonly text: string;
  readonly startMs: number;
  readonly lastMs: number;
}

/** Speech is transcribed when `finalWithinMs` is known: so long after its end the final words may still come. */
export interface Hearing {
  readonly language: string;
  readonly finalWithinMs: number | undefined;
}

const betweenKeysMs = 2000;
const typingPauseMs = 2500;
const typedSentencePauseMs = 1000;
const maxTypedChars = 2000;

export const noEars: Ears = {
  voice: { active: false, sinceMs: 0 },
  utterance: undefined,
  keys: undefined,
  typed: undefined,
  lastSignMs: 0,
};

/** Whether the callee is in the middle of saying, pressing or typing something. */
export function isBusy(ears: Ears): boolean {
  return (
    ears.voice.active || ears.utterance !== undefined || ears.keys !== undefined || ears.typed !== undefined
  );
}

export function soundChanged(ears: Ears, active: boolean, atMs: number): Ears {
  if (active === ears.voice.active) return ears;
  const before = ears.utterance ?? { startMs: atMs, endMs: atMs, words: "", guess: "" };
  return {
    ...ears,
    voice: { active, sinceMs: atMs },
    utterance: { ...before, endMs: Math.max(before.endMs, atMs) },
    lastSignMs: Math.max(ears.lastSignMs, atMs),
  };
}

export interface HeardWords {
  readonly kind: "partial" | "final";
  readonly text: string;
  readonly startMs: number;
  readonly endMs: number;
}

export function wordsHeard(ears: Ears, heard: HeardWords): Ears {
  const text = heard.text.trim();
  const before = ears.utterance ?? { startMs: heard.startMs, endMs: heard.endMs, words: "", guess: "" };
  const words =
    heard.kind === "final" ? [before.words, text].filter((part) => part !== "").join(" ") : before.words;
  if (ears.utterance === undefined && text === "") return ears;
  return {
    ...ears,
    utterance: {
      startMs: Math.min(before.startMs, heard.startMs),
      endMs: Math.max(before.endMs, heard.endMs),
      words,
      guess: heard.kind === "partial" ? text : "",
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

/** When the speech being heard counts as said; Infinity while it goes on. */
export function utteranceDueMs(ears: Ears, hearing: Hearing): number {
  const { utterance } = ears;
  if (utterance === undefined || ears.voice.active) return Infinity;
  const awaitsWords =
    hearing.finalWithinMs !== undefined && (utterance.words === "" || utterance.guess !== "");
  const delay = endOfTurnMs(utterance.words, hearing.language);
  return utterance.endMs + (awaitsWords ? Math.max(delay, hearing.finalWithinMs ?? 0) : delay);
}

/** When the keys pressed so far count as the whole; 0 at once, `known` being the sequences that mean something. */
export function keysDueMs(ears: Ears, known: readonly string[]): number {
  const { keys } = ears;
  if (keys === undefined) return Infinity;
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
