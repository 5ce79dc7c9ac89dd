import { parseLaunchAt, parseRecall, readContact, type CampaignContact } from "#domain";
import { maxContacts, type RejectedContact } from "#wire";
import { setImmediate } from "node:timers/promises";
import { orRefuse, Refusal } from "./failure.ts";
import type { Account, CampaignOrder } from "./service.ts";

/** The parts of a campaign body whose shape was checked; contacts not yet. */
export interface CampaignShape {
  readonly playbook_id: string;
  readonly contacts: readonly unknown[];
  readonly launch_at?: string;
  readonly recall?: unknown;
}

export type CampaignTiming = Pick<CampaignOrder, "launchAt" | "recallMin">;

/** Everything of the body that is checked before the playbook's ownership. */
export function readCampaignTiming(body: CampaignShape, account: Account, now: number): CampaignTiming {
  if (body.contacts.length > maxContacts) {
    const message = `contacts holds ${body.contacts.length} contacts; at most ${maxContacts} are taken in one request`;
    throw new Refusal({ status: 413, code: "too-large", message });
  }
  const recallMin = body.recall === undefined ? [] : orRefuse(parseRecall(body.recall));
  if (body.launch_at === undefined) return { recallMin };
  return { recallMin, launchAt: orRefuse(parseLaunchAt(body.launch_at, account.timezone, now)) };
}

/** Reads contacts in slices, so that a long list does not hold up the signalling of running calls. */
export async function readContacts(inputs: readonly unknown[]): Promise<readonly CampaignContact[]> {
  const contacts: CampaignContact[] = [];
  for (const [i, input] of inputs.entries()) {
    if (i % 200 === 199) await setImmediate();
    contacts.push(orRefuse(readContact(input, `contacts[${i}]`)));
  }
  return contacts;
}

/** The first thousand contacts that cannot be dialled, for a person to mend. */
export function rejectedContacts(contacts: readonly CampaignContact[]): RejectedContact[] {
  return contacts
    .flatMap(({ phone, callable }, index) =>
      callable ? [] : [{ index, phone, reason: "not a phone number with country prefix" }],
    )
    .slice(0, 1000);
}
