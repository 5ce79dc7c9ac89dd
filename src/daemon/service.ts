import type { CallId, Clock, Entropy } from "#base";
import type { Dialer } from "./dialer.ts";
import type { Feed } from "./feed.ts";
import { lintSource } from "./lint.ts";
import type { Account, Lines, SipMessageRow, Store, Telephony, TrunkRow } from "./ports.ts";
import type { Secrets } from "./secrets.ts";
import { accountService } from "./service-accounts.ts";
import { callService, type DialRules } from "./service-calls.ts";
import { campaignService } from "./service-campaigns.ts";
import { playbookService } from "./service-playbooks.ts";
import { providerService, type Voices } from "./service-providers.ts";
import { recordService } from "./service-records.ts";
import { trunkService } from "./service-trunks.ts";
import type { TrunkHealth } from "./trunk-health.ts";

export interface ServiceParts {
  readonly store: Store;
  readonly clock: Clock;
  readonly entropy: Entropy;
  readonly secrets: Secrets;
  readonly feed: Feed;
  readonly stream: string;
  readonly rules: DialRules;
  readonly voices: Voices;
  readonly sandbox: { readonly address: string; readonly port: number };
  readonly recordingsDir: string;
  /** SIP messages of an attempt under way. */
  readonly liveSip: (callId: CallId) => readonly SipMessageRow[];
  readonly lines: Pick<Lines, "room">;
  readonly telephony: Pick<Telephony, "probe">;
  /** Addresses of a host name; rejects when it has none. */
  readonly resolve: (host: string) => Promise<readonly string[]>;
  readonly health: () => TrunkHealth;
  readonly dialer: () => Dialer;
  /** What `status` tells of this process. */
  readonly about: {
    readonly version: string;
    readonly pid: number;
    readonly startedAt: number;
    readonly dataDir: string;
    readonly api: () => { readonly address: string; readonly port: number };
  };
  /** Begins the end of the daemon; resolves when nothing is dialled any more. */
  readonly stop: (drainMs: number) => Promise<void>;
}

/** The trunks of every account. */
export async function allTrunksIn(
  store: Pick<Store, "listAccounts" | "listTrunks">,
): Promise<readonly TrunkRow[]> {
  const accounts = await store.listAccounts();
  return (await Promise.all(accounts.map(({ id }) => store.listTrunks(id)))).flat();
}

/** Everything the APIs ask of the application, and the trunks for whoever dials. */
export function createService(parts: ServiceParts) {
  const { store, dialer } = parts;
  const trunks = trunkService(parts);
  const callParts = { ...parts, trunkFor: trunks.forCall, wakeDialer: () => dialer().wake() };
  const service = {
    ...accountService(parts, trunks.addSandbox),
    ...playbookService(parts),
    ...providerService(parts.voices),
    lintPlaybook: lintSource,
    ...callService(callParts),
    ...campaignService(callParts),
    ...recordService({
      ...parts,
      hangUp: (id) => dialer().hangUp(id, "operator"),
      liveCalls: (id) => dialer().liveCalls(id),
    }),
    listTrunks: trunks.listTrunks,
    findTrunk: trunks.findTrunk,
    createTrunk: trunks.createTrunk,
    editTrunk: trunks.editTrunk,
    checkTrunk: trunks.checkTrunk,
    removeTrunk: trunks.removeTrunk,
    setDefaultTrunk: trunks.setDefaultTrunk,
    status,
    stop: parts.stop,
  };
  const allTrunks = (): Promise<readonly TrunkRow[]> => allTrunksIn(store);
  return { service, allTrunks, furnish, target: trunks.target };

  async function status() {
    const [accounts, { open, dueNow, calls }] = await Promise.all([store.listAccounts(), store.stats()]);
    const { version, pid, startedAt, dataDir, api } = parts.about;
    const running = dialer();
    return {
      version,
      pid,
      startedAt,
      dataDir,
      state: running.draining ? ("draining" as const) : ("running" as const),
      api: api(),
      accounts: accounts.length,
      calls: { live: running.running, open, dueNow, total: calls },
      room: Math.max(0, parts.lines.room),
      nextDueAt: running.nextDueAt,
      trunks: (await Promise.all(accounts.map(trunksOf))).flat(),
    };
  }

  async function trunksOf(account: Account) {
    const rows = await trunks.listTrunks(account.id);
    return rows.map(({ id, name, kind, isDefault, maxCalls, fault, registration }) => ({
      account: account.name,
      name,
      kind,
      isDefault,
      live: dialer().liveOn(id),
      maxCalls,
      fault,
      registration,
    }));
  }

  /** First start: the account `default`. Every start: the sandbox trunks lead to where the carrier listens now. */
  async function furnish(): Promise<void> {
    const accounts = await store.listAccounts();
    if (accounts.length === 0) await service.createAccount({ name: "default" });
    for (const trunk of await allTrunks()) await trunks.moveSandbox(trunk);
  }
}
