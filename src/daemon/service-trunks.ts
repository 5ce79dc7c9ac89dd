import { newId, OutdialError, type AccountId, type Clock, type Entropy, type TrunkId } from "#base";
import { isSandboxNumber } from "#domain";
import { targetOf } from "./dial-order.ts";
import type { Account, RegistrationState, SipTarget, Store, Telephony, TrunkRow } from "./ports.ts";
import type { Secrets } from "./secrets.ts";
import type { TrunkFault, TrunkHealth } from "./trunk-health.ts";
import { inOrder } from "./trunk-order.ts";
import {
  changedTrunk,
  plainTrunk,
  refuseBadTrunk,
  type TrunkChange,
  type TrunkOrder,
} from "./trunk-settings.ts";
import { testTrunk, type TrunkCheck } from "./trunk-test.ts";

interface Parts {
  readonly store: Store;
  readonly clock: Clock;
  readonly entropy: Entropy;
  readonly secrets: Secrets;
  /** Where the built-in carrier listens now. */
  readonly sandbox: { readonly address: string; readonly port: number };
  readonly health: () => TrunkHealth;
  readonly telephony: Pick<Telephony, "probe">;
  readonly resolve: (host: string) => Promise<readonly string[]>;
}

/** A trunk with how it is. */
export interface LiveTrunk extends TrunkRow {
  readonly fault: TrunkFault | null;
  /** Null: it does not register. */
  readonly registration: RegistrationState | null;
}

/** The way a call will take; null: any trunk that takes calls then. */
export interface Route {
  readonly trunkId: TrunkId | null;
  readonly callerId: string;
}

/** The trunk that every account starts with. */
const builtInName = "sandbox";
/** Trunks of accounts; passwords go to the secrets, the store only keeps their name. */
export function trunkService(parts: Parts) {
  const { store, clock, entropy, secrets, sandbox, health } = parts;
  return {
    addSandbox,
    createTrunk,
    checkTrunk,
    editTrunk,
    findTrunk,
    forCall,
    listTrunks,
    moveSandbox,
    removeTrunk,
    setDefaultTrunk,
    target,
  };

  async function createTrunk(order: TrunkOrder): Promise<LiveTrunk> {
    const now = Math.trunc(clock.now());
    const id = newId(now, entropy);
    const existing = await store.listTrunks(order.accountId);
    // A sandbox trunk without a host leads to the carrier inside the daemon.
    const inside = order.kind === "sandbox" && order.host === undefined;
    const place = inside ? { host: sandbox.address, port: sandbox.port } : {};
    const plain = plainTrunk(order, { id, now, isDefault: existing.length === 0 });
    const trunk = changedTrunk(plain, { ...order, ...place }, secretName(id));
    refuseBadTrunk(trunk);
    if (order.password !== undefined) await secrets.set(secretName(id), order.password);
    try {
      await store.createTrunk(trunk);
    } catch (error) {
      await secrets.remove(secretName(id));
      throw error;
    }
    health().watch(trunk);
    return order.makeDefault === true ? setDefaultTrunk(order.accountId, trunk.name) : live(trunk);
  }

  /** Calls on the line go on as they are. Rejects with `trunk-not-found`, `trunk-exists` and what a new one is refused for. */
  async function editTrunk(accountId: AccountId, ref: string, change: TrunkChange): Promise<LiveTrunk> {
    const before = await getTrunk(accountId, ref);
    const trunk = changedTrunk(before, change, secretName(before.id));
    refuseBadTrunk(trunk);
    if (!(await store.updateTrunk(trunk))) throw noSuchTrunk(ref);
    // After the row: a name that is taken must not cost the password that works.
    if (change.password !== undefined) await secrets.set(secretName(trunk.id), change.password);
    health().watch(trunk);
    return live(trunk);
  }

  /** Whether the provider can be reached and takes us. Rejects with `trunk-not-found`. */
  async function checkTrunk(accountId: AccountId, ref: string): Promise<readonly TrunkCheck[]> {
    const trunk = await getTrunk(accountId, ref);
    const { telephony, resolve } = parts;
    const probe = (at: SipTarget) => telephony.probe(at);
    return testTrunk(trunk, target(trunk), { probe, resolve, health: health(), clock });
  }

  async function listTrunks(accountId: AccountId): Promise<readonly LiveTrunk[]> {
    return (await store.listTrunks(accountId)).map(live);
  }

  async function findTrunk(accountId: AccountId, ref: string): Promise<LiveTrunk | undefined> {
    const trunk = await store.findTrunk(accountId, ref);
    return trunk && live(trunk);
  }

  async function getTrunk(accountId: AccountId, ref: string): Promise<TrunkRow> {
    const trunk = await store.findTrunk(accountId, ref);
    if (trunk === undefined) throw noSuchTrunk(ref);
    return trunk;
  }

  function live(trunk: TrunkRow): LiveTrunk {
    return {
      ...trunk,
      fault: health().faultOf(trunk.id) ?? null,
      registration: health().registrationOf(trunk.id) ?? null,
    };
  }

  async function removeTrunk(accountId: AccountId, ref: string): Promise<boolean> {
    const trunk = await store.findTrunk(accountId, ref);
    if (trunk === undefined) return false;
    const removed = await store.removeTrunk(accountId, trunk.name);
    await health().forget(trunk.id);
    await secrets.remove(secretName(trunk.id));
    return removed;
  }

  async function setDefaultTrunk(accountId: AccountId, ref: string): Promise<LiveTrunk> {
    const trunk = await getTrunk(accountId, ref);
    if (!(await store.setDefaultTrunk(accountId, trunk.name))) throw noSuchTrunk(ref);
    return live({ ...trunk, isDefault: true });
  }

  /**
   * The way a call to this number takes: the trunk asked for, else whichever comes first and takes calls then.
   * Sandbox numbers always take the sandbox and other numbers never do. Rejects with `no-trunk`,
   * `trunk-not-found`, `sandbox-only`.
   */
  async function forCall(accountId: AccountId, phone: string, asked: string | undefined): Promise<Route> {
    const trunks = await store.listTrunks(accountId);
    const wanted = asked === undefined ? undefined : await getTrunk(accountId, asked);
    if (isSandboxNumber(phone)) return boundTo(sandboxTrunk(trunks, wanted, phone));
    if (wanted?.kind === "sandbox") {
      throw new OutdialError("sandbox-only", `The sandbox reaches only +999 000 0nnn, not ${phone}`, {
        hint: "outdial sandbox numbers",
      });
    }
    if (wanted !== undefined) return boundTo(wanted);
    const ways = inOrder(trunks);
    const first = ways.find(({ id }) => health().faultOf(id) === undefined) ?? ways[0];
    if (first === undefined) {
      throw new OutdialError("no-trunk", "The account has no trunk that reaches real numbers", {
        hint: "outdial trunk add NAME --server HOST",
      });
    }
    return { trunkId: null, callerId: first.callerId };
  }

  function target(trunk: TrunkRow): SipTarget {
    return targetOf(trunk, trunk.passwordRef === null ? undefined : secrets.find(trunk.passwordRef));
  }

  /** Every account starts with a way into the sandbox. */
  async function addSandbox(account: Account): Promise<void> {
    await createTrunk({ accountId: account.id, name: builtInName, kind: "sandbox" });
  }

  /** The carrier inside the daemon listens on another port after each start; trunks to others stay where they lead. */
  async function moveSandbox(trunk: TrunkRow): Promise<void> {
    if (trunk.kind !== "sandbox" || trunk.name !== builtInName) return;
    await store.updateTrunkAddress(trunk.id, sandbox.address, sandbox.port);
  }
}

function sandboxTrunk(trunks: readonly TrunkRow[], wanted: TrunkRow | undefined, phone: string): TrunkRow {
  const trunk = wanted ?? trunks.find(({ kind }) => kind === "sandbox");
  if (trunk?.kind === "sandbox") return trunk;
  throw new OutdialError(
    "sandbox-only",
    `${phone} is a sandbox number; trunk ${wanted?.name ?? "sandbox"} cannot call it`,
    {
      hint: "outdial trunk add sandbox --sandbox",
    },
  );
}

function boundTo(trunk: TrunkRow): Route {
  return { trunkId: trunk.id, callerId: trunk.callerId };
}

function noSuchTrunk(ref: string): OutdialError {
  return new OutdialError("trunk-not-found", `There is no trunk ${ref}`, { hint: "outdial trunk list" });
}

function secretName(trunkId: string): string {
  return `trunk:${trunkId}`;
}
