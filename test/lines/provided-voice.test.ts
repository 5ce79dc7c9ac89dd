import { programFile, silentLog } from "#host";
import { Worker } from "node:worker_threads";
import { afterAll, beforeAll, expect, test } from "vitest";
import { openLinePool, type Lines } from "../../src/lines/pool.ts";
import type { LineEvent } from "../../src/lines/protocol.ts";
import { startOpenAiServer } from "../support/vendors/openai-server.ts";
import type { VendorServer } from "../support/vendors/vendor-server.ts";
import { babble, mediaTo, openPeer, scriptPlan } from "./loopback-call.ts";

const key = "sk-of-the-test";
const judged = {
  outcome: "achieved",
  reason: "She says so.",
  quotes: ["yes, of course"],
  output: { coming: true },
};
let server: VendorServer;
let lines: Lines;

/** Streamed chats so far, the one being answered included. */
const chats = (): number =>
  server.requests.filter(
    ({ path, body }) => path === "/v1/chat/completions" && body.includes('"stream":true'),
  ).length;

beforeAll(async () => {
  server = await startOpenAiServer({
    key,
    transcript: "Yes, of course.",
    pcm: Int16Array.from(babble(1500)),
    get words() {
      return chats() === 1 ? ["Will you ", "come tomorrow?"] : ["Fine, ", "goodbye."];
    },
    get calls() {
      const end = { id: "c1", name: "end_call", parts: ['{"reason":', '"done"}'] };
      return chats() > 1 ? [end] : [];
    },
    // Whole answers are those of the debrief, told apart by their schema.
    contents: {
      shift: () =>
        JSON.stringify(
          server.requests.at(-1)!.body.includes("not_achieved") ? judged : { summary: "She will come." },
        ),
    } as unknown as string[],
  });
  lines = await openLinePool({
    log: silentLog,
    workers: 1,
    startWorker: () => new Worker(programFile("lines/worker")),
  });
});
afterAll(async () => {
  await lines.close();
  await server[Symbol.asyncDispose]();
});

test("a call in a worker is heard, held, spoken and read over by the providers that came with it", async () => {
  const events: LineEvent[] = [];
  const finished = Promise.withResolvers<void>();
  const output = { type: "object", properties: { coming: { type: "boolean" } }, required: ["coming"] };
  const plan = {
    ...scriptPlan(
      { start: "x", states: {} },
      { script: undefined, prompt: "Ask whether she comes.", opening: "Hello.", output },
    ),
  };
  const line = await lines.open({
    callId: "c1",
    attempt: 1,
    address: "127.0.0.1",
    plan,
    recordingPath: undefined,
    voice: {
      config: {
        providers: { local: { kind: "openai", base_url: `${server.url}/v1`, api_key: { env: "TEST_KEY" } } },
        voice_models: { fast: { ears: "local/whisper", brain: "local/llm", mouth: "local/tts" } },
        voices: { "6": { local: "nova" } },
      },
      secrets: { "env:TEST_KEY": key },
    },
    onEvent(event) {
      events.push(event);
      if (event.type === "conversation-finished") finished.resolve();
    },
  });
  line.prepare();
  const peer = await openPeer();
  let heard = false;
  peer.onFrame = (_pcm, active) => {
    // Each time the agent has finished, the callee says something.
    if (heard && !active) peer.play(Date.now(), babble(600));
    heard = active;
  };
  peer.connect(mediaTo(line.local));
  line.connect(mediaTo(peer.local));
  await finished.promise;
  const { conversation } = await line.close();
  expect(conversation.turns.map(({ speaker, text }) => `${speaker}: ${text}`).slice(0, 5)).toEqual([
    "agent: Hello.",
    "callee: Yes, of course.",
    "agent: Will you come tomorrow?",
    "callee: Yes, of course.",
    "agent: Fine, goodbye.",
  ]);
  expect(conversation).toMatchObject({
    endedBy: "agent",
    result: {
      success: true,
      summary: "She will come.",
      reason: "She says so.",
      quotes: ["yes, of course"],
      output: { coming: true },
    },
  });
  expect(conversation.timings?.[0]?.ownMs).toBeLessThan(200);
  expect(JSON.stringify([events, conversation])).not.toContain(key);
});
