import type { AccountId, CallId, CampaignId } from "#base";
import type { FeedEvent } from "./feed.ts";

/** Of the moment only: a finished turn says it all again, a message on the wire is kept with its attempt. */
const passingTypes: ReadonlySet<string> = new Set(["sip-message", "turn-partial", "speech-started"]);

/** Whether events of this type are only for who reads at the moment. */
export function isPassing(type: string): boolean {
  return passingTypes.has(type);
}

/** Which events a reader asked for. */
export interface EventFilter {
  readonly accountId: AccountId;
  /** Id or unique prefix. */
  readonly call?: string;
  readonly campaign?: string;
  readonly since?: number;
  /** Absent: all but passing ones. */
  readonly types?: readonly string[];
  readonly follow?: boolean;
}

/** Whether an event is for this reader, once its call and campaign have been found. */
export function eventMatcher(
  { accountId, types }: EventFilter,
  found: { readonly callId: CallId | undefined; readonly campaignId: CampaignId | undefined },
): (event: FeedEvent) => boolean {
  const wanted = types === undefined ? undefined : new Set(types);
  return (event) =>
    event.accountId === accountId &&
    (found.callId === undefined || event.callId === found.callId) &&
    (found.campaignId === undefined || event.campaignId === found.campaignId) &&
    (wanted === undefined ? event.passing !== true : wanted.has(event.type));
}
