import type { PlaybookSettings, Turn, VoiceId, VoiceModel } from "#domain";

/** Everything a conversation needs to know before it starts. */
export interface ConversationPlan {
  readonly settings: PlaybookSettings;
  /** Values for `{{name}}` in the playbook's texts. */
  readonly params: Readonly<Record<string, string>>;
  readonly language: string;
  readonly voiceId: VoiceId;
  readonly voiceModel: VoiceModel;
  readonly interrupt: boolean;
  /** IANA zone of the callee, for "tomorrow" and "at five". Default: UTC. */
  readonly timezone?: string;
}

/** Who answered, and how we know. */
export interface Verdict {
  readonly kind: "person" | "voicemail" | "menu" | "fax" | "silence" | "unknown";
  readonly by: "duration" | "transcript" | "text" | "dtmf" | "beep" | "tone" | "timeout";
  /** Milliseconds after the answer. */
  readonly atMs: number;
  readonly evidence: string;
}

/** What is worth telling a reader while the call runs. Times are milliseconds since the answer. */
export type ConversationEvent =
  /** `timing`: of an agent's turn that answers the callee. */
  | { readonly type: "turn-finished"; readonly turn: Turn; readonly timing?: TurnTiming }
  | { readonly type: "speech-started"; readonly speaker: "agent" | "callee"; readonly atMs: number }
  | { readonly type: "verdict-reached"; readonly verdict: Verdict }
  | { readonly type: "first-word"; readonly afterAnswerMs: number }
  | { readonly type: "voicemail-message-left"; readonly atMs: number }
  | { readonly type: "opted-out"; readonly atMs: number }
  /** The transcriber is gone for good: from here on only keys and typed text are understood. */
  | { readonly type: "hearing-lost"; readonly atMs: number; readonly reason: string }
  /** The dialog model failed or was too slow, and is asked a second time. */
  | { readonly type: "dialog-asked-again"; readonly atMs: number; readonly reason: string };

/**
 * When the steps from the callee's last sound to the agent's first packet were taken, in ms since the answer. What
 * other programs took lies between `endOfTurnMs` and `firstTextMs` (the model) and from there to `firstAudioMs` (the
 * voice); `ownMs` is the rest after the end of the turn: ours alone.
 */
export interface TurnTiming {
  /** The true end of the callee's speech, or the last key. */
  readonly speechEndMs: number;
  /** The words of the callee were final; absent for keys and without a transcriber. */
  readonly wordsFinalMs?: number;
  /** The callee's turn was taken as over. */
  readonly endOfTurnMs: number;
  /** The model's first token; may lie before `endOfTurnMs`, when it was asked ahead. */
  readonly firstTokenMs?: number;
  /** The first words to be spoken were there. */
  readonly firstTextMs: number;
  /** Their first sound was there. */
  readonly firstAudioMs?: number;
  readonly firstPacketMs: number;
  readonly ownMs: number;
}

/** What the dialog itself concluded. */
export interface DialogResult {
  readonly success: boolean;
  readonly output: Readonly<Record<string, unknown>>;
  readonly summary: string;
  readonly followUp: boolean;
  readonly doNotCall: boolean;
  /** The callee asked to be called again then: ISO 8601, as the model gave it. */
  readonly callbackAt?: string;
  /** The callee asked for this number of the playbook's. */
  readonly transferTo?: string;
  /** Why it counts as success or not, and the callee's own words for it. */
  readonly reason?: string;
  readonly quotes?: readonly string[];
  /** What could not be found out after the call, and why. */
  readonly debriefProblem?: string;
}

export interface ConversationReport {
  readonly verdict: Verdict;
  readonly turns: readonly Turn[];
  readonly result: DialogResult;
  readonly endedBy: "agent" | "callee" | "limit" | "silence" | "operator";
  readonly voicemailMessageLeft: boolean;
  /** Milliseconds from the answer to the first agent packet; null when nothing was said. */
  readonly firstWordMs: number | null;
  /** Of each agent's turn that answered the callee, by the turn's `seq`. */
  readonly timings?: readonly (TurnTiming & { readonly seq: number })[];
}
