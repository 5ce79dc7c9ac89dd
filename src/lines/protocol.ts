import type { ConversationEvent, ConversationPlan, ConversationReport } from "#talk";
import type { LineAddress, LineMedia } from "./line-media.ts";
import type { PortRange } from "./rtp-port.ts";

/*
 * What the main thread and a call worker say to each other, by structured clone. Audio never crosses.
 * A line is known by a number of main's choice, never used twice.
 */

/** What a worker must know to open a line. */
export interface LineRequest {
  readonly callId: string;
  readonly attempt: number;
  readonly address: string;
  readonly plan: ConversationPlan;
  readonly recordingPath: string | undefined;
  /** Who hears, thinks and speaks. Without it: keys and typed text, the script, the embedded voice. */
  readonly voice?: VoiceOrder;
  /** Of the RTP ports; undefined: any. */
  readonly portRange: PortRange | undefined;
}

/** The providers of a call. A worker opens each distinct one once and shares it among its calls. */
export interface VoiceOrder {
  /** The tables `providers`, `voice_models`, `voices` and `limits` of the configuration file, as they were parsed. */
  readonly config: Readonly<Record<string, unknown>>;
  /** Secrets by where the configuration says they are: `env:NAME`, `file:PATH`, `command:…`, `keychain:NAME`. */
  readonly secrets: Readonly<Record<string, string>>;
}

export type ToWorker =
  | { readonly type: "open"; readonly line: number; readonly request: LineRequest }
  | { readonly type: "prepare"; readonly line: number }
  | { readonly type: "connect"; readonly line: number; readonly media: LineMedia }
  | { readonly type: "change-media"; readonly line: number; readonly media: LineMedia }
  | { readonly type: "press"; readonly line: number; readonly digit: string }
  | { readonly type: "close"; readonly line: number; readonly endedBy: LineEndedBy }
  /** Answered by `alive`. */
  | { readonly type: "ping" }
  /** Close every line and end the thread. */
  | { readonly type: "stop" };

export type FromWorker =
  /** The clock runs: lines may be opened. */
  | { readonly type: "started" }
  | { readonly type: "opened"; readonly line: number; readonly local: LineAddress }
  | { readonly type: "open-failed"; readonly line: number; readonly error: ErrorFields }
  | { readonly type: "line-event"; readonly line: number; readonly event: LineEvent }
  /** Answers `close`; the line is gone. */
  | { readonly type: "closed"; readonly line: number; readonly report: LineReport }
  | { readonly type: "alive" }
  | {
      readonly type: "log";
      readonly level: "debug" | "info" | "warn" | "error";
      readonly message: string;
      readonly fields: Readonly<Record<string, unknown>> | undefined;
    };

/** Who ended a call whose conversation had not ended by itself. */
export type LineEndedBy = "callee" | "operator";

/** What a line tells while the call runs. */
export type LineEvent =
  | { readonly type: "conversation"; readonly event: ConversationEvent }
  /** Everything was said and played: hang up. */
  | { readonly type: "conversation-finished" }
  | { readonly type: "media-timeout"; readonly first: boolean }
  /** The line is gone, or its worker is: the call must end. */
  | { readonly type: "line-lost"; readonly reason: string };

export interface LineReport {
  readonly conversation: ConversationReport;
  readonly recordedMs: number;
  /** Figures of the audio streams. */
  readonly media: Readonly<Record<string, number>>;
}

/** An error's way through a structured clone, which keeps nothing but its message. */
export interface ErrorFields {
  readonly code: string;
  readonly message: string;
  readonly hint: string | undefined;
  readonly retryable: boolean;
}
