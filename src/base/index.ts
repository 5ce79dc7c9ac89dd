/**
 * What everything stands on: the machine contract and its driver, time and chance as ports,
 * the one error class, decoded input, ids. Pure; imports nothing.
 */
export type { Clock, Entropy } from "./clock.ts";
export { accept, reject, type Decoded, type Problem } from "./decoded.ts";
export { drive, type Driver } from "./drive.ts";
export { OutdialError } from "./errors.ts";
export {
  isUuid,
  newId,
  type AccountId,
  type CallId,
  type CampaignId,
  type ContactId,
  type PlaybookId,
  type TokenId,
  type TrunkId,
  type VersionId,
} from "./id.ts";
export type { Machine, Step, Tick } from "./machine.ts";
