import type { ConversationPlan } from "#talk";
import type { ClaimedCall, TrunkRow } from "./ports.ts";

/** What the conversation of a claimed call has to know. */
export function planOf(
  { call, settings }: Pick<ClaimedCall, "call" | "settings">,
  trunk: Pick<TrunkRow, "sip">,
): ConversationPlan {
  return {
    // Real-time text has no encryption here: on a trunk that must be secure it is not offered.
    settings: trunk.sip.srtp === "required" ? { ...settings, rtt: false } : settings,
    params: call.params,
    language: call.options.language,
    voiceId: call.options.voiceId,
    voiceModel: call.options.voiceModel,
    interrupt: call.options.interrupt,
    ...(call.timezone === null ? {} : { timezone: call.timezone }),
  };
}
