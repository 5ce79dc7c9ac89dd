import { newId, OutdialError, type AccountId, type CampaignId, type TrunkId } from "#base";
import { contactParams, isSandboxNumber, outcomeOf, planCampaign, type PlannedCall } from "#domain";
import { DateTime } from "luxon";
import { bindPlaybook, mannerOf, type Binding } from "./binding.ts";
import { idempotencyEntry, type CampaignOrder, type LaunchedCampaign } from "./orders.ts";
import type { Account, CampaignRow, NewCall } from "./ports.ts";
import { forbiddenReason, getAccount, openingFor, type CallParts } from "./service-calls.ts";
import type { Route } from "./service-trunks.ts";

/** A campaign's way for each kind of number; chosen once. */
type RouteChoice = (phone: string) => Route;

/** Campaigns, from the order to the stored rows, and how they are steered. */
export function campaignService(parts: CallParts) {
  const { store, clock, entropy, rules } = parts;
  return { findCampaign, launchCampaign, listCampaigns, steerCampaign };

  /** All of it is stored, durable, when it resolves; or none of it is. */
  async function launchCampaign(order: CampaignOrder): Promise<LaunchedCampaign> {
    const account = await getAccount(store, order.accountId);
    const binding = await bindPlaybook(store, order, parts.voices.hasBrain);
    const now = Math.trunc(clock.now());
    const plan = planCampaign(order.contacts, order.launchAt, now);
    const routeOf = await chooseRoutes(order);
    const id: CampaignId = newId(now, entropy);
    const calls = plan.calls.map((planned) => {
      const recallFrom = plan.scheduled ? plan.launchAt : planned.plannedAt;
      return callOf(planned, { account, binding, order, routeOf, campaignId: id, recallFrom });
    });
    const launched = summaryOf(id, plan, calls);
    if (order.dryRun === true) return launched;
    const campaign: Omit<CampaignRow, "counts"> = {
      id,
      accountId: account.id,
      playbookId: binding.playbook.id,
      versionId: binding.versionId,
      name: order.name ?? `${binding.playbook.name} ${inZone(plan.launchAt, account)}`,
      launchAt: plan.launchAt,
      recallMin: order.recallMin,
      maxConcurrent: order.maxConcurrent ?? null,
      trunkId: singleTrunk(calls),
      status: plan.scheduled ? "scheduled" : "running",
      total: order.contacts.length,
      createdAt: now,
    };
    await store.insertCampaign(campaign, order.contacts, calls, idempotencyEntry(order, launched, now));
    parts.wakeDialer();
    return launched;
  }

  function callOf(
    { contact, plannedAt, state }: PlannedCall,
    launch: {
      readonly account: Account;
      readonly binding: Binding;
      readonly order: CampaignOrder;
      readonly routeOf: RouteChoice;
      readonly campaignId: CampaignId;
      readonly recallFrom: number;
    },
  ): NewCall {
    const { account, binding, order } = launch;
    const timezone = contact.fields["timezone"] || account.timezone;
    const common = {
      id: newId(plannedAt, entropy),
      accountId: account.id,
      playbookId: binding.playbook.id,
      versionId: binding.versionId,
      campaignId: launch.campaignId,
      contactId: null,
      to: contact.phone,
      params: contactParams(contact),
      options: mannerOf(binding, {}),
      recallMin: order.recallMin,
      timezone,
      recallFrom: launch.recallFrom,
      createdAt: plannedAt,
    };
    const refused = state === "wrong-number" ? outcomeOf("invalid-number") : forbiddenOutcome(contact.phone);
    if (refused !== undefined) {
      return { ...common, trunkId: null, from: "", state: refused.state, outcome: refused, dueAt: null };
    }
    const route = launch.routeOf(contact.phone);
    const dueAt = openingFor(rules, contact.phone, { at: plannedAt, zone: timezone });
    return { ...common, trunkId: route.trunkId, from: route.callerId, state, dueAt };
  }

  function forbiddenOutcome(phone: string) {
    const detail = forbiddenReason(rules, phone);
    return detail === undefined ? undefined : { ...outcomeOf("trunk-forbidden"), detail };
  }

  async function chooseRoutes(order: CampaignOrder): Promise<RouteChoice> {
    const phones = order.contacts.filter(({ callable }) => callable).map(({ phone }) => phone);
    const choose = async (phone: string | undefined): Promise<Route | undefined> =>
      phone === undefined ? undefined : parts.trunkFor(order.accountId, phone, order.trunk);
    const sandbox = await choose(phones.find(isSandboxNumber));
    const real = await choose(phones.find((phone) => !isSandboxNumber(phone)));
    return (phone) => {
      const route = isSandboxNumber(phone) ? sandbox : real;
      if (route === undefined) throw new Error("a callable number has no trunk");
      return route;
    };
  }

  function listCampaigns(accountId: AccountId): Promise<readonly CampaignRow[]> {
    return store.listCampaigns(accountId);
  }

  function findCampaign(accountId: AccountId, idOrPrefix: string): Promise<CampaignRow | undefined> {
    return store.findCampaign(accountId, idOrPrefix);
  }

  /** Rejects with `campaign-not-found` and `wrong-state`. Calls on the line go on in any case. */
  async function steerCampaign(
    accountId: AccountId,
    idOrPrefix: string,
    act: "pause" | "resume" | "stop",
  ): Promise<CampaignRow> {
    const campaign = await store.findCampaign(accountId, idOrPrefix);
    if (campaign === undefined) {
      throw new OutdialError("campaign-not-found", `There is no campaign ${idOrPrefix}`, {
        hint: "outdial campaign list",
      });
    }
    const to = act === "pause" ? "paused" : act === "resume" ? "running" : "stopped";
    const steered = await store.setCampaignStatus(campaign.id, to, Math.trunc(clock.now()));
    if (steered === undefined) {
      throw new OutdialError("wrong-state", `The campaign is ${campaign.status}; it cannot be ${to} now`);
    }
    parts.wakeDialer();
    return steered;
  }
}

function summaryOf(
  id: CampaignId,
  plan: { readonly scheduled: boolean; readonly launchAt: number },
  calls: readonly NewCall[],
): LaunchedCampaign {
  let firstCallAt: number | null = null;
  let lastCallAt: number | null = null;
  let scheduledCalls = 0;
  for (const { dueAt } of calls) {
    if (dueAt === null) continue;
    scheduledCalls++;
    firstCallAt = Math.min(firstCallAt ?? dueAt, dueAt);
    lastCallAt = Math.max(lastCallAt ?? dueAt, dueAt);
  }
  const { scheduled, launchAt } = plan;
  const errorCalls = calls.length - scheduledCalls;
  return {
    id,
    scheduled,
    launchAt,
    total: calls.length,
    scheduledCalls,
    errorCalls,
    firstCallAt,
    lastCallAt,
  };
}

/** The trunk of all its calls, when it is one. */
function singleTrunk(calls: readonly NewCall[]): TrunkId | null {
  const ids = new Set(calls.flatMap(({ trunkId }) => trunkId ?? []));
  const [only = null] = ids;
  return ids.size === 1 ? only : null;
}

function inZone(at: number, account: Account): string {
  return DateTime.fromMillis(at, { zone: account.timezone }).toFormat("yyyy-MM-dd HH:mm");
}
