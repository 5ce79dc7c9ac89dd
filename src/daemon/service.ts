import type { Clock, Entropy } from "#base";
import type { Dialer } from "./dialer.ts";
import type { Feed } from "./feed.ts";
import type { Account, Lines, Store, TrunkRow } from "./ports.ts";
import type { Secrets } from "./secrets.ts";
import { accountService } from "./service-accounts.ts";
import { callService, type DialRules } from "./service-calls.ts";
import { campaignService } from "./service-campaigns.ts";
import { playbookService } from "./service-playbooks.ts";
import { recordService } from "./service-records.ts";
import { trunkService } from "./service-trunks.ts";

export interface ServiceParts {
  readonly store: Store;
  readonly clock: Clock;
  readonly entropy: Entropy;
  readonly secrets: Secrets;
  readonly feed: Feed;
  readonly rules: DialRules;
  readonly sandbox: { readonly address: string; readonly port: number };
  readonly recordingsDir: string;
  readonly lines: Pick<Lines, "room">;
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

/** Everything the APIs ask of the application, and the trunks for whoever dials. */
export function createService(parts: ServiceParts) {
  const { store, dialer } = parts;
  const trunks = trunkService(parts);
  const callParts = { ...parts, trunkFor: trunks.forCall, wakeDialer: () => dialer().wake() };
  const service = {
    ...accountService(parts, trunks.addSandbox),
    ...playbookService(parts),
    ...callService(callParts),
    ...campaignService(callParts),
    ...recordService({ ...parts, hangUp: (id) => dialer().hangUp(id, "operator") }),
    listTrunks: trunks.listTrunks,
    findTrunk: trunks.findTrunk,
    createTrunk: trunks.createTrunk,
    removeTrunk: trunks.removeTrunk,
    setDefaultTrunk: trunks.setDefaultTrunk,
    status,
    stop: parts.stop,
  };
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
    const rows = await store.listTrunks(account.id);
    return rows.map(({ id, name, kind, isDefault, maxCalls }) => ({
      account: account.name,
      name,
      kind,
      isDefault,
      live: dialer().liveOn(id),
      maxCalls,
    }));
  }

  async function allTrunks(): Promise<readonly TrunkRow[]> {
    const accounts = await store.listAccounts();
    return (await Promise.all(accounts.map(({ id }) => store.listTrunks(id)))).flat();
  }

  /** First start: the account `default`. Every start: the sandbox trunks lead to where the carrier listens now. */
  async function furnish(): Promise<void> {
    const accounts = await store.listAccounts();
    if (accounts.length === 0) await service.createAccount({ name: "default" });
    for (const trunk of await allTrunks()) await trunks.moveSandbox(trunk);
  }
}
