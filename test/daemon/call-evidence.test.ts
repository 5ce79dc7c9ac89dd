import { plainTrunkSip } from "#domain";
import { silentLog } from "#host";
import { expect, test } from "vitest";
import { eventMatcher, isPassing } from "../../src/daemon/event-filter.ts";
import type {
  AttemptEnd,
  ClaimedCall,
  DialOrder,
  Line,
  LineReport,
  SipMessageRow,
  TrunkRow,
} from "../../src/daemon/ports.ts";
import { runCall, type CallSurroundings } from "../../src/daemon/run-call.ts";
import { recordService } from "../../src/daemon/service-records.ts";
import { createFeed } from "../../src/daemon/feed.ts";
import { call, settings } from "../store/sample-rows.ts";
import { VirtualClock } from "../support/virtual-clock.ts";

const trunk = {
  id: "t1",
  name: "main",
  kind: "ip",
  host: "h",
  port: 5060,
  callerId: "+34910000000",
  codecs: ["PCMA"],
  sip: plainTrunkSip,
} as unknown as TrunkRow;
const claimed = {
  call: { ...call(1), id: "c1", trunkId: "t1", to: "+34600000001", from: "+34910000000", recallMin: [] },
  attempt: 2,
  settings,
  campaignMaxConcurrent: null,
} as unknown as ClaimedCall;
const report = {
  conversation: { verdict: { kind: "unknown" }, turns: [], result: { doNotCall: false }, firstWordMs: null },
  recordedMs: 0,
  media: {},
} as unknown as LineReport;

test("an attempt's SIP messages are stored with its end, and when early media came is told", async () => {
  const place = dial();
  await place.settle();
  place.clock.advance(1_500);
  place.event({ type: "leg-early-media", media: {} as never });
  place.clock.advance(2_000);
  place.event({ type: "leg-early-media", media: {} as never });
  place.event({
    type: "leg-ended",
    end: { by: "them", answered: false, ringing: true, status: 486, reason: "Busy Here", q850: 17 },
  });
  expect((await place.over)?.state).toBe("busy");
  expect(place.ends[0]?.evidence).toMatchObject({ early_media_at: "1970-01-01T00:00:01.500Z" });
  expect(place.saved).toEqual([["c1", 2, [message(2)]]]);
  expect(place.closedTraces).toBe(1);
  expect(place.published).toEqual(["call-dialing", "call-ended"]);
});

test("messages that cannot be stored do not keep a call from ending", async () => {
  const place = dial({
    saveSipMessages: async () => {
      throw new Error("no room");
    },
  });
  await place.settle();
  place.event({
    type: "leg-ended",
    end: { by: "nobody", answered: false, ringing: false, failure: "timeout" },
  });
  await place.over;
  expect(place.ends).toHaveLength(1);
  expect(place.published).toContain("call-ended");
});

test("of a call under way the messages so far are given, and none twice", async () => {
  const live = [message(2)];
  const stored = [message(1)];
  const records = recordService({
    store: {
      findCall: async () => ({ id: "c1" }),
      listSipMessages: async () => stored,
    },
    liveSip: () => live,
    liveCalls: () => [],
    hangUp: () => false,
    feed: createFeed({ kept: 1, queued: 1 }),
    stream: "",
    clock: new VirtualClock(),
    recordingsDir: "",
  } as unknown as Parameters<typeof recordService>[0]);
  expect(await records.listSipMessages("a", "c1")).toEqual([message(1), message(2)]);
  stored.push(message(2));
  expect(await records.listSipMessages("a", "c1")).toEqual([message(1), message(2)]);
});

test("passing events reach only who asked for their type", () => {
  const event = (type: string, accountId = "a") => ({
    seq: 1,
    type,
    at: 0,
    accountId,
    callId: "c1",
    data: {},
    ...(isPassing(type) ? { passing: true as const } : {}),
  });
  const nothing = { callId: undefined, campaignId: undefined };
  const all = eventMatcher({ accountId: "a" }, nothing);
  expect([event("call-ended"), event("sip-message"), event("call-ended", "b")].map(all)).toEqual([
    true,
    false,
    false,
  ]);
  const sip = eventMatcher({ accountId: "a", types: ["sip-message"] }, nothing);
  expect([event("call-ended"), event("sip-message")].map(sip)).toEqual([false, true]);
  const other = eventMatcher({ accountId: "a" }, { ...nothing, callId: "c2" });
  expect(other(event("call-ended"))).toBe(false);
});

function message(n: number): SipMessageRow {
  return {
    callId: "c1",
    n,
    seq: 1,
    at: 0,
    direction: "sent",
    transport: "udp",
    local: "192.0.2.1:5060",
    remote: "192.0.2.2:5060",
    text: "INVITE",
  };
}

/** An attempt on a leg and a line that only do what a test says. */
function dial(store: Partial<CallSurroundings["store"]> = {}) {
  const clock = new VirtualClock();
  const ends: AttemptEnd[] = [];
  const saved: unknown[] = [];
  const published: string[] = [];
  const legs: DialOrder["onEvent"][] = [];
  const traces = { closed: 0 };
  const line = { local: {}, prepare: () => undefined, close: async () => report } as unknown as Line;
  const around = {
    store: {
      startDial: async () => true,
      endAttempt: async (end: AttemptEnd) => ends.push(end) > 0,
      saveSipMessages: async (...args: unknown[]) => void saved.push(args),
      ...store,
    },
    telephony: {
      prepare: ({ onEvent }: DialOrder) => {
        legs.push(onEvent);
        return { dialog: {}, send: () => ({ hangUp: () => undefined }) };
      },
    },
    lines: { open: async () => line },
    clock,
    log: silentLog,
    owner: "local",
    newSipCallId: () => "x@outdial",
    ringTimeoutMs: 1_000,
    voiceOrder: async () => undefined,
    mediaAddress: () => "127.0.0.1",
    recordingPath: (fileName: string) => fileName,
    target: () => ({ host: "h", port: 5060 }),
    newSrtpKeys: () => [],
    callWent: () => undefined,
    publish: (type: string) => void published.push(type),
    followSip: () => ({ messages: () => [message(2)], close: () => void traces.closed++ }),
  } as unknown as CallSurroundings;
  const over = runCall({ claimed, trunk, hangUp: () => undefined, hungUpEarly: () => undefined }, around);
  return {
    clock,
    ends,
    saved,
    published,
    over,
    settle: () => new Promise<void>((resolve) => setImmediate(resolve)),
    event: (event: Parameters<DialOrder["onEvent"]>[0]) => legs[0]?.(event),
    get closedTraces() {
      return traces.closed;
    },
  };
}
