import { silentLog } from "#host";
import { expect, test } from "vitest";
import type { SavedDialog, Store } from "../../src/daemon/ports.ts";
import { recoverCalls } from "../../src/daemon/recovery.ts";
import { dialog } from "../store/sample-rows.ts";
import { VirtualClock } from "../support/virtual-clock.ts";
import { trunkRow } from "./trunk-rows.ts";

const trunks = [
  trunkRow({ id: "t1", host: "10.0.0.1", username: "one" }),
  trunkRow({ id: "t2", host: "edge.example.com", username: "two" }, { domain: "example.com" }),
  trunkRow({ id: "t3", host: "2001:db8::1", username: "three" }),
];

/** The user whose credentials the hang-up of a lost call is sent with. */
async function hungUpAs(trunkId: string | null, saved: Partial<SavedDialog>): Promise<string | undefined> {
  let user: string | undefined;
  const lost = [{ callId: "c", n: 1, trunkId, dialog: dialog(saved), answered: true }];
  await recoverCalls({
    store: {
      recover: async () => ({ requeued: 0, lost }),
      keepRecording: async () => undefined,
    } as unknown as Store,
    telephony: { hangUpOrphan: (_dialog, target) => (user = target.username) },
    clock: new VirtualClock(),
    log: silentLog,
    owner: "d1",
    trunks: async () => trunks,
    target: ({ host, port, username }) => ({ host, port, ...(username === null ? {} : { username }) }),
    repairRecording: async () => 0,
  });
  return user;
}

test("a lost call is hung up with the credentials of its trunk", async () => {
  expect(await hungUpAs("t2", { requestUri: "sip:+34600000001@10.0.0.1" })).toBe("two");
});

test.each([
  ["sip:+34600000001@10.0.0.1", "one"],
  ["sip:+34600000001@example.com:5080;user=phone", "two"],
  ["sip:+34600000001@[2001:db8::1]:5070", "three"],
  ["sip:+34600000001@elsewhere.example", undefined],
])(
  "a call that any trunk could take, sent to %s, with those of the trunk of that name",
  async (uri, user) => {
    expect(await hungUpAs(null, { requestUri: uri })).toBe(user);
  },
);
