import { OutdialError } from "#base";
import { createTasks, silentLog } from "#host";
import { afterEach, expect, test } from "vitest";
import { startDialer, type DialerParts } from "../../src/daemon/dialer.ts";
import type { TrunkRow } from "../../src/daemon/ports.ts";
import type { RunningCall } from "../../src/daemon/run-call.ts";
import { DueQueue } from "../support/due-queue.ts";
import { VirtualClock } from "../support/virtual-clock.ts";

const t1 = { id: "t1", name: "main", maxCalls: 10, callsPerSecond: Infinity } as TrunkRow;
const cleanups: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0)) await cleanup();
});

test("calls are dialled when they are due, not before", async () => {
  const place = await start(new DueQueue([entry("a", 0), entry("b", 5_000)]));
  expect(place.dialled()).toEqual(["a"]);
  await place.advance(4_999);
  expect(place.dialled()).toEqual(["a"]);
  await place.advance(1);
  expect(place.dialled()).toEqual(["a", "b"]);
});

test("a trunk's channels and calls per second are kept", async () => {
  const trunk = { ...t1, maxCalls: 2, callsPerSecond: 2 };
  const place = await start(new DueQueue(["a", "b", "c"].map((id) => entry(id, 0))), { trunks: [trunk] });
  expect(place.dialled()).toEqual(["a"]);
  await place.advance(499);
  expect(place.dialled()).toEqual(["a"]);
  await place.advance(1);
  expect(place.dialled()).toEqual(["a", "b"]);
  await place.advance(10_000);
  expect(place.dialled()).toEqual(["a", "b"]);
  await place.end("a");
  expect(place.dialled()).toEqual(["a", "b", "c"]);
});

test("one number is never in two calls at once", async () => {
  const place = await start(new DueQueue([entry("a", 0, "+1"), entry("b", 0, "+1")]));
  await place.advance(60_000);
  expect(place.dialled()).toEqual(["a"]);
  await place.end("a");
  expect(place.dialled()).toEqual(["a", "b"]);
});

test("a campaign keeps to its own limit, other calls pass by", async () => {
  const campaign = { id: "c1", maxConcurrent: 1 };
  const queue = new DueQueue([
    { ...entry("a", 0), campaign },
    { ...entry("b", 0), campaign },
    entry("single", 0),
  ]);
  const place = await start(queue);
  expect(place.dialled()).toEqual(["a", "single"]);
  await place.end("a");
  expect(place.dialled()).toEqual(["a", "single", "b"]);
});

test("nothing is claimed while no line is free; the end of a call makes room", async () => {
  const place = await start(new DueQueue([entry("a", 0), entry("b", 0)]), { room: 1 });
  expect(place.dialled()).toEqual(["a"]);
  await place.advance(20_000);
  expect(place.dialled()).toEqual(["a"]);
  await place.end("a");
  expect(place.dialled()).toEqual(["a", "b"]);
});

test("a suppressed number is not dialled, and its call says why", async () => {
  const queue = new DueQueue([entry("a", 0, "+1")]);
  queue.suppressed.add("+1");
  const place = await start(queue);
  expect(place.dialled()).toEqual([]);
  expect(queue.ended).toMatchObject([{ callId: "a", outcome: { cause: "suppressed" }, dueAt: null }]);
});

test("a call whose trunk was removed ends and says so", async () => {
  const queue = new DueQueue([{ ...entry("a", 0), trunkId: "gone" }]);
  const place = await start(queue);
  expect(place.dialled()).toEqual([]);
  expect(queue.ended).toMatchObject([{ outcome: { detail: "The call's trunk has been removed." } }]);
});

test("outside the calling hours a call goes back until they open", async () => {
  const queue = new DueQueue([entry("a", 0)]);
  const place = await start(queue, { mayDialAt: () => 3_600_000 });
  expect(place.dialled()).toEqual([]);
  expect(queue.givenBack).toEqual([{ id: "a", dueAt: 3_600_000 }]);
});

test("a call that finds no free line is given back for a moment", async () => {
  const queue = new DueQueue([entry("a", 0)]);
  await start(queue, { run: () => Promise.reject(new OutdialError("lines-busy", "full")) });
  expect(queue.givenBack).toEqual([{ id: "a", dueAt: 250 }]);
});

test("draining dials nothing more; finishing ends what is left after its time", async () => {
  const place = await start(new DueQueue([entry("a", 0), entry("b", 1_000)]));
  const finished = place.dialer.finish(5_000);
  await place.advance(4_999);
  expect(place.hungUp).toEqual([]);
  await place.advance(1);
  expect(place.hungUp).toEqual(["a shutdown"]);
  await place.end("a");
  await finished;
  expect(place.dialled()).toEqual(["a"]);
});

test("a hang-up reaches a running call only", async () => {
  const place = await start(new DueQueue([entry("a", 0)]));
  expect(place.dialer.hangUp("a", "operator")).toBe(true);
  expect(place.dialer.hangUp("b", "operator")).toBe(false);
  expect(place.hungUp).toEqual(["a operator"]);
});

function entry(id: string, dueAt: number, to = `+${id}`) {
  return { id, to, dueAt };
}

async function start(
  queue: DueQueue,
  options: { trunks?: TrunkRow[]; room?: number } & Partial<Pick<DialerParts, "run" | "mayDialAt">> = {},
) {
  const clock = new VirtualClock();
  const tasks = createTasks(silentLog);
  const calls = new Map<string, () => void>();
  const order: string[] = [];
  const hungUp: string[] = [];
  const hold = async (call: RunningCall): Promise<void> => {
    const { id } = call.claimed.call;
    order.push(id);
    call.hangUp = (why) => hungUp.push(`${id} ${why}`);
    await new Promise<void>((resolve) => calls.set(id, resolve));
    calls.delete(id);
  };
  const dialer = startDialer({
    store: queue,
    lines: {
      get room() {
        return (options.room ?? 100) - calls.size;
      },
    },
    clock,
    log: silentLog,
    tasks,
    owner: "test",
    trunks: () => Promise.resolve(options.trunks ?? [t1]),
    run: options.run ?? hold,
    mayDialAt: options.mayDialAt ?? ((_call, _trunk, now) => now),
  });
  cleanups.push(async () => {
    dialer.drain();
    for (const resolve of calls.values()) resolve();
    await tasks[Symbol.asyncDispose]();
  });
  await settle();
  return { dialer, hungUp, dialled: () => order, advance, end };

  async function advance(ms: number): Promise<void> {
    clock.advance(ms);
    await settle();
  }

  async function end(id: string): Promise<void> {
    calls.get(id)?.();
    await settle();
  }
}

/** Lets every promise that can settle do so; no time passes. */
async function settle(): Promise<void> {
  for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setImmediate(resolve));
}
