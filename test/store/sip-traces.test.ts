import { describe, expect, it } from "vitest";
import type { SipMessageRow } from "../../src/store/rows.ts";
import { call, noon } from "./sample-rows.ts";
import { temporaryStore } from "./temporary-store.ts";

const { id: callId } = call(1);

function message(n: number, seq: number, text = `INVITE ${n}.${seq}`): SipMessageRow {
  return {
    callId,
    n,
    seq,
    at: noon + seq,
    direction: seq % 2 === 1 ? "sent" : "received",
    transport: "udp",
    local: "192.0.2.1:5060",
    remote: "[2001:db8::1]:5060",
    text,
  };
}

describe.each(["sqljs", "node-sqlite"] as const)("the SIP messages of a call on %s", (engine) => {
  it("come back by attempt and in the order of the wire", async () => {
    await using here = await temporaryStore({ engine });
    await here.store.insertCall(call(1));
    const first = Array.from({ length: 120 }, (_, seq) => message(1, seq + 1));
    await here.store.saveSipMessages(callId, 2, [message(2, 1)]);
    await here.store.saveSipMessages(callId, 1, first);
    await here.store.saveSipMessages(callId, 3, []);
    expect(await here.store.listSipMessages(callId)).toEqual([...first, message(2, 1)]);
    expect(await here.store.listSipMessages(call(2).id)).toEqual([]);
  });

  it("are kept up to 64 KiB: the oldest attempts give way", async () => {
    await using here = await temporaryStore({ engine });
    await here.store.insertCall(call(1));
    for (const n of [1, 2, 3, 4]) {
      await here.store.saveSipMessages(callId, n, [message(n, 1, "é".repeat(15_000))]);
    }
    const held = await here.store.listSipMessages(callId);
    expect(held.map(({ n }) => n)).toEqual([3, 4]);
  });
});
