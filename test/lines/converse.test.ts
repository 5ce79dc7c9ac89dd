import { silentLog } from "#host";
import type { DialogAct, DialogModel } from "#talk";
import { describe, expect, test } from "vitest";
import type { AudioLine } from "../../src/lines/audio-line.ts";
import { Conversation } from "../../src/lines/converse.ts";
import { Playout } from "../../src/lines/playout.ts";
import type { LineEvent } from "../../src/lines/protocol.ts";
import { Renderer } from "../../src/lines/renderer.ts";
import { VirtualClock } from "../support/virtual-clock.ts";
import { scriptPlan } from "./loopback-call.ts";

/** A line without sockets: a real playout behind the names of an AudioLine. */
class SilentLine extends Playout {
  readonly texts: string[] = [];
  readonly pressed: string[] = [];
  onPlayed = (_segmentId: number): void => undefined;
  onFrame = (_pcm: Int16Array, _active: boolean, _info: { elapsedMs: number }): void => undefined;
  onDtmf = (_digit: string): void => undefined;

  sendText(text: string): boolean {
    this.texts.push(text);
    return true;
  }

  sendDtmf(digits: string): boolean {
    this.pressed.push(digits);
    return true;
  }
}

/** A tenth of a second, unless a test delivers sound of its own: then that, without an end. */
class SlowSpeech {
  #chunks: Int16Array[] = [];
  #slow = false;

  push(chunk: Int16Array): void {
    this.#slow = true;
    this.#chunks.push(chunk);
  }

  async *stream(): AsyncGenerator<Int16Array, void, undefined> {
    if (!this.#slow) yield new Int16Array(800).fill(100);
    while (this.#slow) {
      const chunk = this.#chunks.shift();
      if (chunk !== undefined) yield chunk;
      else await new Promise(setImmediate);
    }
  }

  stop(): void {
    this.#slow = false;
  }
}

const end: DialogAct = {
  type: "end",
  result: { success: true, output: {}, summary: "Done.", followUp: false, doNotCall: false },
};

/** A conversation on virtual time whose dialog answers with the given acts. */
function setUp(answer: (signal: AbortSignal) => Iterable<DialogAct>) {
  const clock = new VirtualClock();
  const line = new SilentLine();
  const events: LineEvent[] = [];
  const frame = new Int16Array(160);
  const aborted: AbortSignal[] = [];
  const speech = new SlowSpeech();
  const dialog: DialogModel = {
    async *answer(_turn, signal) {
      aborted.push(signal);
      yield* answer(signal);
    },
  };
  const renderer = new Renderer({
    engine: "tone",
    rateHz: 8000,
    parallel: 1,
    store: { find: () => undefined, keep: () => undefined },
    synthesizer: {
      capabilities: { marks: false, maxChars: 1000, cacheable: false },
      say: async () => ({ rateHz: 8000, audio: speech.stream() }),
    },
  });
  const conversation = new Conversation({
    plan: scriptPlan({ start: "x", states: {} }),
    line: line as unknown as AudioLine,
    dialog,
    renderer,
    clock,
    log: silentLog,
    tell: (event) => events.push(event),
  });
  return {
    conversation,
    line,
    events,
    aborted,
    speech,
    types: () => events.map((event) => (event.type === "conversation" ? event.event.type : event.type)),
    async tick(frames: number) {
      for (let i = 0; i < frames; i++) {
        clock.advance(20);
        line.pull(frame, (id) => line.onPlayed(id));
        conversation.ticked();
        await new Promise(setImmediate);
      }
    },
  };
}

describe("a conversation on its line", () => {
  test("what was prepared while it rang leaves with the first tick after the answer", async () => {
    const t = setUp(() => [{ type: "say", text: "Hello." }, end]);
    t.conversation.prepare();
    await t.tick(5);
    expect(t.line.queuedMs).toBe(0);
    t.conversation.answered(false);
    expect(t.line.queuedMs).toBe(100);
    await t.tick(1);
    expect(t.events[0]).toMatchObject({ event: { type: "speech-started", speaker: "agent", atMs: 20 } });
    await t.tick(60);
    expect(t.types()).toContain("conversation-finished");
    const report = t.conversation.end("callee");
    expect(report).toMatchObject({
      endedBy: "agent",
      firstWordMs: 20,
      turns: [{ speaker: "agent", text: "Hello." }],
      result: { success: true, summary: "Done." },
    });
  });

  test("answering twice is answering once", async () => {
    const t = setUp(() => [{ type: "say", text: "Hello." }, end]);
    t.conversation.answered(false);
    t.conversation.answered(false);
    await t.tick(60);
    expect(t.conversation.end("callee").turns).toHaveLength(1);
  });

  test("digits and text of the agent reach the line", async () => {
    const t = setUp(() => [{ type: "press", digits: "12#" }, { type: "say", text: "Hello." }, end]);
    t.conversation.answered(true);
    await t.tick(80);
    expect(t.line.pressed).toEqual(["12#"]);
    expect(t.line.texts.join("")).toContain("Hello.");
  });

  test("a bug ends this call, once, and its report is still to be had", async () => {
    const t = setUp(() => [{ type: "sing" } as unknown as DialogAct]);
    t.conversation.answered(false);
    await t.tick(20);
    expect(t.events.filter((event) => event.type === "line-lost")).toEqual([
      { type: "line-lost", reason: "the conversation failed" },
    ]);
    t.conversation.pressed("1");
    expect(t.conversation.end("operator").result.success).toBe(false);
  });

  test("of words that were being spoken at the end those remain that had left, however slowly they were rendered", async () => {
    const text = "one two three four five six seven eight nine ten";
    const t = setUp(() => [{ type: "say", text }, { type: "say", text: "Never said." }, end]);
    t.speech.push(new Int16Array(4000).fill(100));
    t.conversation.answered(false);
    await t.tick(15);
    t.speech.push(new Int16Array(4000).fill(100));
    await t.tick(25);
    const report = t.conversation.end("callee");
    expect(report.turns).toMatchObject([{ speaker: "agent", cutOff: true }]);
    expect(report.turns[0]!.text).toMatch(/^one two three .*/);
    expect(report.turns[0]!.text).not.toContain("ten");
    t.speech.stop();
  });

  test("the end of the call stops the dialog", async () => {
    const t = setUp(function* () {
      yield { type: "ask", text: "Yes?", digits: ["1"] };
    });
    t.conversation.answered(false);
    await t.tick(10);
    t.conversation.end("callee");
    await t.conversation[Symbol.asyncDispose]();
    expect(t.aborted.every((signal) => signal.aborted)).toBe(true);
  });

  test("one that was never answered has a report without a word", () => {
    const t = setUp(() => [end]);
    expect(t.conversation.end("operator")).toMatchObject({ turns: [], firstWordMs: null });
  });
});
