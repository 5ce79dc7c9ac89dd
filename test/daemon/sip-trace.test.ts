import { plainTrunkSip } from "#domain";
import { expect, test } from "vitest";
import type { TrunkRow } from "../../src/daemon/ports.ts";
import { createSipTraces, type SipTraceEntry } from "../../src/daemon/sip-trace.ts";
import { VirtualClock } from "../support/virtual-clock.ts";

const trunk = {
  id: "t1",
  accountId: "a1",
  name: "main",
  host: "sip.example.com",
  port: 0,
  sip: plainTrunkSip,
} as TrunkRow;

test("an attempt's messages are told as they pass and kept for its end", () => {
  const { traces, told } = place();
  const trace = traces.follow("x@outdial", attempt(told));
  traces.take(entry({ firstLine: "INVITE sip:1@h SIP/2.0", text: "INVITE sip:1@h SIP/2.0\r\n\r\n" }));
  traces.take(entry({ direction: "received", at: 7.9, text: "SIP/2.0 180 Ringing\r\n\r\n" }));
  const messages = trace.messages();
  expect(messages).toMatchObject([
    { callId: "c1", n: 2, seq: 1, direction: "sent", local: "192.0.2.1:5060", remote: "[2001:db8::5]:5060" },
    { seq: 2, direction: "received", at: 7, text: "SIP/2.0 180 Ringing\r\n\r\n" },
  ]);
  expect(traces.live("c1")).toEqual(messages);
  expect(told[0]).toEqual([
    "call",
    "sip-message",
    {
      attempt: 2,
      seq: 1,
      at: "1970-01-01T00:00:00.005Z",
      trunk: "main",
      sip_call_id: "x@outdial",
      direction: "sent",
      transport: "udp",
      local: "192.0.2.1:5060",
      remote: "[2001:db8::5]:5060",
      first_line: "INVITE sip:1@h SIP/2.0",
      text: "INVITE sip:1@h SIP/2.0\r\n\r\n",
    },
  ]);
  trace.close();
  expect(traces.live("c1")).toEqual([]);
});

test("of an attempt without end the first and the last messages are kept, at most 64 KiB", () => {
  const { traces } = place();
  const trace = traces.follow("x@outdial", attempt([]));
  for (let n = 0; n < 200; n++) traces.take(entry({ text: `${n} ${"x".repeat(1000)}` }));
  traces.take(entry({ text: "y".repeat(20_000) }));
  const messages = trace.messages();
  expect(messages[0]?.text).toMatch(/^0 /);
  expect(messages.at(-1)?.text).toMatch(/y\r\n\[cut\]$/);
  expect(messages.at(-1)?.seq).toBe(201);
  expect(messages.reduce((sum, { text }) => sum + text.length, 0)).toBeLessThan(64 * 1024);
  const seqs = messages.map(({ seq }) => seq);
  expect(seqs).toEqual([...new Set(seqs)].toSorted((a, b) => a - b));
  expect(seqs.length).toBeGreaterThan(50);
});

test("what belongs to no attempt is told to the trunk it is of: by To, or by address", async () => {
  const { traces, told, clock } = place();
  const register = "REGISTER sip:sip.example.com SIP/2.0\r\nTo: <sip:bob@sip.example.com>\r\n\r\n";
  traces.take(entry({ sipCallId: "r1", text: register }));
  traces.take(entry({ sipCallId: "r2", text: "OPTIONS sip:evil SIP/2.0\r\nTo: <sip:evil>\r\n\r\n" }));
  await clock.settle();
  expect(told).toMatchObject([["a1", "sip-message", { trunk: "main", text: register }]]);
});

test("strangers cannot make the store work: trunks are read at most every five seconds", async () => {
  const { traces, reads, clock } = place();
  for (let n = 0; n < 100; n++) traces.take(entry({ sipCallId: `s${n}` }));
  await clock.settle();
  expect(reads()).toBe(1);
  clock.advance(5_000);
  traces.take(entry({ sipCallId: "again" }));
  expect(reads()).toBe(2);
});

test("where we are is what we told the peer, when the socket listens on all addresses", () => {
  const { traces } = place();
  const trace = traces.follow("x@outdial", attempt([]));
  const local = { address: "0.0.0.0", port: 5062 };
  traces.take(
    entry({ local, direction: "received", text: "SIP/2.0 100 Trying\r\nVia: SIP/2.0/UDP 9.9.9.9\r\n" }),
  );
  traces.take(entry({ local, text: "INVITE sip:1@h SIP/2.0\r\nVia: SIP/2.0/UDP 192.0.2.7:5062;rport\r\n" }));
  traces.take(entry({ local, direction: "received", text: "SIP/2.0 180 Ringing\r\n" }));
  expect(trace.messages().map((message) => message.local)).toEqual([
    "0.0.0.0:5062",
    "192.0.2.7:5062",
    "192.0.2.7:5062",
  ]);
});

type Told = [string, string, unknown];

function place() {
  const clock = Object.assign(new VirtualClock(), {
    settle: () => new Promise<void>((resolve) => setImmediate(resolve)),
  });
  const told: Told[] = [];
  let reads = 0;
  const traces = createSipTraces({
    clock,
    trunks: async () => {
      reads++;
      return [trunk];
    },
    publish: (accountId, type, data) => told.push([accountId, type, data]),
  });
  return { traces, told, clock, reads: () => reads };
}

function attempt(told: Told[]) {
  return {
    callId: "c1",
    n: 2,
    trunk,
    publish: (type: string, data: unknown) => void told.push(["call", type, data]),
  };
}

function entry(fields: Partial<SipTraceEntry> = {}): SipTraceEntry {
  return {
    at: 5,
    direction: "sent",
    transport: "udp",
    local: { address: "192.0.2.1", port: 5060 },
    remote: { address: "2001:db8::5", port: 5060 },
    sipCallId: "x@outdial",
    firstLine: "",
    text: "",
    ...fields,
  };
}
