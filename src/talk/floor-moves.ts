import type { ConversationEffect } from "./protocol.ts";
import {
  currentSpeech,
  discards,
  type Floor,
  type FloorStep,
  type Sentence,
  type Spoken,
  type Utterance,
  type Voice,
} from "./floor.ts";

/*
 * How the floor changes while the agent speaks: the next sentence begins, sounds, pauses, ends or is broken off.
 */

/** A playout that has said nothing so long after a speech should have ended has lost it. */
const playoutGraceMs = 3000;

/**
 * Goes on by one move: plays the next sentence, waits for its audio, or takes leave of a finished utterance.
 * Undefined when there is nothing to do. `rtt`: the words go out as text too, with or without audio.
 */
export function advance(floor: Floor, at: number, rtt: boolean): FloorStep | undefined {
  const { voice } = floor;
  const [head, ...rest] = floor.queue;
  if (head === undefined || (voice.type !== "silent" && voice.type !== "waiting")) return undefined;
  const sentence = head.sentences[head.done];
  if (sentence === undefined) return finishHead(floor, head, rest, at);
  if (sentence.audio === "asked") {
    if (voice.type === "waiting") return undefined;
    return {
      floor: { ...floor, voice: { type: "waiting", sinceMs: at, runMs: runOf(floor, at) } },
      effects: [],
    };
  }
  const last = head.done === head.sentences.length - 1;
  // T.140 8.2 ends a line with LINE SEPARATOR.
  const asText: readonly ConversationEffect[] = rtt
    ? [{ type: "send-text", text: sentence.text + (last ? "\u2028" : " ") }]
    : [];
  if (sentence.audio === "failed") {
    const heard = rtt ? { ...sentence, playedAtMs: at } : sentence;
    return { floor: withHead(floor, next(head, heard, at), at), effects: asText };
  }
  const overdueMs = sentence.durationMs === undefined ? Infinity : at + sentence.durationMs + playoutGraceMs;
  const playing: Voice = {
    type: "playing",
    speechId: sentence.speechId,
    sinceMs: at,
    runMs: runOf(floor, at),
    overdueMs,
  };
  const begun = { ...head, startMs: head.startMs ?? at };
  return {
    floor: { ...floor, queue: [replace(begun, { ...sentence, playedAtMs: at }), ...rest], voice: playing },
    effects: [{ type: "play", speechId: sentence.speechId }, ...asText],
  };
}

/** The outcome of a synthesis, wherever the sentence stands. */
export function synthesised(
  floor: Floor,
  speechId: string,
  outcome: { readonly audio: "ready" | "failed"; readonly durationMs?: number | undefined },
): Floor {
  const queue = floor.queue.map((utterance) => {
    const sentence = utterance.sentences.find((each) => each.speechId === speechId);
    if (sentence === undefined || sentence.playedAtMs !== undefined) return utterance;
    return replace(utterance, { ...sentence, audio: outcome.audio, durationMs: outcome.durationMs });
  });
  return { ...floor, queue };
}

/** Its first packet left: the turn began then and not when playing was asked for. */
export function started(floor: Floor, speechId: string, atMs: number): Floor {
  const [head, ...rest] = floor.queue;
  const sentence = head?.sentences[head.done];
  if (head === undefined || sentence?.speechId !== speechId || floor.voice.type === "silent") return floor;
  const startMs = head.done === 0 ? atMs : head.startMs;
  return { ...floor, queue: [replace({ ...head, startMs }, { ...sentence, playedAtMs: atMs }), ...rest] };
}

/** The sentence on the line was played to its end (or will never be heard further). */
export function played(floor: Floor, speechId: string, at: number): Floor {
  const [head] = floor.queue;
  const sentence = head?.sentences[head.done];
  if (head === undefined || sentence === undefined || currentSpeech(floor) !== speechId) return floor;
  return withHead(floor, next(head, sentence, at), at);
}

/** Stops for now, keeping the place. */
export function pause(floor: Floor, at: number): FloorStep {
  if (floor.voice.type !== "playing") return { floor, effects: [] };
  const { speechId, runMs } = floor.voice;
  return {
    floor: { ...floor, voice: { type: "paused", speechId, runMs, sinceMs: at } },
    effects: [{ type: "pause" }],
  };
}

/** Goes on from the paused sample. */
export function resume(floor: Floor, at: number): FloorStep {
  if (floor.voice.type !== "paused") return { floor, effects: [] };
  const { speechId, runMs } = floor.voice;
  const durationMs = floor.queue[0]?.sentences[floor.queue[0].done]?.durationMs;
  const overdueMs = durationMs === undefined ? Infinity : at + durationMs + playoutGraceMs;
  const playing: Voice = { type: "playing", speechId, runMs, sinceMs: at, overdueMs };
  return { floor: { ...floor, voice: playing }, effects: [{ type: "resume" }] };
}

/** Breaks off what is being said; `stopped` tells later how much of it was heard. Without a sound yet, it is dropped. */
export function cut(floor: Floor, at: number): FloorStep {
  const { voice } = floor;
  if (voice.type === "playing" || voice.type === "paused") {
    const { speechId, runMs } = voice;
    const heardTillMs = voice.type === "paused" ? voice.sinceMs : at;
    const stopping: Voice = { type: "stopping", speechId, runMs, sinceMs: at, heardTillMs, share: undefined };
    return { floor: { ...floor, voice: stopping }, effects: [{ type: "clear-playout" }] };
  }
  const [head, ...rest] = floor.queue;
  if (voice.type !== "waiting" || head === undefined) return { floor, effects: [] };
  const silent: Voice = { type: "silent", sinceMs: at, runMs: voice.runMs, cut: true };
  return { ...leave({ ...floor, queue: rest, voice: silent }, head, at, 0), effects: discards([head]) };
}

/** The line fell silent unasked: it is going away. Nothing else is begun on it. */
export function fallenSilent(floor: Floor, at: number, share: number): Floor {
  const { voice } = floor;
  if (voice.type !== "playing" && voice.type !== "paused") return floor;
  const { speechId, runMs } = voice;
  return { ...floor, voice: { type: "stopping", speechId, runMs, sinceMs: at, heardTillMs: at, share } };
}

/** The answer to `clear-playout`: the utterance is over with the share of its words that was played. */
export function stopped(floor: Floor, speechId: string, at: number, share: number): FloorStep {
  const [head, ...rest] = floor.queue;
  if (head === undefined || currentSpeech(floor) !== speechId) return { floor, effects: [] };
  const voice: Voice = { type: "silent", sinceMs: at, runMs: floor.voice.runMs, cut: true };
  const unheard = { ...head, done: head.done + 1 };
  const endMs = floor.voice.type === "stopping" ? floor.voice.heardTillMs : at;
  return { ...leave({ ...floor, queue: rest, voice }, head, endMs, share), effects: discards([unheard]) };
}

/** The line is gone: what was heard of the utterance being spoken is reckoned from the time it had. */
export function abandon(floor: Floor, at: number): FloorStep {
  const [head] = floor.queue;
  const sentence = head?.sentences[head.done];
  const silent: Floor = {
    ...floor,
    queue: [],
    voice: { type: "silent", sinceMs: at, runMs: floor.voice.runMs, cut: true },
  };
  if (head?.startMs === undefined) return { floor: silent, effects: [] };
  const { voice } = floor;
  if (voice.type === "silent" || voice.type === "waiting")
    return { ...leave(silent, head, at, 0), effects: [] };
  const endMs = voice.type === "stopping" ? voice.heardTillMs : at;
  const known = voice.type === "stopping" ? voice.share : undefined;
  return { ...leave(silent, head, endMs, known ?? shareByTime(sentence, endMs)), effects: [] };
}

function shareByTime(sentence: Sentence | undefined, at: number): number {
  if (sentence?.durationMs === undefined || sentence.playedAtMs === undefined) return 0;
  return (at - sentence.playedAtMs) / Math.max(1, sentence.durationMs);
}

function finishHead(floor: Floor, head: Utterance, rest: readonly Utterance[], at: number): FloorStep {
  const press: readonly ConversationEffect[] =
    head.digits === "" ? [] : [{ type: "send-digits", digits: head.digits }];
  if (head.startMs === undefined) return { floor: { ...floor, queue: rest }, effects: press };
  const spoken: Spoken = {
    utterance: head,
    text: heardText(head),
    startMs: head.startMs,
    endMs: floor.voice.type === "silent" ? floor.voice.sinceMs : at,
    cutOff: false,
  };
  return { floor: { ...floor, queue: rest }, effects: press, spoken };
}

/** Ends an utterance early, with `share` (0 to 1) of its current sentence heard. */
function leave(floor: Floor, head: Utterance, at: number, share: number): FloorStep {
  if (head.startMs === undefined) return { floor, effects: [] };
  const current = head.sentences[head.done];
  const tail = current === undefined ? "" : wordsWithin(current.text, share);
  const text = [heardText({ ...head, sentences: head.sentences.slice(0, head.done) }), tail]
    .filter((part) => part !== "")
    .join(" ");
  const whole = share >= 1 && head.done >= head.sentences.length - 1;
  return {
    floor,
    effects: [],
    spoken: { utterance: head, text, startMs: head.startMs, endMs: at, cutOff: !whole },
  };
}

function heardText(utterance: Utterance): string {
  return utterance.sentences
    .filter((sentence) => sentence.playedAtMs !== undefined)
    .map((sentence) => sentence.text)
    .join(" ");
}

/** The whole words that lie within the first `share` of a text: speech runs about evenly through its letters. */
function wordsWithin(text: string, share: number): string {
  const reach = Math.min(1, Math.max(0, share)) * text.length;
  const ends = [...text.matchAll(/\S+/g)].map((word) => word.index + word[0].length);
  return text.slice(0, ends.findLast((end) => end <= reach) ?? 0);
}

function next(head: Utterance, sentence: Sentence, at: number): Utterance {
  const startMs = head.startMs ?? (sentence.playedAtMs === undefined ? undefined : at);
  return { ...replace(head, sentence), startMs, done: head.done + 1 };
}

function withHead(floor: Floor, head: Utterance, at: number): Floor {
  const voice: Voice = { type: "silent", sinceMs: at, runMs: floor.voice.runMs, cut: false };
  return { ...floor, queue: [head, ...floor.queue.slice(1)], voice };
}

function replace(utterance: Utterance, sentence: Sentence): Utterance {
  const sentences = utterance.sentences.map((each) =>
    each.speechId === sentence.speechId ? sentence : each,
  );
  return { ...utterance, sentences };
}

/** Sentences that follow each other within a breath are one run of speech. */
function runOf(floor: Floor, at: number): number {
  const { voice } = floor;
  if (voice.type !== "silent") return voice.runMs;
  return floor.made > 1 && !voice.cut && at - voice.sinceMs < 300 && voice.sinceMs > voice.runMs
    ? voice.runMs
    : at;
}
