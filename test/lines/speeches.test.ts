import type { ConversationInput } from "#talk";
import fc from "fast-check";
import { expect, test } from "vitest";
import { Playout } from "../../src/lines/playout.ts";
import { Speeches, type SpeakingLine } from "../../src/lines/speeches.ts";

/** Speeches on a real playout, with sound that a test delivers. */
function setUp() {
  const playout = new Playout();
  const line: SpeakingLine = playout;
  const inputs: ConversationInput[] = [];
  const renderings = new Map<string, PromiseWithResolvers<Int16Array | undefined>>();
  const ranks: number[] = [];
  const running: Promise<void>[] = [];
  const frame = new Int16Array(160);
  const abort = new AbortController();
  let now = 0;

  const speeches = new Speeches({
    line,
    async *render(text, rank, signal) {
      ranks.push(rank);
      for (;;) {
        const next = Promise.withResolvers<Int16Array | undefined>();
        renderings.set(text, next);
        signal.addEventListener("abort", () => next.reject(signal.reason));
        const chunk = await next.promise;
        if (chunk === undefined) return;
        yield chunk;
      }
    },
    spawn: (_name, run) => running.push(run(abort.signal)),
    now: () => now,
    sinceAnswer: () => now,
    feed: (input) => inputs.push(input),
  });

  return {
    speeches,
    inputs,
    ranks,
    line,
    /** The next chunk of a text, or its end. */
    async deliver(text: string, samples?: number) {
      renderings.get(text)!.resolve(samples === undefined ? undefined : new Int16Array(samples).fill(1000));
      await new Promise(setImmediate);
    },
    async breakDown(text: string) {
      renderings.get(text)!.reject(new Error("no voice"));
      await new Promise(setImmediate);
    },
    tick(frames = 1) {
      for (let i = 0; i < frames; i++) {
        now += 20;
        playout.pull(frame, (id) => speeches.played(id));
        speeches.ticked();
      }
    },
    settled: async () => Promise.all(running),
  };
}

test("a short speech is ready when it is complete, starts with its first frame and is played at its end", async () => {
  const t = setUp();
  t.speeches.synthesise("s1", "hi", "now");
  await t.deliver("hi", 800);
  expect(t.inputs).toEqual([]);
  await t.deliver("hi");
  expect(t.inputs).toEqual([{ type: "speech-ready", speechId: "s1", durationMs: 100 }]);
  t.tick();
  t.speeches.play("s1");
  expect(t.inputs).toHaveLength(1);
  t.tick();
  expect(t.inputs[1]).toEqual({ type: "speech-started", speechId: "s1", atMs: 40 });
  t.tick(4);
  expect(t.inputs[2]).toEqual({ type: "speech-played", speechId: "s1" });
  expect(t.inputs).toHaveLength(3);
});

test("one that takes its time is ready before it is complete, and the rest follows", async () => {
  const t = setUp();
  t.speeches.synthesise("s1", "long", "now");
  await t.deliver("long", 1600);
  await t.deliver("long", 1440);
  expect(t.inputs).toEqual([]);
  t.tick(10);
  await t.deliver("long", 160);
  expect(t.inputs).toEqual([{ type: "speech-ready", speechId: "s1" }]);
  t.speeches.play("s1");
  t.tick(25);
  expect(t.inputs.map((input) => input.type)).toEqual(["speech-ready", "speech-started"]);
  await t.deliver("long", 320);
  await t.deliver("long");
  t.tick(2);
  expect(t.inputs.at(-1)).toEqual({ type: "speech-played", speechId: "s1" });
});

test("clearing tells what was played and forgets the rest", async () => {
  const t = setUp();
  t.speeches.synthesise("s1", "cut", "now");
  await t.deliver("cut", 8000);
  await t.deliver("cut");
  t.speeches.play("s1");
  t.tick(10);
  t.speeches.pause();
  t.tick(10);
  t.speeches.clear();
  expect(t.inputs.at(-1)).toEqual({ type: "speech-stopped", speechId: "s1", playedMs: 200, totalMs: 1000 });
  expect(t.line.queuedMs).toBe(0);
  t.speeches.synthesise("s2", "next", "now");
  await t.deliver("next", 160);
  await t.deliver("next");
  t.speeches.play("s2");
  t.tick();
  expect(t.inputs.map((input) => input.type).slice(-2)).toEqual(["speech-started", "speech-played"]);
});

test("a speech cleared before its first frame was played for no time", async () => {
  const t = setUp();
  t.speeches.synthesise("s1", "x", "now");
  await t.deliver("x", 1600);
  await t.deliver("x");
  t.speeches.play("s1");
  t.speeches.clear();
  expect(t.inputs.at(-1)).toEqual({ type: "speech-stopped", speechId: "s1", playedMs: 0, totalMs: 200 });
});

test("clearing an empty line tells nothing", () => {
  const t = setUp();
  t.speeches.clear();
  expect(t.inputs).toEqual([]);
});

test("a discarded speech stops being made, and is not heard of again", async () => {
  const t = setUp();
  t.speeches.synthesise("s1", "never", "now");
  await t.deliver("never", 160);
  t.speeches.discard("s1");
  await t.settled();
  expect(t.inputs).toEqual([]);
  t.speeches.play("s1");
  expect(t.inputs).toEqual([{ type: "speech-failed", speechId: "s1", reason: "it was never rendered" }]);
});

test("a failure before and during the playing is told once", async () => {
  const t = setUp();
  t.speeches.synthesise("s1", "a", "now");
  await t.breakDown("a");
  expect(t.inputs).toEqual([{ type: "speech-failed", speechId: "s1", reason: "no voice" }]);
  t.speeches.synthesise("s2", "b", "now");
  await t.deliver("b", 3840);
  t.tick(10);
  await t.deliver("b", 160);
  t.speeches.play("s2");
  t.tick(3);
  await t.breakDown("b");
  expect(t.inputs.at(-1)).toEqual({ type: "speech-failed", speechId: "s2", reason: "no voice" });
  expect(t.line.queuedMs).toBe(0);
  t.tick(3);
  expect(t.inputs.at(-1)!.type).toBe("speech-failed");
});

test("a text without a sound is over as soon as it is played", async () => {
  const t = setUp();
  t.speeches.synthesise("s1", "…", "now");
  await t.deliver("…");
  t.speeches.play("s1");
  expect(t.inputs.map((input) => input.type)).toEqual(["speech-ready", "speech-started", "speech-played"]);
});

test("what is needed now comes first, what lies ahead after what was asked for before it", async () => {
  const t = setUp();
  t.speeches.synthesise("s1", "a", "ahead");
  t.speeches.synthesise("s2", "b", "ahead");
  t.speeches.synthesise("s3", "c", "now");
  await t.deliver("a");
  t.speeches.synthesise("s4", "d", "ahead");
  expect(t.ranks).toEqual([0, 1, 0, 2]);
});

/** What a conversation and an engine may do to the speeches, in any order. */
const act = fc.oneof(
  fc.record({
    do: fc.constantFrom("synthesise", "play", "discard", "complete", "break-down"),
    which: fc.nat({ max: 3 }),
  }),
  fc.record({
    do: fc.constant("deliver"),
    which: fc.nat({ max: 3 }),
    samples: fc.integer({ min: 1, max: 2000 }),
  }),
  fc.record({ do: fc.constantFrom("pause", "resume", "clear", "tick"), which: fc.constant(0) }),
);

test("whatever happens, a speech that was played starts at most once and ends exactly once, by the next clearing at the latest", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(act, { minLength: 20, maxLength: 60 }), async (acts) => {
      const t = setUp();
      const asked = new Set<string>();
      const played: string[] = [];
      const told = (type: string, id: string): number =>
        t.inputs.filter((input) => input.type === type && "speechId" in input && input.speechId === id)
          .length;
      const ended = (id: string): number =>
        ["speech-played", "speech-stopped", "speech-failed"].reduce((n, type) => n + told(type, id), 0);
      const playing = (): string | undefined => played.findLast((id) => ended(id) === 0);
      for (const each of acts) {
        const id = `s${each.which}`;
        const known = asked.has(id) && ended(id) === 0;
        if (each.do === "synthesise" && !asked.has(id)) t.speeches.synthesise(id, id, "now");
        if (each.do === "synthesise") asked.add(id);
        if (
          each.do === "play" &&
          known &&
          told("speech-ready", id) > 0 &&
          playing() === undefined &&
          !played.includes(id)
        ) {
          played.push(id);
          t.speeches.play(id);
        }
        if (each.do === "discard" && !played.includes(id)) t.speeches.discard(id);
        if ("samples" in each && known) await t.deliver(id, each.samples);
        if (each.do === "complete" && known) await t.deliver(id);
        if (each.do === "break-down" && known) await t.breakDown(id);
        if (each.do === "pause") t.speeches.pause();
        if (each.do === "resume") t.speeches.resume();
        if (each.do === "clear") t.speeches.clear();
        if (each.do === "tick") t.tick(7);
      }
      t.speeches.clear();
      for (const id of asked) {
        expect(told("speech-started", id)).toBeLessThanOrEqual(1);
        expect(told("speech-ready", id)).toBeLessThanOrEqual(1);
        expect(ended(id)).toBeLessThanOrEqual(1);
        if (told("speech-played", id) === 1) expect(told("speech-started", id)).toBe(1);
      }
      for (const id of played) expect(ended(id)).toBe(1);
      expect(t.line.queuedMs).toBe(0);
    }),
    { numRuns: 500 },
  );
});
