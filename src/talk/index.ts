/**
 * A conversation without any vendor, socket or clock: who answered, who speaks, what is said and when it ends.
 * `conversation` is one machine per call; `lines` feeds it what the line hears and performs its effects.
 * Pure.
 */
export { conversation, startConversation, type ConversationState } from "./conversation.ts";
export { debrief } from "./debrief.ts";
export { languageDialog } from "./language-dialog.ts";
export { hasPhrases } from "./phrase-book.ts";
export type {
  ConversationEvent,
  ConversationPlan,
  ConversationReport,
  DialogResult,
  Verdict,
} from "./plan.ts";
export type {
  DialogAct,
  DialogModel,
  DialogTurn,
  HeardFrame,
  HearEvent,
  LanguageModel,
  SpeechRequest,
  SynthesizedSpeech,
  Synthesizer,
  Transcriber,
  TranscriberSession,
} from "./ports.ts";
export type { ConversationEffect, ConversationInput } from "./protocol.ts";
export { reportOf } from "./report.ts";
export { scriptDialog } from "./script-dialog.ts";
export { unsupportedReason } from "./unsupported.ts";
