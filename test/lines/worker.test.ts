import { programFile, type Log } from "#host";
import type { Script } from "#domain";
import { existsSync } from "node:fs";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Worker } from "node:worker_threads";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Lines as DaemonLines } from "../../src/daemon/ports.ts";
import { openLinePool, type Lines, type LineOrder } from "../../src/lines/pool.ts";
import type { LineEvent } from "../../src/lines/protocol.ts";
import { babble, mediaTo, openPeer, scriptPlan } from "./loopback-call.ts";

const script: Script = {
  start: "question",
  states: {
    question: { ask: "Press one.", digits: { "1": "thanks" } },
    thanks: {
      say: "Thanks.",
      end: { success: true, output: { answer: "{{answer}}" }, summary: "Confirmed." },
    },
  },
};

const logged: string[] = [];
const note = (message: string, fields?: object): void =>
  void logged.push(`${message} ${JSON.stringify(fields)}`);
const log: Log = { debug: note, info: note, warn: note, error: note };
const threads: Worker[] = [];
let directory: string;
let lines: Lines;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), "outdial-lines-"));
  lines = await openLinePool({
    log,
    workers: 1,
    maxCallsPerWorker: 4,
    portRange: { from: 41_000, to: 48_999 },
    startWorker: () => {
      const thread = new Worker(programFile("lines/worker"));
      threads.push(thread);
      return thread;
    },
  });
});
afterAll(async () => {
  await lines.close();
  await rm(directory, { recursive: true });
});

/** An order whose events can be waited for. */
function order(options: { recording?: string; rtt?: boolean; script?: Script } = {}) {
  const events: LineEvent[] = [];
  const waiting: { type: LineEvent["type"]; resolve: (event: LineEvent) => void }[] = [];
  const request: LineOrder = {
    callId: "c1",
    attempt: 1,
    address: "127.0.0.1",
    plan: scriptPlan(options.script ?? script, { rtt: options.rtt ?? false }),
    recordingPath: options.recording === undefined ? undefined : join(directory, options.recording),
    onEvent(event) {
      events.push(event);
      for (const one of waiting) if (one.type === event.type) one.resolve(event);
    },
  };
  const next = async (type: LineEvent["type"]): Promise<LineEvent> => {
    const known = events.find((event) => event.type === type);
    return known ?? new Promise((resolve) => waiting.push({ type, resolve }));
  };
  return { request, events, next };
}

describe("a call in a worker", () => {
  test("the daemon's port is met, down to an order and a line", async () => {
    const port: DaemonLines = lines;
    const line = await port.open(order().request);
    expect(line.local).toMatchObject({ address: "127.0.0.1" });
    expect(line.local.audioPort % 2).toBe(0);
    expect(line.local.audioPort).toBeGreaterThanOrEqual(41_000);
    expect(line.local.audioPort).toBeLessThan(49_000);
    await line.close();
  });

  test("a line that is connected without having rung speaks all the same, and a digit may come by SIP", async () => {
    const { request, next } = order();
    const line = await lines.open(request);
    const peer = await openPeer();
    let heard = false;
    peer.onFrame = (_pcm, speechActive) => {
      if (heard && !speechActive) line.pressed("1");
      heard = speechActive;
    };
    peer.connect(mediaTo(line.local));
    line.connect(mediaTo(peer.local));
    await next("conversation-finished");
    expect((await line.close()).conversation.result).toMatchObject({
      success: true,
      output: { answer: "1" },
    });
  });

  test("rendered while it rang, the greeting is heard at once, a key answers it, and report and recording hold both sides", async () => {
    const { request, events, next } = order({ recording: "call.wav" });
    const line = await lines.open(request);
    line.prepare();
    const peer = await openPeer();
    let heardAtMs: number | undefined;
    let spoke = false;
    let pressed = false;
    peer.onFrame = (_pcm, speechActive, info) => {
      if (info.levelDb > -40) heardAtMs ??= info.elapsedMs;
      if (spoke && !speechActive && !pressed) pressed = peer.sendDtmf("1");
      spoke = speechActive;
    };
    peer.connect(mediaTo(line.local));
    peer.play(1, babble(400));
    line.connect(mediaTo(peer.local));
    await next("conversation-finished");
    const report = await line.close();

    expect(heardAtMs).toBeLessThan(400);
    expect(report.conversation.firstWordMs).toBeLessThanOrEqual(200);
    expect(report.conversation).toMatchObject({
      endedBy: "agent",
      verdict: { kind: "person" },
      result: { success: true, output: { answer: "1" }, summary: "Confirmed." },
    });
    const said = report.conversation.turns.map(({ speaker, text, via }) => ({ speaker, text, via }));
    expect(said.filter((turn) => turn.via !== "none")).toEqual([
      { speaker: "agent", text: "Press one.", via: "voice" },
      { speaker: "callee", text: "1", via: "dtmf" },
      { speaker: "agent", text: "Thanks.", via: "voice" },
    ]);
    expect(events.some((event) => event.type === "conversation" && event.event.type === "first-word")).toBe(
      true,
    );
    expect(report.media["packetsSent"]).toBeGreaterThan(50);

    const wav = await readFile(join(directory, "call.wav"));
    expect(wav.length).toBe(44 + report.recordedMs * 32);
    expect(loudest(wav, 0)).toBeGreaterThan(3000);
    expect(loudest(wav, 1)).toBeGreaterThan(3000);
    // The babble came first, the first 100 ms after the answer at the latest; the agent spoke with it or after it.
    expect(report.recordedMs).toBeGreaterThan(1000);
  });

  test("typed text answers a playbook with real-time text", async () => {
    const typed: Script = {
      start: "question",
      states: {
        question: { ask: "Is that right?", text: { "yes|sure": "good" } },
        good: { say: "Good.", end: { success: true, summary: "Typed." } },
      },
    };
    const { request, next } = order({ script: typed, rtt: true });
    const line = await lines.open(request);
    expect(line.local.textPort).toBeGreaterThan(0);
    const peer = await openPeer(true);
    let read = "";
    peer.onText = (text) => {
      read += text;
      if (read.includes("right?")) peer.sendText("yes\n");
    };
    peer.connect(mediaTo(line.local));
    line.connect(mediaTo(peer.local));
    await next("conversation-finished");
    const report = await line.close();
    expect(report.conversation.result.summary).toBe("Typed.");
    expect(read).toContain("Is that right?");
  });

  test("one that nobody answers reports no words and leaves no recording", async () => {
    const { request } = order({ recording: "unanswered.wav" });
    const line = await lines.open(request);
    line.prepare();
    const report = await line.close();
    expect(report).toMatchObject({
      recordedMs: 0,
      conversation: { turns: [], firstWordMs: null, result: { success: false } },
    });
    expect(existsSync(join(directory, "unanswered.wav"))).toBe(false);
  });

  test.each(["callee", "operator"] as const)(
    "hanging up in the middle keeps the words that were heard, and that the %s did it",
    async (endedBy) => {
      const text = "one two three four five six seven eight nine ten";
      const { request } = order({
        script: { start: "talk", states: { talk: { say: text, end: { success: true } } } },
      });
      const line = await lines.open(request);
      const peer = await openPeer();
      let heardMs = 0;
      peer.onFrame = (_pcm, _active, info) => (heardMs += info.levelDb > -40 ? 20 : 0);
      peer.connect(mediaTo(line.local));
      line.connect(mediaTo(peer.local));
      await expect.poll(() => heardMs, { timeout: 5000 }).toBeGreaterThan(600);
      const report = await line.close(endedBy);
      expect(report.conversation).toMatchObject({ endedBy, turns: [{ speaker: "agent", cutOff: true }] });
      const heard = report.conversation.turns[0]!.text;
      expect(heard).toMatch(/^one two/);
      expect(heard.length).toBeLessThan(text.length);
    },
  );

  test("the worker carries no more lines than it may", async () => {
    const open = await Promise.all(Array.from({ length: 4 }, async () => lines.open(order().request)));
    expect(lines.room).toBe(0);
    await expect(lines.open(order().request)).rejects.toMatchObject({ code: "lines-busy" });
    await Promise.all(open.map(async (line) => line.close()));
    expect(lines.room).toBe(4);
  });

  test("an address that is not ours is refused", async () => {
    const { request } = order();
    await expect(lines.open({ ...request, address: "192.0.2.1" })).rejects.toMatchObject({
      code: "line-failed",
      message: expect.stringContaining("EADDRNOTAVAIL"),
    });
  });

  test("a worker that is killed loses its line with its recording kept, and another takes its place", async () => {
    const { request, events, next } = order({ recording: "lost.wav" });
    const line = await lines.open(request);
    const peer = await openPeer();
    peer.connect(mediaTo(line.local));
    line.connect(mediaTo(peer.local));
    await expect
      .poll(() => events.some((event) => event.type === "conversation" && event.event.type === "first-word"))
      .toBe(true);
    await expect.poll(() => existsSync(join(directory, "lost.wav"))).toBe(true);
    await threads[0]!.terminate();
    expect(await next("line-lost")).toMatchObject({ type: "line-lost" });
    const report = await line.close();
    expect(report.conversation.result.success).toBe(false);
    expect(report.conversation.firstWordMs).not.toBeNull();
    await expect.poll(() => lines.room, { timeout: 10_000 }).toBe(4);
    expect(threads).toHaveLength(2);
    await (await lines.open(order().request)).close();
  });
});

function loudest(wav: Buffer, side: 0 | 1): number {
  let most = 0;
  for (let at = 44 + 2 * side; at + 1 < wav.length; at += 4)
    most = Math.max(most, Math.abs(wav.readInt16LE(at)));
  return most;
}
