import { newId, OutdialError, type AccountId, type Clock, type Entropy } from "#base";
import { isE164, isSandboxNumber } from "#domain";
import type { Account, SipTarget, Store, TrunkRow } from "./ports.ts";
import type { Secrets } from "./secrets.ts";

interface Parts {
  readonly store: Store;
  readonly clock: Clock;
  readonly entropy: Entropy;
  readonly secrets: Secrets;
  /** Where the built-in carrier listens now. */
  readonly sandbox: { readonly address: string; readonly port: number };
}

interface TrunkOrder {
  readonly accountId: AccountId;
  readonly name: string;
  readonly kind: TrunkRow["kind"];
  readonly host?: string;
  readonly port?: number;
  readonly username?: string;
  readonly password?: string;
  readonly passwordRef?: string;
  readonly callerId?: string;
  readonly codecs?: readonly ("PCMU" | "PCMA" | "G722")[];
  readonly maxCalls?: number;
  readonly callsPerSecond?: number;
  readonly makeDefault?: boolean;
}

const sipPort = 5060;
/** The trunk that every account starts with. */
const builtInName = "sandbox";
/** The sandbox's own caller id: nobody's number. */
const sandboxCallerId = "+9990000000";

/** Trunks of accounts; passwords go to the secrets, the store only keeps their name. */
export function trunkService({ store, clock, entropy, secrets, sandbox }: Parts) {
  return {
    addSandbox,
    createTrunk,
    findTrunk,
    forCall,
    listTrunks,
    moveSandbox,
    removeTrunk,
    setDefaultTrunk,
    target,
  };

  async function createTrunk(order: TrunkOrder): Promise<TrunkRow> {
    refuseBadTrunk(order);
    const id = newId(clock.now(), entropy);
    const existing = await store.listTrunks(order.accountId);
    if (order.password !== undefined) await secrets.set(secretName(id), order.password);
    // A sandbox trunk without a host leads to the carrier inside the daemon.
    const address =
      order.kind === "sandbox" && order.host === undefined
        ? { host: sandbox.address, port: sandbox.port }
        : undefined;
    const trunk: TrunkRow = {
      id,
      accountId: order.accountId,
      name: order.name,
      kind: order.kind,
      host: address?.host ?? order.host ?? "",
      port: address?.port ?? order.port ?? sipPort,
      username: order.username ?? null,
      passwordRef: order.password === undefined ? (order.passwordRef ?? null) : secretName(id),
      callerId: order.callerId ?? (order.kind === "sandbox" ? sandboxCallerId : ""),
      codecs: order.codecs ?? ["PCMU", "PCMA"],
      maxCalls: order.maxCalls ?? (order.kind === "sandbox" ? 1_000 : 10),
      callsPerSecond: order.callsPerSecond ?? (order.kind === "sandbox" ? 50 : 1),
      isDefault: existing.length === 0,
      createdAt: Math.trunc(clock.now()),
    };
    try {
      await store.createTrunk(trunk);
    } catch (error) {
      await secrets.remove(secretName(id));
      throw error;
    }
    return order.makeDefault === true ? setDefaultTrunk(order.accountId, trunk.name) : trunk;
  }

  function listTrunks(accountId: AccountId): Promise<readonly TrunkRow[]> {
    return store.listTrunks(accountId);
  }

  function findTrunk(accountId: AccountId, ref: string): Promise<TrunkRow | undefined> {
    return store.findTrunk(accountId, ref);
  }

  async function removeTrunk(accountId: AccountId, ref: string): Promise<boolean> {
    const trunk = await store.findTrunk(accountId, ref);
    if (trunk === undefined) return false;
    const removed = await store.removeTrunk(accountId, trunk.name);
    await secrets.remove(secretName(trunk.id));
    return removed;
  }

  async function setDefaultTrunk(accountId: AccountId, ref: string): Promise<TrunkRow> {
    const trunk = await store.findTrunk(accountId, ref);
    if (trunk === undefined || !(await store.setDefaultTrunk(accountId, trunk.name))) throw noSuchTrunk(ref);
    return { ...trunk, isDefault: true };
  }

  /**
   * The trunk a call to this number takes: the one asked for, else the account's default. Sandbox numbers always
   * take the sandbox and other numbers never do. Rejects with `no-trunk`, `trunk-not-found`, `sandbox-only`.
   */
  async function forCall(accountId: AccountId, phone: string, asked: string | undefined): Promise<TrunkRow> {
    const trunks = await store.listTrunks(accountId);
    const wanted = asked === undefined ? undefined : await store.findTrunk(accountId, asked);
    if (asked !== undefined && wanted === undefined) throw noSuchTrunk(asked);
    if (isSandboxNumber(phone)) return sandboxTrunk(trunks, wanted, phone);
    if (wanted?.kind === "sandbox") {
      throw new OutdialError("sandbox-only", `The sandbox reaches only +999 000 0nnn, not ${phone}`, {
        hint: "outdial sandbox numbers",
      });
    }
    const trunk = wanted ?? realTrunk(trunks);
    if (trunk === undefined) {
      throw new OutdialError("no-trunk", "The account has no trunk that reaches real numbers", {
        hint: "outdial trunk add NAME --server HOST",
      });
    }
    return trunk;
  }

  function target(trunk: TrunkRow): SipTarget {
    const password = trunk.passwordRef === null ? undefined : secrets.find(trunk.passwordRef);
    return {
      host: trunk.host,
      port: trunk.port,
      ...(trunk.username === null ? {} : { username: trunk.username }),
      ...(password === undefined ? {} : { password }),
    };
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

function realTrunk(trunks: readonly TrunkRow[]): TrunkRow | undefined {
  const real = trunks.filter(({ kind }) => kind !== "sandbox");
  return real.find(({ isDefault }) => isDefault) ?? real[0];
}

function refuseBadTrunk(order: TrunkOrder): void {
  if (!/^[a-z0-9][a-z0-9._-]{0,62}$/i.test(order.name)) {
    throw new OutdialError(
      "bad-name",
      `"${order.name}" is no trunk name: letters, digits, dot, dash and underscore`,
    );
  }
  if (order.kind === "sandbox") return;
  if (order.host === undefined || !/^[a-z0-9.:-]{1,253}$/i.test(order.host)) {
    throw new OutdialError("bad-host", "A trunk needs the host name or address of the provider", {
      hint: "outdial trunk add NAME --server sip.example.com",
    });
  }
  if (
    order.kind === "digest" &&
    (order.username === undefined || (order.password ?? order.passwordRef) === undefined)
  ) {
    throw new OutdialError("bad-credentials", "A digest trunk needs a username and a password", {
      hint: "outdial trunk add NAME --server HOST --username USER --password-stdin",
    });
  }
  if (order.callerId !== undefined && !isE164(order.callerId)) {
    throw new OutdialError(
      "bad-caller-id",
      `"${order.callerId}" is no number with country prefix, such as +34910000000`,
    );
  }
}

function noSuchTrunk(ref: string): OutdialError {
  return new OutdialError("trunk-not-found", `There is no trunk ${ref}`, { hint: "outdial trunk list" });
}

function secretName(trunkId: string): string {
  return `trunk:${trunkId}`;
}
