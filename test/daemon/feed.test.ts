import { expect, test } from "vitest";
import { createFeed, type Feed } from "../../src/daemon/feed.ts";

const all = (): boolean => true;

test("a reader gets what happens after it came, in order", async () => {
  const { feed, abort } = place();
  publish(feed, "before");
  const reader = feed.read({ matches: all, signal: abort.signal });
  const first = reader.next();
  publish(feed, "one");
  publish(feed, "two");
  expect(await first).toMatchObject({ value: { event: { type: "one", seq: 2 } } });
  expect(await reader.next()).toMatchObject({ value: { event: { type: "two", seq: 3 } } });
});

test("a reader resumes after the last event it saw", async () => {
  const { feed, abort } = place();
  for (const type of ["a", "b", "c"]) publish(feed, type);
  const reader = feed.read({ since: 1, matches: all, signal: abort.signal });
  expect(await reader.next()).toMatchObject({ value: { event: { type: "b" } } });
  expect(await reader.next()).toMatchObject({ value: { event: { type: "c" } } });
});

test("who comes back too late is told how much is gone", async () => {
  const { feed, abort } = place({ kept: 2 });
  for (const type of ["a", "b", "c", "d"]) publish(feed, type);
  const reader = feed.read({ since: 0, matches: all, signal: abort.signal });
  expect(await reader.next()).toMatchObject({ value: { type: "lost", count: 2 } });
  expect(await reader.next()).toMatchObject({ value: { event: { type: "c" } } });
});

test("a slow reader loses the oldest, is told, and holds up nobody", async () => {
  const { feed, abort } = place({ queued: 2 });
  const reader = feed.read({ matches: all, signal: abort.signal });
  const first = reader.next();
  publish(feed, "a");
  await first;
  for (const type of ["b", "c", "d", "e"]) publish(feed, type);
  expect(await reader.next()).toMatchObject({ value: { type: "lost", count: 2 } });
  expect(await reader.next()).toMatchObject({ value: { event: { type: "d" } } });
});

test("who resumes far back gets every event still held, however slow it reads", async () => {
  const { feed, abort } = place({ queued: 2 });
  for (let n = 0; n < 50; n++) publish(feed, `old-${n}`);
  const reader = feed.read({ since: 0, matches: all, signal: abort.signal });
  const first = await reader.next();
  publish(feed, "live");
  const types = [first.value];
  for (let n = 0; n < 50; n++) types.push((await reader.next()).value);
  expect(types.map((item) => (item?.type === "event" ? item.event.seq : item?.type))).toEqual(
    Array.from({ length: 51 }, (_, n) => n + 1),
  );
});

test("passing events are not replayed, move no number on, and are the first that a slow reader loses", async () => {
  const { feed, abort } = place({ queued: 3 });
  const reader = feed.read({ matches: all, signal: abort.signal });
  const first = reader.next();
  publish(feed, "a");
  expect(await first).toMatchObject({ value: { event: { type: "a", seq: 1 } } });
  feed.publish({ type: "words", at: 0, accountId: "x", data: {}, passing: true });
  for (const type of ["b", "c", "d"]) publish(feed, type);
  expect(await reader.next()).toMatchObject({ value: { type: "lost", count: 1 } });
  expect(await reader.next()).toMatchObject({ value: { event: { type: "b", seq: 2 } } });
  feed.publish({ type: "words", at: 0, accountId: "x", data: {}, passing: true });
  expect(feed.lastSeq).toBe(4);
  const late = feed.read({ since: 0, follow: false, matches: all, signal: abort.signal });
  const seen: string[] = [];
  for await (const item of late) seen.push(item.type === "event" ? item.event.type : item.type);
  expect(seen).toEqual(["a", "b", "c", "d"]);
});

test("the signal ends a waiting reader", async () => {
  const { feed, abort } = place();
  const waiting = feed.read({ matches: all, signal: abort.signal }).next();
  abort.abort();
  expect(await waiting).toEqual({ done: true, value: undefined });
});

function place(options: { kept?: number; queued?: number } = {}) {
  return { feed: createFeed({ kept: 100, queued: 100, ...options }), abort: new AbortController() };
}

function publish(feed: Feed, type: string): void {
  feed.publish({ type, at: 0, accountId: "x", data: {} });
}
