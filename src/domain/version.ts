import type { PlaybookId, VersionId } from "#base";
import type { PlaybookSettings, VoiceId, VoiceModel } from "./playbook.ts";

/**
 * Which version a call is bound to: the one asked for if it is a version of this playbook, else production,
 * else null: the playbook's current configuration.
 */
export function versionForCall(
  playbook: { readonly id: PlaybookId; readonly productionVersionId: VersionId | null },
  asked: { readonly id: VersionId; readonly playbookId: PlaybookId } | undefined,
): VersionId | null {
  return asked?.playbookId === playbook.id ? asked.id : playbook.productionVersionId;
}

/** How a call is to be held. */
export interface CallManner {
  readonly voiceId: VoiceId;
  readonly voiceModel: VoiceModel;
  readonly language: string;
  readonly interrupt: boolean;
}

/** What the request asks for, else what the playbook's version says, else the default of the contract. */
export function callManner(asked: Partial<CallManner>, settings: PlaybookSettings): CallManner {
  return {
    voiceId: asked.voiceId ?? settings.voice ?? "6",
    voiceModel: asked.voiceModel ?? "human",
    language: (asked.language ?? (settings.language || "es")).toLowerCase(),
    interrupt: asked.interrupt ?? settings.interrupt ?? false,
  };
}
