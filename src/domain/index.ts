/**
 * The business in its own words: what a call is, how it can end, when it may ring again, who is
 * called and by which playbook. Pure: time, chance and hashes are arguments.
 */
export { callStates, type CallState, type FinalState, type Outcome, type Turn } from "./call.ts";
export { isOpen, nextOpening, type CallingHours } from "./calling-hours.ts";
export {
  campaignProgress,
  launchMessage,
  planCampaign,
  type CampaignPlan,
  type PlannedCall,
} from "./campaign.ts";
export {
  contactFieldNames,
  contactParams,
  mergeContact,
  readContact,
  type CampaignContact,
} from "./contact.ts";
export {
  asksForSuppression,
  blamesTrunk,
  mayRecall,
  outcomeOf,
  outcomeOfLegEnd,
  type CauseName,
  type EndOfLeg,
} from "./outcome.ts";
export { isE164, isSandboxNumber, normalizePhone } from "./phone-number.ts";
export { formatNumber } from "./number-format.ts";
export type { PlaybookSettings, Script, ScriptEnd, ScriptState, VoiceId, VoiceModel } from "./playbook.ts";
export { parsePlaybookFile } from "./playbook-file.ts";
export { lintPlaybook, type Finding, type LintedPlaybook } from "./playbook-lint.ts";
export { missingParams, substitute } from "./substitute.ts";
export { askRate, type RateWindow } from "./rate-limit.ts";
export { nextRecallAt, parseRecall } from "./recall.ts";
export { callStatus, isFinal, listStatus, listStatuses, statesOfListStatus } from "./status.ts";
export { formatCreatedTime, formatLaunchTime, isTimeZone, parseDateRange, parseLaunchAt } from "./time.ts";
export {
  maskToken,
  mintToken,
  parseToken,
  tokenExpiresAt,
  tokenExpiries,
  tokenStatus,
  type TokenExpiry,
} from "./token.ts";
export { defaultSpeakers, transcriptHtml, transcriptText, type Speakers } from "./transcript.ts";
export {
  callerIdHeaders,
  plainTrunkSip,
  trunkKinds,
  trunkSipFault,
  trunkTransports,
  type TrunkKind,
  type TrunkSip,
} from "./trunk.ts";
export { callManner, versionForCall, type CallManner } from "./version.ts";
