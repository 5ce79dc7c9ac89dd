import { silentLog } from "#host";
import type { ConversationEvent, ConversationPlan, ConversationReport } from "#talk";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { openLinePool, type LineOrder } from "../../src/lines/pool.ts";
import type { FromWorker, LineEvent, ToWorker } from "../../src/lines/protocol.ts";
import type { WorkerThread } from "../../src/lines/worker-link.ts";
import { wavHeader } from "#media";
import { VirtualClock } from "../support/virtual-clock.ts";

/** A thread that does what a test says; obeys `stop` unless it hangs. */
class FakeThread implements WorkerThread {
  readonly got: ToWorker[] = [];
  hangs = false;
  terminated = false;
  readonly #listeners: { event: string; listener: (value: never) => void }[] = [];

  on(event: string, listener: (value: never) => void): void {
    this.#listeners.push({ event, listener });
  }

  postMessage(message: ToWorker): void {
    this.got.push(structuredClone(message));
    if (this.hangs) return;
    if (message.type === "ping") this.say({ type: "alive" });
    if (message.type === "stop") this.exit(0);
  }

  async terminate(): Promise<void> {
    this.terminated = true;
    this.exit(1);
  }

  say(message: FromWorker): void {
    this.#tell("message", structuredClone(message));
  }

  throwAndExit(error: Error): void {
    this.#tell("error", error);
    this.exit(1);
  }

  exit(code: number): void {
    this.#tell("exit", code);
  }

  /** Opens the line main asked for last. */
  answerOpen(): number {
    const line = this.lastOpen();
    this.say({ type: "opened", line, local: { address: "127.0.0.1", audioPort: 4000 + line } });
    return line;
  }

  lastOpen(): number {
    return this.got.filter((message) => message.type === "open").at(-1)!.line;
  }

  #tell(event: string, value: unknown): void {
    for (const each of this.#listeners) if (each.event === event) each.listener(value as never);
  }
}

const plan = { language: "en" } as ConversationPlan;

function order(events: LineEvent[] = [], recordingPath?: string): LineOrder {
  return {
    callId: "c1",
    attempt: 1,
    address: "127.0.0.1",
    plan,
    recordingPath,
    onEvent: (event) => events.push(event),
  };
}

async function pool(workers: number, maxCallsPerWorker = 2) {
  const clock = new VirtualClock();
  const threads: FakeThread[] = [];
  const opening = openLinePool({
    log: silentLog,
    workers,
    maxCallsPerWorker,
    clock,
    startWorker: () => {
      const thread = new FakeThread();
      threads.push(thread);
      return thread;
    },
  });
  for (const thread of threads) thread.say({ type: "started" });
  const lines = await opening;
  onTestFinished(async () => lines.close());
  return { clock, threads, lines };
}

const conversationReport: ConversationReport = {
  verdict: { kind: "person", by: "duration", atMs: 900, evidence: "" },
  turns: [],
  result: { success: true, output: {}, summary: "", followUp: false, doNotCall: false },
  endedBy: "agent",
  voicemailMessageLeft: false,
  firstWordMs: 20,
};

describe("opening lines", () => {
  test("a line goes to the worker with the fewest, and room counts down", async () => {
    const { lines, threads } = await pool(2);
    expect(lines.room).toBe(4);
    for (const used of [0, 1, 0, 1]) {
      const opening = lines.open(order());
      expect(threads[used]!.answerOpen()).toBeGreaterThan(0);
      expect((await opening).local.audioPort).toBeGreaterThan(4000);
    }
    expect(lines.room).toBe(0);
    await expect(lines.open(order())).rejects.toMatchObject({ code: "lines-busy", retryable: true });
  });

  test("a failure in the worker arrives as the error it was, and frees the place", async () => {
    const { lines, threads } = await pool(1);
    const opening = lines.open(order());
    const error = {
      code: "no-media-port",
      message: "no free port",
      hint: "widen the range",
      retryable: true,
    };
    threads[0]!.say({ type: "open-failed", line: threads[0]!.lastOpen(), error });
    await expect(opening).rejects.toMatchObject({ name: "OutdialError", ...error });
    expect(lines.room).toBe(2);
  });

  test("it rejects when a worker cannot start", async () => {
    const thread = new FakeThread();
    const opening = openLinePool({
      log: silentLog,
      workers: 1,
      clock: new VirtualClock(),
      startWorker: () => thread,
    });
    thread.throwAndExit(new Error("cannot find module"));
    await expect(opening).rejects.toThrow("cannot find module");
  });
});

describe("a line", () => {
  test("passes on what main wants and what the worker tells", async () => {
    const { lines, threads } = await pool(1);
    const events: LineEvent[] = [];
    const opening = lines.open(order(events));
    const id = threads[0]!.answerOpen();
    const line = await opening;
    const media = {
      audio: {
        remote: { address: "127.0.0.1", port: 5000, rtcpPort: 5001 },
        codec: "PCMU" as const,
        payloadType: 0,
        direction: "sendrecv" as const,
      },
    };
    line.prepare();
    line.connect(media);
    line.changeMedia(media);
    line.pressed("5");
    const closing = line.close("operator");
    void line.close();
    expect(threads[0]!.got.slice(1)).toEqual([
      { type: "prepare", line: id },
      { type: "connect", line: id, media },
      { type: "change-media", line: id, media },
      { type: "press", line: id, digit: "5" },
      { type: "close", line: id, endedBy: "operator" },
    ]);
    threads[0]!.say({ type: "line-event", line: id, event: { type: "conversation-finished" } });
    const report = { conversation: conversationReport, recordedMs: 1000, media: { lost: 1 } };
    threads[0]!.say({ type: "closed", line: id, report });
    expect(await closing).toEqual(report);
    expect(await line.close()).toEqual(report);
    expect(events).toEqual([{ type: "conversation-finished" }]);
    expect(lines.room).toBe(2);
  });
});

describe("a worker that dies", () => {
  test("loses its own lines with what was known of them, and is replaced", async () => {
    const directory = await mkdtemp(join(tmpdir(), "outdial-pool-"));
    onTestFinished(async () => rm(directory, { recursive: true }));
    const recording = join(directory, "call.wav");
    // What a killed recorder leaves: a header that says nothing, then a second of both sides.
    const header = wavHeader({ sampleRateHz: 8000, channels: 2 }, 0);
    await writeFile(recording, Buffer.concat([header, Buffer.alloc(32_000)]));

    const { clock, lines, threads } = await pool(2);
    const lost: LineEvent[] = [];
    const kept: LineEvent[] = [];
    const opening = [lines.open(order(lost, recording)), lines.open(order(kept))];
    const id = threads[0]!.answerOpen();
    threads[1]!.answerOpen();
    const [line] = await Promise.all(opening);
    const turn = { seq: 1, speaker: "agent", text: "Hello", startMs: 20, endMs: 600, via: "voice" } as const;
    const told: ConversationEvent[] = [
      { type: "first-word", afterAnswerMs: 20 },
      { type: "turn-finished", turn },
      { type: "verdict-reached", verdict: conversationReport.verdict },
    ];
    for (const event of told)
      threads[0]!.say({ type: "line-event", line: id, event: { type: "conversation", event } });

    clock.advance(6_000);
    threads[0]!.throwAndExit(new Error("out of memory"));

    expect(lost.at(-1)).toEqual({ type: "line-lost", reason: "out of memory" });
    expect(kept).toEqual([]);
    const report = await line!.close();
    expect(report).toMatchObject({
      recordedMs: 1000,
      conversation: {
        turns: [turn],
        firstWordMs: 20,
        verdict: { kind: "person" },
        result: { success: false },
      },
    });
    expect(report.conversation.result.summary).toContain("out of memory");

    expect(threads).toHaveLength(3);
    expect(lines.room).toBe(1);
    threads[2]!.say({ type: "started" });
    expect(lines.room).toBe(3);
  });

  test("a line that was being opened is refused, retryably", async () => {
    const { lines, threads } = await pool(1);
    const opening = lines.open(order());
    threads[0]!.exit(1);
    await expect(opening).rejects.toMatchObject({ code: "line-failed", retryable: true });
  });

  test("one that dies young is replaced after a pause", async () => {
    const { clock, threads } = await pool(1);
    threads[0]!.exit(1);
    expect(threads).toHaveLength(1);
    clock.advance(2_000);
    expect(threads).toHaveLength(2);
  });

  test("one that hangs is ended and replaced; one missed answer is forgiven", async () => {
    const { clock, lines, threads } = await pool(1);
    const events: LineEvent[] = [];
    const opening = lines.open(order(events));
    threads[0]!.answerOpen();
    await opening;
    threads[0]!.hangs = true;
    clock.advance(9_999);
    threads[0]!.say({ type: "alive" });
    clock.advance(9_999);
    expect(threads[0]!.terminated).toBe(false);
    clock.advance(5_002);
    expect(threads[0]!.terminated).toBe(true);
    expect(events).toEqual([{ type: "line-lost", reason: "the call worker does not answer" }]);
    expect(threads).toHaveLength(2);
  });
});

test("closing ends every thread, by force if need be, and starts no new one", async () => {
  const { clock, lines, threads } = await pool(2);
  threads[1]!.hangs = true;
  const closing = lines.close();
  await new Promise(setImmediate);
  clock.advance(3_000);
  await closing;
  expect(threads.map((thread) => thread.terminated)).toEqual([false, true]);
  clock.advance(10_000);
  expect(threads).toHaveLength(2);
  await expect(lines.open(order())).rejects.toMatchObject({ code: "lines-busy" });
});
