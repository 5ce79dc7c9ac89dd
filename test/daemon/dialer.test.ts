import { OutdialError } from "#base";
import { createTasks, silentLog } from "#host";
import { afterEach, describe, expect, test } from "vitest";
import { outcomeOf, plainTrunkSip, type Outcome } from "#domain";
import { startDialer, type DialerParts } from "../../src/daemon/dialer.ts";
import type { TrunkRow } from "../../src/daemon/ports.ts";
import type { RunningCall } from "../../src/daemon/run-call.ts";
import type { TrunkFault, TrunkHealth } from "../../src/daemon/trunk-health.ts";
import { DueQueue } from "../support/due-queue.ts";
import { VirtualClock } from "../support/virtual-clock.ts";

const t1 = {
  id: "t1",
  accountId: "a",
  name: "main",
  kind: "ip",
  isDefault: true,
  maxCalls: 10,
  callsPerSecond: Infinity,
  sip: plainTrunkSip,
} as TrunkRow;
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

describe("a call of no trunk in particular", () => {
  const t2 = { ...t1, id: "t2", name: "spare", isDefault: false, sip: { ...plainTrunkSip, priority: 20 } };
  const t3 = { ...t1, id: "t3", name: "first-spare", isDefault: false };
  const sandbox: TrunkRow = { ...t1, id: "s", name: "sandbox", kind: "sandbox", isDefault: true };
  const fault = { why: "It is paused.", until: null, held: false };

  test("takes the default trunk, else the next by priority that takes calls", async () => {
    const queue = new DueQueue([0, 1, 2, 3].map((n) => ({ ...entry(`c${n}`, n * 1000), trunkId: null })));
    const place = await start(queue, { trunks: [sandbox, t2, t3, t1] });
    place.health.faults.set("t1", fault);
    await place.advance(1000);
    place.health.faults.set("t3", fault);
    await place.advance(1000);
    place.health.faults.clear();
    await place.advance(1000);
    expect(place.dialled()).toEqual(["c0", "c1 on t3", "c2 on t2", "c3"]);
  });

  test("waits while no trunk takes calls, or the one that does is full", async () => {
    const queue = new DueQueue([0, 1, 2].map((n) => ({ ...entry(`c${n}`, 0), trunkId: null })));
    const place = await start(queue, { trunks: [t1, { ...t2, maxCalls: 1 }], faults: ["t1", "t2"] });
    expect(place.dialled()).toEqual([]);
    place.health.faults.delete("t2");
    place.dialer.wake();
    await place.advance(0);
    expect(place.dialled()).toEqual(["c0 on t2"]);
    place.health.faults.clear();
    place.dialer.wake();
    await place.advance(0);
    expect(place.dialled()).toEqual(["c0 on t2", "c1", "c2"]);
  });

  test("a call of one trunk waits for it, whatever others can do", async () => {
    const place = await start(new DueQueue([entry("a", 0)]), { trunks: [t1, t2], faults: ["t1"] });
    await place.advance(60_000);
    expect(place.dialled()).toEqual([]);
    place.health.faults.clear();
    place.dialer.wake();
    await place.advance(0);
    expect(place.dialled()).toEqual(["a"]);
  });

  test("without any trunk it ends and says so", async () => {
    const queue = new DueQueue([{ ...entry("a", 0), trunkId: null }]);
    await start(queue, { trunks: [sandbox] });
    expect(queue.ended).toMatchObject([{ outcome: { cause: "no-route" } }]);
  });
});

test("a trunk hears of each of its calls once at the start and once at the end", async () => {
  const place = await start(new DueQueue([entry("a", 0), entry("b", 0)]));
  await place.end("a", outcomeOf("busy"));
  expect(place.health.heard).toEqual(["t1 started", "t1 started", "t1 busy"]);
  const failing = await start(new DueQueue([entry("c", 0)]), { run: () => Promise.reject(new Error("x")) });
  expect(failing.health.heard).toEqual(["t1 started", "t1 not dialled"]);
});

class NotedHealth implements Pick<TrunkHealth, "faultOf" | "callStarted" | "callEnded"> {
  readonly faults = new Map<string, TrunkFault>();
  readonly heard: string[] = [];

  faultOf(id: string): TrunkFault | undefined {
    return this.faults.get(id);
  }

  callStarted(id: string): void {
    this.heard.push(`${id} started`);
  }

  callEnded(id: string, outcome: Outcome | undefined): void {
    this.heard.push(`${id} ${outcome?.cause ?? "not dialled"}`);
  }
}

function entry(id: string, dueAt: number, to = `+${id}`) {
  return { id, to, dueAt };
}

async function start(
  queue: DueQueue,
  options: { trunks?: TrunkRow[]; room?: number; faults?: readonly string[] } & Partial<
    Pick<DialerParts, "run" | "mayDialAt">
  > = {},
) {
  const clock = new VirtualClock();
  const tasks = createTasks(silentLog);
  const calls = new Map<string, () => void>();
  const order: string[] = [];
  const hungUp: string[] = [];
  const outcomes = new Map<string, Outcome>();
  const health = new NotedHealth();
  for (const id of options.faults ?? []) health.faults.set(id, { why: "x", until: null, held: false });
  const hold = async (call: RunningCall): Promise<Outcome | undefined> => {
    const { id } = call.claimed.call;
    order.push(call.trunk.id === "t1" ? id : `${id} on ${call.trunk.id}`);
    call.hangUp = (why) => hungUp.push(`${id} ${why}`);
    await new Promise<void>((resolve) => calls.set(id, resolve));
    calls.delete(id);
    return outcomes.get(id);
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
    health,
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
  return { dialer, hungUp, health, dialled: () => order, advance, end };

  async function advance(ms: number): Promise<void> {
    clock.advance(ms);
    await settle();
  }

  async function end(id: string, outcome?: Outcome): Promise<void> {
    if (outcome !== undefined) outcomes.set(id, outcome);
    calls.get(id)?.();
    await settle();
  }
}

/** Lets every promise that can settle do so; no time passes. */
async function settle(): Promise<void> {
  for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setImmediate(resolve));
}
