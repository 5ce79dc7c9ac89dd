import type { Turn } from "#domain";
import type { DialogResult } from "./plan.ts";

/*
 * What a conversation needs from a vendor. Embedded engines and network providers implement the same shapes;
 * audio is 16-bit mono PCM, every promise and stream ends when its `signal` aborts.
 */

// ── Dialog: decides what the agent does next ─────────────────────────────────────────────────────

/** Why the dialog is asked. */
export type DialogCue =
  /** The phone rings; the acts are prepared before anyone answers. */
  | { readonly type: "start" }
  | { readonly type: "answer"; readonly text: string; readonly via: "voice" | "dtmf" | "rtt" }
  /** The callee spoke, and nothing could tell the words. */
  | { readonly type: "wordless-speech"; readonly durationMs: number }
  /** No answer came in time. `round`: 1 for the first time since the callee's last sign of life. */
  | { readonly type: "silence"; readonly round: number };

export interface DialogTurn {
  readonly cue: DialogCue;
  /** Everything said so far, cut-off turns with only the words that were heard. */
  readonly turns: readonly Turn[];
  /** What the dialog noted so far. */
  readonly notes?: DialogNotes;
  /** The callee's words cannot be heard any more: only keys and typed text. */
  readonly deaf?: boolean;
}

/** What a dialog writes down on its way; a later note overwrites an earlier one. It counts however the call ends. */
export interface DialogNotes {
  readonly success?: boolean;
  readonly output?: Readonly<Record<string, unknown>>;
  readonly followUp?: boolean;
  readonly doNotCall?: boolean;
  /** ISO 8601. */
  readonly callbackAt?: string;
  readonly transferTo?: string;
}

/** One thing the agent does. `step` names the place in the dialog, for the summary of a call that ends there. */
export type DialogAct =
  | {
      readonly type: "say";
      readonly text: string;
      readonly step?: string;
      /** What the callee says during it is an answer; otherwise it can only skip it. */
      readonly answerable?: boolean;
      /** Goes on with what was said before it in the same answer: one turn of the transcript. */
      readonly continues?: boolean;
    }
  /** Says `text` (may be empty), then waits for an answer. */
  | {
      readonly type: "ask";
      readonly text: string;
      readonly step?: string;
      /** Key sequences that mean something here; a sequence is complete when no longer one can follow. */
      readonly digits: readonly string[];
    }
  | { readonly type: "press"; readonly digits: string }
  /** The answer has begun to come; its words follow. */
  | { readonly type: "begin" }
  /** Writes something down. `doNotCall` ends the call, politely. */
  | { readonly type: "note"; readonly note: DialogNotes }
  /** To a `silence` cue: nothing to say about it. The usual prompt is spoken, or the call closed. */
  | { readonly type: "pass" }
  /** Hangs up when everything before it was said. An empty `summary` is filled from the facts of the call. */
  | { readonly type: "end"; readonly result: DialogResult };

/** The brain of one call. It may keep a place in its dialog between turns; an aborted answer must not move it. */
export interface DialogModel {
  /**
   * It keeps no place: everything it knows is in the turn. So it may be asked ahead, asked again, and an answer of
   * which nothing was heard yet may be taken back when the callee goes on speaking.
   */
  readonly revocable?: boolean;
  /** Ends with exactly one `ask`, `pass` or `end`. Rejects when it cannot answer. */
  answer(turn: DialogTurn, signal: AbortSignal): AsyncIterable<DialogAct>;
}

// ── Language model: what a dialog without a script is made of ─────────────────────────────────────

export type Message =
  | { readonly role: "system" | "user"; readonly text: string }
  | {
      readonly role: "assistant";
      readonly text: string;
      readonly cutOff?: boolean;
      readonly toolCalls?: readonly ToolCall[];
    }
  | { readonly role: "tool"; readonly callId: string; readonly text: string };

export interface Tool {
  readonly name: string;
  readonly description: string;
  /** JSON Schema of the arguments. */
  readonly parameters: Readonly<Record<string, unknown>>;
}

export interface ToolCall {
  readonly id: string;
  readonly name: string;
  readonly arguments: unknown;
}

export type LanguageDelta =
  | { readonly type: "text"; readonly text: string }
  | { readonly type: "tool-call"; readonly call: ToolCall }
  | {
      readonly type: "finish";
      readonly reason: "stop" | "length" | "tool-calls" | "filter";
      readonly usage?: { readonly inputTokens: number; readonly outputTokens: number };
    };

export interface LanguageRequest {
  readonly messages: readonly Message[];
  readonly tools?: readonly Tool[];
  readonly maxTokens?: number;
  readonly temperature?: number;
}

export interface LanguageModel {
  readonly capabilities: {
    readonly tools: boolean;
    /** How far the provider itself keeps to a JSON Schema. */
    readonly jsonSchema: "strict" | "json" | "prompt";
  };
  /** Opens connections while the phone rings. */
  warm?(signal: AbortSignal): Promise<void>;
  stream(request: LanguageRequest, signal: AbortSignal): AsyncIterable<LanguageDelta>;
  /** One JSON value meant to match `schema`; the caller still validates it. */
  object(
    request: LanguageRequest,
    schema: Readonly<Record<string, unknown>>,
    signal: AbortSignal,
  ): Promise<unknown>;
}

// ── Transcriber: hears ───────────────────────────────────────────────────────────────────────────

/** 20 ms of the callee's audio. */
export interface HeardFrame {
  readonly pcm: Int16Array;
  readonly rateHz: 8000 | 16000;
  /** Since the answer. */
  readonly atMs: number;
  /** The untouched G.711 payload, for providers that take it. */
  readonly g711?: { readonly law: "pcmu" | "pcma"; readonly bytes: Uint8Array };
}

/** Times are milliseconds since the answer. */
export type HearEvent =
  | { readonly type: "speech-started"; readonly atMs: number }
  | { readonly type: "partial"; readonly text: string; readonly startMs: number; readonly endMs: number }
  | {
      readonly type: "final";
      readonly text: string;
      readonly startMs: number;
      readonly endMs: number;
      readonly confidence?: number;
      readonly language?: string;
    }
  /** The provider believes the turn may be over; `turn-resumed` takes it back. */
  | { readonly type: "turn-ending"; readonly text: string }
  | { readonly type: "turn-resumed" }
  | { readonly type: "turn-ended"; readonly text: string }
  | { readonly type: "degraded"; readonly reason: string; readonly recoverable: boolean };

export interface Transcriber {
  readonly capabilities: {
    readonly streaming: boolean;
    /** Decides itself when a turn is over. */
    readonly turnDetection: boolean;
    /** From the end of speech to its final text, 99th percentile. */
    readonly finalWithinMs: number;
  };
  open(
    request: { readonly language: string; readonly hints?: readonly string[] },
    signal: AbortSignal,
  ): Promise<TranscriberSession>;
}

export interface TranscriberSession extends AsyncDisposable {
  /** Never waits; drops silence first when the provider falls behind. */
  write(frame: HeardFrame): void;
  /** Audio not yet taken by the provider. */
  readonly bufferedMs: number;
  /** Asks for the final text of what was written so far. */
  finalize(): void;
  readonly events: AsyncIterable<HearEvent>;
}

// ── Synthesizer: speaks ──────────────────────────────────────────────────────────────────────────

export interface SpeechRequest {
  readonly text: string;
  /** `1` to `7`; each synthesizer maps it to a voice of its own. */
  readonly voice: string;
  readonly language: string;
  /** 1 is the voice's own speed. */
  readonly speed?: number;
}

export interface SynthesizedSpeech {
  readonly rateHz: number;
  /** Chunks of any length. */
  readonly audio: AsyncIterable<Int16Array>;
  /** What made it, when that may be another than was asked: for caches. */
  readonly engine?: string;
  /** Where in the audio a piece of the text begins, when the engine knows. */
  readonly marks?: AsyncIterable<SpeechMark>;
}

export interface SpeechMark {
  readonly atMs: number;
  readonly textStart: number;
  readonly textEnd: number;
}

export interface Synthesizer {
  readonly capabilities: {
    readonly marks: boolean;
    readonly maxChars: number;
    /** The same request gives the same audio and may be kept. */
    readonly cacheable: boolean;
  };
  warm?(signal: AbortSignal): Promise<void>;
  say(request: SpeechRequest, signal: AbortSignal): Promise<SynthesizedSpeech>;
}
