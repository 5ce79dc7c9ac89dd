import type { Verdict } from "./plan.ts";
import { phrasesOf } from "./phrase-book.ts";
import { holdsPhrase } from "./phrases.ts";

/*
 * Who answered. Duration alone only raises a suspicion of a voicemail; a beep, words, keys or typed text prove.
 * Runs beside the conversation and never holds it up. Times: ms since the answer.
 */

export interface Screening {
  readonly verdict: Verdict | undefined;
  /** The callee's speech, pauses shorter than a breath counted in. */
  readonly run: SpeechRun | undefined;
  readonly heardSound: boolean;
}

interface SpeechRun {
  readonly startMs: number;
  readonly endMs: number;
  readonly active: boolean;
  /** The first of the call, begun soon after the answer: perhaps a recorded greeting. */
  readonly greeting: boolean;
}

export type Evidence =
  | { readonly type: "callee-speech"; readonly active: boolean; readonly atMs: number }
  | { readonly type: "beep"; readonly atMs: number }
  | { readonly type: "tone"; readonly kind: "fax"; readonly atMs: number }
  | { readonly type: "digit"; readonly atMs: number }
  | { readonly type: "text"; readonly atMs: number }
  | { readonly type: "words"; readonly text: string; readonly language: string; readonly atMs: number }
  /** All words of a turn that is over. */
  | { readonly type: "turn"; readonly text: string; readonly language: string; readonly atMs: number };

/** A voicemail greets within this time; who speaks first later has listened. */
const greetingWithinMs = 6000;
const shortGreetingMs = 1800;
const longSpeechMs = 3200;
const breathMs = 700;
/** After a greeting of middle length: a machine would have beeped. */
const noBeepMs = 3000;
/** A beep after a short recorded greeting still unmasks a voicemail. */
export const beepWithinMs = 30_000;

export const unscreened: Screening = { verdict: undefined, run: undefined, heardSound: false };

/** What one piece of evidence makes of the verdict. */
export function weigh(screening: Screening, evidence: Evidence): Screening {
  switch (evidence.type) {
    case "callee-speech":
      return sound(settleSpeech(screening, evidence.atMs), evidence.active, evidence.atMs);
    case "beep":
      return evidence.atMs <= beepWithinMs && !isProven(screening.verdict)
        ? decide(screening, { kind: "voicemail", by: "beep", atMs: evidence.atMs, evidence: "a beep" })
        : screening;
    case "tone":
      return isProven(screening.verdict)
        ? screening
        : decide(screening, { kind: "fax", by: "tone", atMs: evidence.atMs, evidence: "a fax tone" });
    case "digit":
      return proveByHand(screening, "dtmf", evidence.atMs);
    case "text":
      return proveByHand(screening, "text", evidence.atMs);
    case "words":
      return read(screening, evidence.text, evidence.language, evidence.atMs);
    case "turn":
      return readTurn(screening, evidence.text, evidence.language, evidence.atMs);
  }
}

/** The next moment at which time alone decides something, or Infinity. */
export function screeningDueMs(screening: Screening): number {
  const { run, verdict } = screening;
  if (run === undefined || verdict !== undefined) return Infinity;
  if (run.active) return run.greeting ? run.startMs + longSpeechMs : Infinity;
  return run.endMs + (isShort(run) ? breathMs : noBeepMs);
}

/** What the time that has passed makes of the verdict. */
export function settleSpeech(screening: Screening, at: number): Screening {
  const { run } = screening;
  const dueMs = screeningDueMs(screening);
  if (run === undefined || at < dueMs) return screening;
  const seconds = ((run.active ? longSpeechMs : run.endMs - run.startMs) / 1000).toFixed(1);
  if (run.active) {
    const evidence = `more than ${seconds} s of speech without a pause`;
    return decide(screening, { kind: "voicemail", by: "duration", atMs: dueMs, evidence });
  }
  const evidence = run.greeting ? `${seconds} s of speech, then silence` : "spoke after listening";
  return decide(screening, { kind: "person", by: "duration", atMs: dueMs, evidence });
}

/** The verdict of a call that is over. */
export function finalVerdict(screening: Screening, at: number): Verdict {
  if (screening.verdict !== undefined) return screening.verdict;
  return screening.heardSound
    ? { kind: "unknown", by: "timeout", atMs: at, evidence: "too little was heard" }
    : { kind: "silence", by: "timeout", atMs: at, evidence: "nobody made a sound" };
}

/** Whether more than the length of someone's speech says so. */
export function isCertain(verdict: Verdict): boolean {
  return verdict.by !== "duration" && verdict.by !== "timeout";
}

function sound(screening: Screening, active: boolean, atMs: number): Screening {
  const { run } = screening;
  const heard = { ...screening, heardSound: true };
  if (!active) return run === undefined ? screening : { ...heard, run: { ...run, active, endMs: atMs } };
  if (run !== undefined && (run.active || atMs - run.endMs < breathMs))
    return { ...heard, run: { ...run, active } };
  const greeting = run === undefined ? atMs <= greetingWithinMs : run.greeting;
  return { ...heard, run: { startMs: atMs, endMs: atMs, active, greeting } };
}

function isShort(run: SpeechRun): boolean {
  return !run.greeting || run.endMs - run.startMs <= shortGreetingMs;
}

/** Only a living hand presses keys or types. */
function proveByHand(screening: Screening, by: "dtmf" | "text", atMs: number): Screening {
  if (isProven(screening.verdict)) return screening;
  return decide(screening, { kind: "person", by, atMs, evidence: by === "dtmf" ? "pressed a key" : "typed" });
}

function read(screening: Screening, text: string, language: string, atMs: number): Screening {
  const phrases = phrasesOf(language);
  const { verdict } = screening;
  if (verdict !== undefined && verdict.kind !== "person" && isCertain(verdict)) return screening;
  if (isProven(verdict)) return screening;
  const kind = holdsPhrase(text, phrases.voicemail)
    ? "voicemail"
    : holdsPhrase(text, phrases.menu)
      ? "menu"
      : undefined;
  if (kind === undefined || atMs > beepWithinMs) return screening;
  return decide(screening, { kind, by: "transcript", atMs, evidence: `"${text}"` });
}

/** Who spoke for long without a machine's words is only a person who has much to say. */
function readTurn(screening: Screening, text: string, language: string, atMs: number): Screening {
  const { verdict } = screening;
  const { menu, voicemail } = phrasesOf(language);
  const suspected = verdict?.kind === "voicemail" && !isCertain(verdict);
  if (!suspected || holdsPhrase(text, [...voicemail, ...menu])) return screening;
  return decide(screening, { kind: "person", by: "transcript", atMs, evidence: `"${text.slice(0, 120)}"` });
}

/** Keys, typed text, a fax tone and a beep are not taken back. */
function isProven(verdict: Verdict | undefined): boolean {
  return (
    verdict !== undefined &&
    verdict.by !== "duration" &&
    verdict.by !== "timeout" &&
    verdict.by !== "transcript"
  );
}

function decide(screening: Screening, verdict: Verdict): Screening {
  return { ...screening, verdict };
}
