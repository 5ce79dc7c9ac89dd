/** What a call of ours can be in. `recall-scheduled` waits for its next attempt; the states after it are final. */
export const callStates = [
  "scheduled",
  "queued",
  "dialing",
  "ringing",
  "in-progress",
  "wrapping",
  "recall-scheduled",
  "closed",
  "no-answer",
  "busy",
  "wrong-number",
  "voicemail",
  "manual",
  "failed",
  "cancelled",
] as const;

export type CallState = (typeof callStates)[number];

/** How an attempt, and so a call, can end. */
export type FinalState =
  | "closed"
  | "no-answer"
  | "busy"
  | "wrong-number"
  | "voicemail"
  | "manual"
  | "failed"
  | "cancelled";

/** How one attempt ended: the state it leads to and the evidence. A value, never an exception. */
export interface Outcome {
  readonly state: FinalState;
  /** Stable kebab-case cause: `busy`, `declined`, `unallocated`, `ring-timeout`, `no-media`, … (outcome.ts lists them). */
  readonly cause: string;
  readonly sipStatus?: number;
  readonly sipReason?: string;
  /** Q.850 cause of a `Reason` header (RFC 3326), 1..127. */
  readonly q850?: number;
  readonly hungUpBy?: "callee" | "agent" | "operator" | "trunk";
  /** One sentence for a person. */
  readonly detail?: string;
}

/** One thing said or pressed. Times are milliseconds since the answer. */
export interface Turn {
  readonly seq: number;
  readonly speaker: "agent" | "callee";
  readonly text: string;
  readonly startMs: number;
  readonly endMs: number;
  /** `none`: sound was there, but nothing could transcribe it. */
  readonly via: "voice" | "dtmf" | "rtt" | "none";
  /** The agent was interrupted: `text` holds only what was played. */
  readonly cutOff?: boolean;
  /** Said while the other side was speaking. */
  readonly overlap?: boolean;
}
