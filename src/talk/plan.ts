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
  | { readonly type: "turn-finished"; readonly turn: Turn }
  | { readonly type: "speech-started"; readonly speaker: "agent" | "callee"; readonly atMs: number }
  | { readonly type: "verdict-reached"; readonly verdict: Verdict }
  | { readonly type: "first-word"; readonly afterAnswerMs: number }
  | { readonly type: "voicemail-message-left"; readonly atMs: number }
  | { readonly type: "opted-out"; readonly atMs: number };

/** What the dialog itself concluded. */
export interface DialogResult {
  readonly success: boolean;
  readonly output: Readonly<Record<string, unknown>>;
  readonly summary: string;
  readonly followUp: boolean;
  readonly doNotCall: boolean;
}

export interface ConversationReport {
  readonly verdict: Verdict;
  readonly turns: readonly Turn[];
  readonly result: DialogResult;
  readonly endedBy: "agent" | "callee" | "limit" | "silence" | "operator";
  readonly voicemailMessageLeft: boolean;
  /** Milliseconds from the answer to the first agent packet; null when nothing was said. */
  readonly firstWordMs: number | null;
}
