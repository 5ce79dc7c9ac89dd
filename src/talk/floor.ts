import type { ConversationEffect } from "./protocol.ts";
import { sentencesOf } from "./sentence.ts";

/*
 * The agent's side of the line: what it still has to say and what the playout does with it. One speech is one
 * sentence, so that an interruption is known to the word; one utterance is one turn. Times: ms since the answer.
 */

export interface Floor {
  /** How many utterances were ever made. */
  readonly made: number;
  /** The first is being spoken, or comes next. */
  readonly queue: readonly Utterance[];
  readonly voice: Voice;
}

type Role = "opening" | "say" | "ask" | "prompt" | "voicemail-message" | "goodbye" | "press";

export interface Utterance {
  readonly id: string;
  readonly role: Role;
  /** The place in the dialog it belongs to. */
  readonly step: string | undefined;
  /** What the callee says during it is an answer. */
  readonly answerable: boolean;
  readonly sentences: readonly Sentence[];
  /** How many sentences are behind us. */
  readonly done: number;
  /** When its first sound was played. */
  readonly startMs: number | undefined;
  /** Key presses to send, for the role `press`. */
  readonly digits: string;
}

export interface Sentence {
  readonly speechId: string;
  readonly text: string;
  readonly audio: "asked" | "ready" | "failed";
  readonly durationMs: number | undefined;
  /** When it began; undefined for one that was never heard. */
  readonly playedAtMs: number | undefined;
}

export type Voice =
  /** `runMs`: when the agent last began to speak; gaps between its own sentences do not count. */
  | { readonly type: "silent"; readonly sinceMs: number; readonly runMs: number; readonly cut: boolean }
  /** The next sentence is not synthesised yet. */
  | { readonly type: "waiting"; readonly sinceMs: number; readonly runMs: number }
  | {
      readonly type: "playing";
      readonly speechId: string;
      readonly sinceMs: number;
      readonly runMs: number;
      /** A playout that says nothing any more: taken for played. */
      readonly overdueMs: number;
    }
  | { readonly type: "paused"; readonly speechId: string; readonly sinceMs: number; readonly runMs: number }
  /**
   * `clear-playout` was sent, or the line fell silent by itself and is about to end (`share` of the sentence heard,
   * 0 to 1, is then known). The last sound was heard at `heardTillMs`.
   */
  | {
      readonly type: "stopping";
      readonly speechId: string;
      readonly sinceMs: number;
      readonly heardTillMs: number;
      readonly share: number | undefined;
      readonly runMs: number;
    };

/** An utterance that is over, with the words that were really played. */
export interface Spoken {
  readonly utterance: Utterance;
  readonly text: string;
  readonly startMs: number;
  readonly endMs: number;
  readonly cutOff: boolean;
}

export interface FloorStep {
  readonly floor: Floor;
  readonly effects: readonly ConversationEffect[];
  readonly spoken?: Spoken;
}

export interface NewUtterance {
  readonly role: Role;
  readonly text: string;
  readonly language: string;
  readonly step?: string | undefined;
  readonly answerable?: boolean;
  readonly digits?: string;
}

export const quietFloor: Floor = {
  made: 0,
  queue: [],
  voice: { type: "silent", sinceMs: 0, runMs: 0, cut: false },
};

/** Nothing is being said and nothing waits to be. */
export function isIdle(floor: Floor): boolean {
  return floor.queue.length === 0 && floor.voice.type === "silent";
}

/** Adds an utterance at the end and has it synthesised. */
export function enqueue(floor: Floor, order: NewUtterance): FloorStep {
  const id = `u${floor.made + 1}`;
  const sentences = sentencesOf(order.text, order.language).map((text, i): Sentence => ({
    speechId: `${id}.${i + 1}`,
    text,
    audio: "asked",
    durationMs: undefined,
    playedAtMs: undefined,
  }));
  const utterance: Utterance = {
    id,
    role: order.role,
    step: order.step,
    answerable: order.answerable ?? order.role === "ask",
    sentences,
    done: 0,
    startMs: undefined,
    digits: order.digits ?? "",
  };
  const effects = sentences.map((sentence, i): ConversationEffect => ({
    type: "synthesise",
    speechId: sentence.speechId,
    text: sentence.text,
    priority: floor.queue.length === 0 && i === 0 ? "now" : "ahead",
  }));
  return { floor: { ...floor, made: floor.made + 1, queue: [...floor.queue, utterance] }, effects };
}

/** Goes on with the utterance said last; undefined when it is none of the dialog's, or already over. */
export function extend(floor: Floor, text: string, language: string): FloorStep | undefined {
  const last = floor.queue.at(-1);
  if (last === undefined || last.role !== "say") return undefined;
  const known = last.sentences.length;
  const more = sentencesOf(text, language).map((words, i): Sentence => ({
    speechId: `${last.id}.${known + i + 1}`,
    text: words,
    audio: "asked",
    durationMs: undefined,
    playedAtMs: undefined,
  }));
  const longer = { ...last, sentences: [...last.sentences, ...more] };
  const effects = more.map((sentence): ConversationEffect => ({
    type: "synthesise",
    speechId: sentence.speechId,
    text: sentence.text,
    priority: "ahead",
  }));
  return { floor: { ...floor, queue: [...floor.queue.slice(0, -1), longer] }, effects };
}

/** The id of the speech the playout has, if it has one. */
export function currentSpeech(floor: Floor): string | undefined {
  const { voice } = floor;
  return voice.type === "silent" || voice.type === "waiting" ? undefined : voice.speechId;
}

/** Forgets every utterance that was not begun. */
export function dropQueue(floor: Floor): FloorStep {
  const [head, ...rest] = floor.queue;
  const begun = head !== undefined && (head.startMs !== undefined || currentSpeech(floor) !== undefined);
  const gone = begun ? rest : floor.queue;
  const voice: Voice =
    !begun && floor.voice.type === "waiting"
      ? { type: "silent", sinceMs: floor.voice.sinceMs, runMs: floor.voice.runMs, cut: false }
      : floor.voice;
  return { floor: { ...floor, voice, queue: begun ? [head] : [] }, effects: discards(gone) };
}

/** Speeches of these utterances that will not be played. */
export function discards(utterances: readonly Utterance[]): readonly ConversationEffect[] {
  return utterances.flatMap((utterance) =>
    utterance.sentences
      .slice(utterance.done)
      .filter((sentence) => sentence.audio !== "failed")
      .map((sentence): ConversationEffect => ({ type: "discard", speechId: sentence.speechId })),
  );
}
