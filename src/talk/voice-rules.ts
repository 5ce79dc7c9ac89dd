import {
  andThen,
  become,
  onFloor,
  publish,
  stay,
  type ConversationState,
  type Move,
} from "./conversation-state.ts";
import { isBusy } from "./ears.ts";
import { goSilently } from "./ending.ts";
import { currentSpeech, type Sentence } from "./floor.ts";
import { advance, played, fallenSilent, started, stopped, synthesised } from "./floor-moves.ts";
import type { ConversationInput } from "./protocol.ts";

/*
 * The agent's voice: when its next words may begin, and what becomes of a speech that never comes or never ends.
 */

/** For a sentence the line is waiting for. */
const synthesisPatienceMs = 8000;
const stoppingPatienceMs = 1000;
/** How long the agent lets a callee speak before it says its next thing all the same. */
const politenessMs = 4000;

type SpeechInput = Extract<ConversationInput, { readonly speechId: string }>;

export function receiveSpeech(state: ConversationState, input: SpeechInput, at: number): Move {
  const { floor } = state;
  const { speechId } = input;
  switch (input.type) {
    case "speech-ready": {
      const { replyClock } = state;
      const first = replyClock?.speechId === speechId && replyClock.firstAudioMs === undefined;
      return become(state, {
        floor: synthesised(floor, speechId, { audio: "ready", durationMs: input.durationMs }),
        ...(first && { replyClock: { ...replyClock, firstAudioMs: input.soundMs ?? at } }),
      });
    }
    case "speech-failed": {
      const failed = synthesised(floor, speechId, { audio: "failed" });
      if (currentSpeech(floor) !== speechId) return become(state, { floor: failed });
      const broken = onFloor(state, stopped(floor, speechId, at, 0));
      return state.rtt ? broken : andThen(broken, (next) => goSilently(next, input.reason, at));
    }
    case "speech-started":
      return currentSpeech(floor) === speechId ? noteStarted(state, speechId, input.atMs) : stay(state);
    case "speech-played":
      return currentSpeech(floor) === speechId
        ? andThen(noteStarted(state, speechId, undefined), (next) =>
            become(next, { floor: played(next.floor, speechId, at) }),
          )
        : stay(state);
    case "speech-stopped":
      return receiveStop(state, speechId, at, share(input.playedMs, input.totalMs));
  }
}

function receiveStop(state: ConversationState, speechId: string, at: number, heard: number): Move {
  const { floor } = state;
  if (currentSpeech(floor) !== speechId) return stay(state);
  return floor.voice.type === "stopping"
    ? onFloor(state, stopped(floor, speechId, at, heard))
    : become(state, { floor: fallenSilent(floor, at, heard) });
}

/** The agent's next move, or undefined while there is none to make. */
export function speakOn(state: ConversationState, at: number): Move | undefined {
  const { floor, rtt } = state;
  const [head] = floor.queue;
  if (head === undefined || (head.startMs === undefined && !mayBegin(state, at))) return undefined;
  if (!rtt && awaited(state)?.audio === "failed") return goSilently(state, "speech synthesis failed", at);
  const step = advance(floor, at, rtt);
  if (step === undefined) return undefined;
  return andThen(onFloor(state, step), (next) => {
    const [begun] = next.floor.queue;
    if (begun?.startMs === undefined || begun.step === undefined) return stay(next);
    return become(next, { dialog: { ...next.dialog, step: begun.step } });
  });
}

/** When something about the voice has taken too long. */
export function voiceDueMs(state: ConversationState): number {
  const { voice } = state.floor;
  if (state.phase.type === "ringing") return Infinity;
  switch (voice.type) {
    case "waiting":
      return awaited(state)?.audio === "asked" ? voice.sinceMs + synthesisPatienceMs : Infinity;
    case "stopping":
      return voice.sinceMs + stoppingPatienceMs;
    case "playing":
      return voice.overdueMs;
    case "silent":
      return isHeldByManners(state) ? voice.sinceMs + politenessMs : Infinity;
    case "paused":
      return Infinity;
  }
}

export function mendVoice(state: ConversationState, at: number): Move {
  const { floor } = state;
  switch (floor.voice.type) {
    case "waiting":
      return become(state, {
        floor: synthesised(floor, awaited(state)?.speechId ?? "", { audio: "failed" }),
      });
    case "stopping":
      return onFloor(state, stopped(floor, floor.voice.speechId, at, floor.voice.share ?? 0));
    case "playing":
      return stay({ ...state, floor: played(floor, floor.voice.speechId, at) }, { type: "clear-playout" });
    case "silent":
    case "paused":
      return stay(state);
  }
}

/** The sentence that comes next. */
function awaited(state: ConversationState): Sentence | undefined {
  const [head] = state.floor.queue;
  return head?.sentences[head.done];
}

/** The first sound of a turn; the first of the call is the figure callers are judged by. */
function noteStarted(state: ConversationState, speechId: string, atMs: number | undefined): Move {
  const [head] = state.floor.queue;
  const at = atMs ?? head?.startMs ?? 0;
  const fresh = head?.done === 0 && atMs !== undefined;
  const first = state.firstWordMs === undefined;
  const { replyClock } = state;
  const replies = fresh && replyClock !== undefined && replyClock.utteranceId === head?.id;
  return andThen(
    become(state, { floor: atMs === undefined ? state.floor : started(state.floor, speechId, atMs) }),
    (next) => (fresh ? publish(next, { type: "speech-started", speaker: "agent", atMs: at }) : stay(next)),
    (next) => (replies ? become(next, { replyClock: { ...replyClock, firstPacketMs: at } }) : stay(next)),
    (next) => (first ? become(next, { firstWordMs: at }) : stay(next)),
    (next) => (first ? publish(next, { type: "first-word", afterAnswerMs: at }) : stay(next)),
  );
}

function mayBegin(state: ConversationState, at: number): boolean {
  const { phase, floor } = state;
  switch (phase.type) {
    case "ringing":
    case "voicemail-waiting":
    case "over":
      return false;
    case "talking":
      return !isHeldByManners(state) || at >= floor.voice.sinceMs + politenessMs;
    case "voicemail-speaking":
    case "closing":
      return true;
  }
}

/** An agent that may be interrupted lets the callee finish; its very first words wait for nobody. */
function isHeldByManners(state: ConversationState): boolean {
  const { ears, floor, firstWordMs, phase, plan } = state;
  const waits =
    floor.voice.type === "silent" && floor.queue[0]?.startMs === undefined && floor.queue.length > 0;
  const patient = plan.interrupt || state.revocable;
  return waits && patient && phase.type === "talking" && firstWordMs !== undefined && isBusy(ears);
}

function share(playedMs: number, totalMs: number): number {
  return totalMs > 0 ? playedMs / totalMs : 0;
}
