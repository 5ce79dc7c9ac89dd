import type { LiveEvent } from "#api";
import { connect } from "node:net";
import { createInterface } from "node:readline";
import { Readable } from "node:stream";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { eventLines } from "../../src/api/event-stream.ts";
import { AdminApiRig } from "../support/admin-api.ts";
import { accountA, callOf } from "../support/memory-service.ts";
import { VirtualClock } from "../support/virtual-clock.ts";

let rig: AdminApiRig;
beforeEach(async () => {
  rig = await AdminApiRig.start();
});
afterEach(async () => rig[Symbol.asyncDispose]());

function event(seq: number, type = "call-changed"): LiveEvent {
  return { seq, type, callId: callOf().id, campaignId: null, at: 1_000 + seq, data: { n: seq } };
}

/** A feed that a test fills; ends when told. */
function feedOf() {
  const waiting: LiveEvent[] = [];
  let wake: (() => void) | undefined;
  let over = false;
  return {
    push(...events: LiveEvent[]) {
      waiting.push(...events);
      wake?.();
    },
    end() {
      over = true;
      wake?.();
    },
    async *[Symbol.asyncIterator](): AsyncGenerator<LiveEvent> {
      for (;;) {
        const next = waiting.shift();
        if (next) yield next;
        else if (over) return;
        else await new Promise<void>((resolve) => (wake = resolve));
      }
    },
  };
}

describe("GET /admin/events", () => {
  test("gives one compact JSON object a line, after a first heartbeat that tells the reader it is connected", async () => {
    const feed = feedOf();
    rig.service.feed = feed;
    const response = await rig.open("GET", "/admin/events");
    expect(response.headers["content-type"]).toBe("application/x-ndjson");
    const lines = createInterface({ input: response.body })[Symbol.asyncIterator]();
    expect(JSON.parse((await lines.next()).value ?? "")).toMatchObject({ type: "heartbeat", seq: 0 });
    feed.push(event(7), event(8, "events-lost"));
    expect((await lines.next()).value).toBe(
      `{"seq":7,"type":"call-changed","call_id":"${callOf().id}","campaign_id":null,"at":"1970-01-01T00:00:01.007Z","data":{"n":7}}`,
    );
    expect(JSON.parse((await lines.next()).value ?? "")).toMatchObject({
      type: "events-lost",
      data: { n: 8 },
    });
    feed.end();
    expect((await lines.next()).done).toBe(true);
  });

  test("filters by call, campaign and the last event seen; ids may be prefixes", async () => {
    rig.service.calls = [callOf()];
    rig.service.position = { stream: "a", seq: 50 };
    await rig.ask("GET", "/admin/events?call=0190&since=41");
    expect(rig.service.filters).toEqual([{ accountId: accountA.id, call: callOf().id, since: 41 }]);
    expect((await rig.ask("GET", "/admin/events?call=ffff")).status).toBe(404);
    expect((await rig.ask("GET", "/admin/events?campaign=ffff")).status).toBe(404);
    expect((await rig.ask("GET", "/admin/events?since=x")).status).toBe(400);
  });

  test("begins where the feed is, or where the reader left off; a number of an earlier daemon counts as none", async () => {
    rig.service.position = { stream: "b", seq: 30 };
    const first = async (path: string) => JSON.parse((await rig.ask("GET", path)).text.split("\n")[0] ?? "");
    expect(await first("/admin/events")).toMatchObject({ seq: 30, data: { stream: "b" } });
    expect(await first("/admin/events?since=12")).toMatchObject({ seq: 12 });
    expect(await first("/admin/events?since=31&types=call-ended,sip-message&follow=false")).toMatchObject({
      seq: 0,
    });
    expect(rig.service.filters).toEqual([
      { accountId: accountA.id, since: 30 },
      { accountId: accountA.id, since: 12 },
      { accountId: accountA.id, since: 0, types: ["call-ended", "sip-message"], follow: false },
    ]);
  });

  test("ends when the server closes", async () => {
    rig.service.events = (_filter, signal) => quietUntil(signal);
    const response = await rig.open("GET", "/admin/events");
    const text = response.body.text();
    await rig.stop();
    expect(await text).toMatch(/^\{"seq":0,"type":"heartbeat".*\}\n$/);
  });

  test("a reader that goes away ends the feed", async () => {
    const { promise, resolve } = Promise.withResolvers<AbortSignal>();
    rig.service.events = (_filter, signal) => {
      resolve(signal);
      return quietUntil(signal);
    };
    const reader = connect(rig.socketPath, () =>
      reader.write("GET /admin/events HTTP/1.1\r\nHost: localhost\r\n\r\n"),
    );
    const signal = await promise;
    await new Promise((resolve) => reader.once("data", resolve));
    expect(signal.aborted).toBe(false);
    const ended = new Promise((resolve) => signal.addEventListener("abort", resolve));
    reader.destroy();
    await ended;
    expect(signal.aborted).toBe(true);
  });
});

/** A feed in which nothing happens. */
function quietUntil(signal: AbortSignal): AsyncIterable<LiveEvent> {
  const next = async (): Promise<IteratorResult<LiveEvent>> => {
    if (!signal.aborted) await new Promise((resolve) => signal.addEventListener("abort", resolve));
    return { done: true, value: undefined };
  };
  return { [Symbol.asyncIterator]: () => ({ next }) };
}

describe("the lines of a stream", () => {
  test("hold a heartbeat for every 15 quiet seconds, with the last number sent", async () => {
    const clock = new VirtualClock();
    const feed = feedOf();
    const lines = eventLines(feed, clock);
    const read = async () => JSON.parse((await lines.next()).value ?? "");
    expect(await read()).toMatchObject({ type: "heartbeat", at: "1970-01-01T00:00:00.000Z" });
    feed.push(event(3));
    expect(await read()).toMatchObject({ seq: 3, type: "call-changed" });
    const quiet = read();
    clock.advance(15_000);
    expect(await quiet).toMatchObject({ seq: 3, type: "heartbeat", at: "1970-01-01T00:00:15.000Z" });
    feed.push(event(4));
    expect(await read()).toMatchObject({ seq: 4 });
  });

  test("heartbeats move on past events of others, to a number that hides nothing from the reader", async () => {
    const clock = new VirtualClock();
    const feed = feedOf();
    let seq = 5;
    const lines = eventLines(feed, clock, { since: 5, position: () => ({ stream: "x", seq }) });
    const read = async () => JSON.parse((await lines.next()).value ?? "");
    expect(await read()).toMatchObject({ type: "heartbeat", seq: 5, data: { stream: "x" } });
    seq = 9;
    const beat = read();
    clock.advance(15_000);
    expect(await beat).toMatchObject({ type: "heartbeat", seq: 5 });
    const later = read();
    clock.advance(15_000);
    expect(await later).toMatchObject({ type: "heartbeat", seq: 9 });
  });

  test("are only taken from the feed as fast as the reader reads", async () => {
    let taken = 0;
    const feed = {
      async *[Symbol.asyncIterator](): AsyncGenerator<LiveEvent> {
        for (;;) yield event(++taken);
      },
    };
    const stream = Readable.from(eventLines(feed, new VirtualClock()), {
      highWaterMark: 1,
    });
    await new Promise((resolve) => stream.once("readable", resolve));
    expect(taken).toBeLessThan(5);
    stream.destroy();
  });
});
