/** What an account's playbook says, read from its file. Texts still hold their `{{params}}`. */
export interface PlaybookSettings {
  readonly name: string;
  /** BCP-47-like, lower case: `es`, `en`, `pt-br`. */
  readonly language: string;
  readonly voice: VoiceId | undefined;
  readonly interrupt: boolean | undefined;
  /** The first words on the line. */
  readonly opening: string | undefined;
  readonly script: Script | undefined;
  /** The Markdown body: instructions for a language model. */
  readonly prompt: string | undefined;
  readonly voicemail: { readonly action: "hang-up" | "leave-message"; readonly message: string | undefined };
  /** JSON Schema of the call's `output`. */
  readonly output: Readonly<Record<string, unknown>> | undefined;
  /** What counts as success, in words. */
  readonly success: string | undefined;
  /** Offer real-time text (RFC 4103). */
  readonly rtt: boolean;
  readonly speakers: { readonly agent: string; readonly callee: string };
  readonly silence: {
    readonly promptAfterMs: number;
    readonly maxPrompts: number;
    readonly prompt: string | undefined;
  };
  readonly goodbye: string | undefined;
  readonly maxCallMs: number;
}

export type VoiceId = "1" | "2" | "3" | "4" | "5" | "6" | "7";
export type VoiceModel = "fast" | "human";

/** A deterministic dialog: states by name; the first one starts. */
export interface Script {
  readonly start: string;
  readonly states: Readonly<Record<string, ScriptState>>;
}

/** Exactly one of `say` and `ask` is spoken; then the answer, `goto` or `end` decides what follows. */
export interface ScriptState {
  readonly say?: string;
  /** Spoken, then an answer is awaited. */
  readonly ask?: string;
  /** Digits pressed → next state. */
  readonly digits?: Readonly<Record<string, string>>;
  /** Words in typed or transcribed text, alternatives separated by `|` → next state. */
  readonly text?: Readonly<Record<string, string>>;
  /** Next state when the answer matches nothing. */
  readonly otherwise?: string;
  /** Next state when no answer comes. */
  readonly silence?: string;
  /** How often the question is asked again before `otherwise` or `silence` is taken. Default 1. */
  readonly repeat?: number;
  readonly goto?: string;
  readonly end?: ScriptEnd;
}

export interface ScriptEnd {
  readonly success: boolean;
  /** Values may hold `{{params}}` and `{{answer}}`. */
  readonly output?: Readonly<Record<string, unknown>>;
  readonly summary?: string;
  /** A person must follow up: the call becomes `manual`. */
  readonly followUp?: boolean;
  /** The callee asked never to be called again. */
  readonly doNotCall?: boolean;
}
