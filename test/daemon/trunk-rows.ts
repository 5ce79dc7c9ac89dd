import { plainTrunkSip, type TrunkSip } from "#domain";
import type { TrunkRow } from "../../src/daemon/ports.ts";

/** A digest trunk with what a test wants to be different. */
export function trunkRow(fields: Partial<TrunkRow> = {}, sip: Partial<TrunkSip> = {}): TrunkRow {
  return {
    id: "t1",
    accountId: "a",
    name: "main",
    kind: "digest",
    host: "sip.example.com",
    port: 0,
    username: "ana",
    passwordRef: "trunk:t1",
    callerId: "+34910000000",
    codecs: ["PCMA"],
    maxCalls: 10,
    callsPerSecond: 1,
    isDefault: true,
    createdAt: 0,
    ...fields,
    sip: { ...plainTrunkSip, ...sip },
  };
}
