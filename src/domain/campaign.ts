import { callStates, type CallState } from "./call.ts";
import type { CampaignContact } from "./contact.ts";
import { isFinal } from "./status.ts";

/** Between two contacts, and over a whole campaign. */
const staggerMs = 100;
const longestSpreadMs = 3_600_000;

/** The planned time of one contact's call. */
export interface PlannedCall {
  readonly contact: CampaignContact;
  readonly plannedAt: number;
  /** `wrong-number` from the start when the phone is no number. */
  readonly state: "scheduled" | "queued" | "wrong-number";
}

export interface CampaignPlan {
  readonly scheduled: boolean;
  readonly launchAt: number;
  readonly calls: readonly PlannedCall[];
  readonly scheduledCalls: number;
  readonly errorCalls: number;
}

/** Spreads a campaign's calls from the launch on, in the order of the contacts. Without `launchAt` it starts `now`. */
export function planCampaign(
  contacts: readonly CampaignContact[],
  launchAt: number | undefined,
  now: number,
): CampaignPlan {
  const start = launchAt ?? now;
  const stepMs = Math.min(staggerMs, Math.floor(longestSpreadMs / Math.max(1, contacts.length)));
  const waiting = start > now ? "scheduled" : "queued";
  let slot = 0;
  const calls = contacts.map((contact): PlannedCall => {
    if (!contact.callable) return { contact, plannedAt: start, state: "wrong-number" };
    return { contact, plannedAt: start + slot++ * stepMs, state: waiting };
  });
  return {
    scheduled: launchAt !== undefined,
    launchAt: start,
    calls,
    scheduledCalls: slot,
    errorCalls: contacts.length - slot,
  };
}

export interface CampaignProgress {
  readonly waiting: number;
  readonly live: number;
  readonly finished: number;
}

const live: ReadonlySet<string> = new Set(["dialing", "ringing", "in-progress", "wrapping"]);

/** A campaign's counters by exact state, summed up. */
export function campaignProgress(counts: Readonly<Partial<Record<CallState, number>>>): CampaignProgress {
  const sum = { waiting: 0, live: 0, finished: 0 };
  for (const state of callStates) {
    const count = counts[state] ?? 0;
    if (live.has(state)) sum.live += count;
    else if (isFinal(state)) sum.finished += count;
    else sum.waiting += count;
  }
  return sum;
}

/** The sentence that answers a launch; `when` is the launch in the account's zone, when scheduled. */
export function launchMessage(
  plan: Pick<CampaignPlan, "scheduledCalls" | "errorCalls">,
  when: string | undefined,
): string {
  const calls = `${plan.scheduledCalls} ${plan.scheduledCalls === 1 ? "call" : "calls"}`;
  const errors =
    plan.errorCalls === 0 ? "" : `; ${plan.errorCalls} could not be created because of the phone number`;
  return when === undefined
    ? `Campaign started with ${calls}${errors}`
    : `${calls} scheduled for ${when}${errors}`;
}
