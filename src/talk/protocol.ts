import type { ConversationEvent } from "./plan.ts";
import type { DialogAct, DialogTurn } from "./ports.ts";

/*
 * The conversation machine's two sides. Every `atMs`, `startMs` and `endMs` is milliseconds since the
 * `answered` input; voice activity is back-dated to when the sound really began or ended.
 *
 * A speech lives so: `synthesise` → `speech-ready` (or `speech-failed`) → `play` → `speech-started` →
 * exactly one of `speech-played`, `speech-stopped` (after `clear-playout`) and `speech-failed`.
 * The machine plays one speech at a time; `pause`, `resume` and `clear-playout` mean the one being played.
 */

export type ConversationInput =
  /** The callee picked up. `rtt`: real-time text was agreed. */
  | { readonly type: "answered"; readonly rtt: boolean }
  | { readonly type: "callee-speech"; readonly active: boolean; readonly atMs: number }
  /** A voicemail's tone, after it ended. */
  | { readonly type: "beep"; readonly atMs: number }
  | { readonly type: "tone"; readonly kind: "fax"; readonly atMs: number }
  /** One of `0123456789*#ABCD`. */
  | { readonly type: "digit"; readonly digit: string }
  /** Real-time text as it is typed (T.140): any number of characters, backspace and line separator included. */
  | { readonly type: "text"; readonly text: string }
  | {
      readonly type: "heard";
      readonly kind: "partial" | "final";
      readonly text: string;
      readonly startMs: number;
      readonly endMs: number;
    }
  /** The transcriber believes the turn may be over, takes that back, or knows it is. */
  | { readonly type: "turn-ending"; readonly text: string }
  | { readonly type: "turn-resumed" }
  | { readonly type: "turn-ended"; readonly text: string }
  /** There is no transcriber any more. */
  | { readonly type: "hearing-lost"; readonly reason: string }
  /**
   * Can be played without a gap: all of it, or a first chunk and more to come (`durationMs` then unknown).
   * `soundMs`: when its first sound was there, unless that was before the answer.
   */
  | {
      readonly type: "speech-ready";
      readonly speechId: string;
      readonly durationMs?: number;
      readonly soundMs?: number;
    }
  | { readonly type: "speech-failed"; readonly speechId: string; readonly reason: string }
  /** Its first packet left. */
  | { readonly type: "speech-started"; readonly speechId: string; readonly atMs: number }
  | { readonly type: "speech-played"; readonly speechId: string }
  | {
      readonly type: "speech-stopped";
      readonly speechId: string;
      readonly playedMs: number;
      readonly totalMs: number;
    }
  /** One act of the dialog's answer to `ask-dialog`; an `ask`, `pass` or `end` is the last. */
  | { readonly type: "dialog-acted"; readonly generation: number; readonly act: DialogAct }
  | { readonly type: "dialog-failed"; readonly generation: number; readonly reason: string }
  | { readonly type: "callee-hung-up" }
  | { readonly type: "operator-hung-up" };

export type ConversationEffect =
  /** `now`: the line waits for it; `ahead`: will be needed soon. */
  | {
      readonly type: "synthesise";
      readonly speechId: string;
      readonly text: string;
      readonly priority: "now" | "ahead";
    }
  | { readonly type: "play"; readonly speechId: string }
  | { readonly type: "pause" }
  /** From the paused sample. */
  | { readonly type: "resume" }
  /** Drop what is being played, paused or not; answered by `speech-stopped`. */
  | { readonly type: "clear-playout" }
  /** The speech will never be played: forget its audio, or stop making it. */
  | { readonly type: "discard"; readonly speechId: string }
  /** The agent's words as real-time text; only when it was agreed. */
  | { readonly type: "send-text"; readonly text: string }
  | { readonly type: "send-digits"; readonly digits: string }
  | { readonly type: "ask-dialog"; readonly generation: number; readonly turn: DialogTurn }
  /** Its answer is no longer wanted; acts that still come are ignored. */
  | { readonly type: "abort-dialog"; readonly generation: number }
  | { readonly type: "publish"; readonly event: ConversationEvent }
  | { readonly type: "detect-tones"; readonly on: boolean }
  /** The callee has stopped speaking: the transcriber is to tell its final words. */
  | { readonly type: "finalise-hearing" }
  /** Everything was said: hang up now. At most once, and always the last effect. */
  | { readonly type: "finish" };
