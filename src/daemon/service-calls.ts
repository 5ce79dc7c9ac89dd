import { newId, OutdialError, type AccountId, type Clock, type Entropy } from "#base";
import { formatLaunchTime, isSandboxNumber, nextOpening, type CallingHours } from "#domain";
import { bindPlaybook, mannerOf } from "./binding.ts";
import type { Voices } from "./service-providers.ts";
import { idempotencyEntry, type CallOrder, type StartedCall } from "./orders.ts";
import type { Account, IdempotencyEntry, NewCall, Store } from "./ports.ts";
import type { Route } from "./service-trunks.ts";

export interface DialRules {
  /** Undefined: at any time. */
  readonly callingHours: CallingHours | undefined;
  /** Empty: everywhere. */
  readonly allowedPrefixes: readonly string[];
}

export interface CallParts {
  readonly store: Store;
  readonly clock: Clock;
  readonly entropy: Entropy;
  readonly rules: DialRules;
  readonly voices: Pick<Voices, "hasBrain">;
  readonly trunkFor: (accountId: AccountId, phone: string, asked: string | undefined) => Promise<Route>;
  /** Something new may be due. */
  readonly wakeDialer: () => void;
}

/** Single calls, from the order to the stored row. */
export function callService(parts: CallParts) {
  const { store, clock, entropy, rules } = parts;
  return { checkCall, findIdempotent, startCall };

  /** Stored durable when it resolves. Rejects with `playbook-not-found`, `suppressed`, `forbidden-number`, `no-trunk`, `sandbox-only`, … */
  async function startCall(order: CallOrder): Promise<StartedCall> {
    const { call, message } = await prepare(order);
    const started = { id: call.id, message };
    await store.insertCall(call, idempotencyEntry(order, started, call.createdAt));
    parts.wakeDialer();
    return started;
  }

  async function checkCall(order: CallOrder): Promise<{ readonly message: string }> {
    const { message } = await prepare(order);
    return { message };
  }

  function findIdempotent(accountId: AccountId, key: string): Promise<IdempotencyEntry | undefined> {
    return store.findIdempotent(accountId, key, Math.trunc(clock.now()));
  }

  async function prepare(order: CallOrder): Promise<{ call: NewCall; message: string }> {
    const account = await getAccount(store, order.accountId);
    const binding = await bindPlaybook(store, order, parts.voices.hasBrain);
    refuseForbidden(rules, order.phone);
    if (await store.isSuppressed(order.accountId, order.phone)) {
      throw new OutdialError("suppressed", `${order.phone} asked not to be called`);
    }
    const route = await parts.trunkFor(order.accountId, order.phone, order.trunk);
    const now = Math.trunc(clock.now());
    const plannedAt = Math.max(now, order.at ?? now);
    const dueAt = openingFor(rules, order.phone, { at: plannedAt, zone: account.timezone });
    const call: NewCall = {
      id: newId(now, entropy),
      accountId: account.id,
      playbookId: binding.playbook.id,
      versionId: binding.versionId,
      campaignId: null,
      contactId: null,
      trunkId: route.trunkId,
      to: order.phone,
      from: route.callerId,
      state: plannedAt > now ? "scheduled" : "queued",
      params: order.params,
      options: mannerOf(binding, order),
      recallMin: order.recallMin ?? [],
      timezone: account.timezone,
      recallFrom: plannedAt,
      dueAt,
      createdAt: plannedAt,
    };
    return { call, message: startMessage(call, now, account) };
  }
}

export async function getAccount(store: Store, id: AccountId): Promise<Account> {
  const account = await store.findAccount(id);
  if (account !== undefined) return account;
  throw new OutdialError("account-not-found", `There is no account ${id}`, { hint: "outdial account list" });
}

/** When this number may be rung at or after `at`: the sandbox at any time, people in their calling hours. */
export function openingFor(
  rules: DialRules,
  phone: string,
  moment: { readonly at: number; readonly zone: string },
): number {
  if (isSandboxNumber(phone)) return moment.at;
  const opening = nextOpening(rules.callingHours, moment.at, moment.zone);
  if (opening !== undefined) return opening;
  throw new OutdialError("never-open", "The calling hours never open", {
    hint: "Look at calling_hours in config.toml.",
  });
}

/** Why the dialling rules forbid the number; undefined when they do not. */
export function forbiddenReason(rules: DialRules, phone: string): string | undefined {
  const { allowedPrefixes } = rules;
  if (allowedPrefixes.length === 0 || isSandboxNumber(phone)) return undefined;
  if (allowedPrefixes.some((prefix) => phone.startsWith(prefix))) return undefined;
  return `${phone} is outside the prefixes that may be dialled: ${allowedPrefixes.join(", ")}`;
}

function refuseForbidden(rules: DialRules, phone: string): void {
  const reason = forbiddenReason(rules, phone);
  if (reason !== undefined) throw new OutdialError("forbidden-number", reason);
}

function startMessage(call: NewCall, now: number, account: Account): string {
  if (call.dueAt === null || call.dueAt <= now) return `Call to ${call.to} started`;
  const when = formatLaunchTime(call.dueAt, account.timezone);
  return call.dueAt > call.createdAt
    ? `Call to ${call.to} waits for the calling hours, which open at ${when}`
    : `Call to ${call.to} scheduled for ${when}`;
}
