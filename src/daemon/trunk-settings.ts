import { OutdialError, type AccountId } from "#base";
import { isE164, plainTrunkSip, trunkSipFault, type TrunkKind, type TrunkSip } from "#domain";
import type { TrunkRow } from "./ports.ts";

/** What may be said about a trunk; what is not said stays as it is, or plain. */
export interface TrunkChange {
  readonly name?: string;
  readonly kind?: TrunkKind;
  readonly host?: string;
  readonly port?: number;
  /** Empty: none. */
  readonly username?: string;
  readonly password?: string;
  readonly passwordRef?: string;
  /** Empty: none. */
  readonly callerId?: string;
  readonly codecs?: readonly ("PCMU" | "PCMA" | "G722")[];
  readonly maxCalls?: number;
  readonly callsPerSecond?: number;
  readonly sip?: Partial<TrunkSip>;
}

export interface TrunkOrder extends TrunkChange {
  readonly accountId: AccountId;
  readonly name: string;
  readonly kind: TrunkKind;
  readonly makeDefault?: boolean;
}

/** The trunk after a change. `passwordRef` is where a password that comes with it will be. */
export function changedTrunk(before: TrunkRow, change: TrunkChange, passwordRef: string): TrunkRow {
  const kind = change.kind ?? before.kind;
  const sip: TrunkSip = { ...before.sip, ...change.sip, register: kind === "register" };
  return {
    ...before,
    name: change.name ?? before.name,
    kind,
    host: change.host ?? before.host,
    // Another host without a port of its own is found anew.
    port: change.port ?? (change.host === undefined ? before.port : byDns),
    username: change.username === undefined ? before.username : change.username || null,
    passwordRef: change.password === undefined ? (change.passwordRef ?? before.passwordRef) : passwordRef,
    callerId: change.callerId ?? before.callerId,
    codecs: change.codecs ?? before.codecs,
    maxCalls: change.maxCalls ?? before.maxCalls,
    callsPerSecond: change.callsPerSecond ?? before.callsPerSecond,
    sip,
  };
}

/** A trunk of that kind before anything was said about it. */
export function plainTrunk(
  order: TrunkOrder,
  at: { readonly id: string; readonly now: number; readonly isDefault: boolean },
): TrunkRow {
  const sandbox = order.kind === "sandbox";
  return {
    id: at.id,
    accountId: order.accountId,
    name: order.name,
    kind: order.kind,
    host: "",
    port: byDns,
    username: null,
    passwordRef: null,
    callerId: sandbox ? sandboxCallerId : "",
    codecs: ["PCMU", "PCMA"],
    maxCalls: sandbox ? 1_000 : 10,
    callsPerSecond: sandbox ? 50 : 1,
    isDefault: at.isDefault,
    createdAt: at.now,
    sip: plainTrunkSip,
  };
}

/** Throws an OutdialError that says in one sentence what is wrong with a trunk. */
export function refuseBadTrunk(trunk: TrunkRow): void {
  if (!/^[a-z0-9][a-z0-9._-]{0,62}$/i.test(trunk.name)) {
    throw new OutdialError(
      "bad-name",
      `"${trunk.name}" is no trunk name: letters, digits, dot, dash and underscore`,
    );
  }
  const fault = trunkSipFault(trunk.sip);
  if (fault !== undefined) throw new OutdialError("bad-sip-settings", fault);
  if (trunk.kind === "sandbox") return;
  if (!/^[a-z0-9.:-]{1,253}$/i.test(trunk.host)) {
    throw new OutdialError("bad-host", "A trunk needs the host name or address of the provider", {
      hint: "outdial trunk add NAME --server sip.example.com",
    });
  }
  if (trunk.kind !== "ip" && (trunk.username === null || trunk.passwordRef === null)) {
    throw new OutdialError("bad-credentials", `A ${trunk.kind} trunk needs a username and a password`, {
      hint: "outdial trunk add NAME --server HOST --username USER --password-stdin",
    });
  }
  if (trunk.callerId !== "" && !isE164(trunk.callerId)) {
    throw new OutdialError(
      "bad-caller-id",
      `"${trunk.callerId}" is no number with country prefix, such as +34910000000`,
    );
  }
}

/** The sandbox's own caller id: nobody's number. */
const sandboxCallerId = "+9990000000";

/** No port: DNS says where the servers are (RFC 3263), or it is the transport's usual one. */
const byDns = 0;
