import { OpenAIRealtimeWS } from "openai/realtime/ws";
import OpenAI from "openai";
import { afterEach, describe, expect, test } from "vitest";
import { openEndpoint } from "../../src/ai/endpoint.ts";
import { openAiRealtime, type RealtimeDialect } from "../../src/ai/openai-realtime.ts";
import { silentLog } from "../../src/host/index.ts";
import { failureOf } from "../support/vendors/collect.ts";
import {
  startSocketServer,
  type SeenSocket,
  type SocketScript,
  type SocketVendor,
} from "../support/vendors/socket-server.ts";
import { makeCertificate } from "../support/vendors/vendor-server.ts";
import { VirtualClock } from "../support/virtual-clock.ts";
import type { HeardFrame, HearEvent, TranscriberSession } from "../../src/talk/index.ts";

const key = "sk-test-0123456789";
const never = new AbortController().signal;
const loud = Int16Array.from({ length: 160 }, (_, i) => 8000 * Math.sin(i / 3));

const opened: AsyncDisposable[] = [];
afterEach(async () => {
  for (const one of opened.splice(0).toReversed()) await one[Symbol.asyncDispose]();
});

function keep<One extends AsyncDisposable>(one: One): One {
  opened.push(one);
  return one;
}

const authorization = `Bearer ${key}`;
const frame = (index: number): HeardFrame => ({ pcm: loud, rateHz: 8000, atMs: index * 20 });

/** What OpenAI's server says when it is opened and configured. */
const openaiScript: Partial<SocketScript> = {
  onOpen: (client) =>
    client.tell({ type: "session.created", event_id: "e", session: { type: "transcription" } }),
  onText: (client, message) => {
    if (message["type"] === "session.update")
      client.tell({ type: "session.updated", event_id: "e", session: message["session"] });
  },
};

const vllmScript: Partial<SocketScript> = {
  onOpen: (client) => client.tell({ type: "session.created", id: "s", created: 1 }),
};

async function open(
  dialect: RealtimeDialect,
  script: Partial<SocketScript>,
  clock?: VirtualClock,
): Promise<{ session: TranscriberSession; client: SeenSocket; next: () => Promise<HearEvent> }> {
  const server = keep(await startSocketServer({ authorization, ...script }));
  const coming = server.next();
  const session = keep(
    await ears(server, dialect, clock).open({ language: "de-DE", hints: ["Outdial"] }, never),
  );
  const events = session.events[Symbol.asyncIterator]();
  const next = async (): Promise<HearEvent> => {
    const { value, done } = await events.next();
    if (done === true) throw new Error("no more events");
    return value;
  };
  return { session, client: await coming, next };
}

function ears(
  server: SocketVendor,
  dialect: RealtimeDialect,
  clock?: VirtualClock,
): ReturnType<typeof openAiRealtime> {
  const credential = { header: "authorization", prefix: "Bearer ", secret: key };
  const endpoint = keep(
    openEndpoint({
      name: "rt",
      baseUrl: `${server.url}/v1`,
      credential,
      ...(clock === undefined ? {} : { clock }),
    }),
  );
  return openAiRealtime({ endpoint, model: "m", dialect, log: silentLog });
}

async function until(what: () => boolean): Promise<void> {
  while (!what()) await new Promise((resolve) => void setImmediate(resolve));
}

const appended = (client: SeenSocket): Buffer[] =>
  client.said.flatMap((message) =>
    message["type"] === "input_audio_buffer.append" ? [Buffer.from(String(message["audio"]), "base64")] : [],
  );

test("the fake server is one to the vendor's own client", async () => {
  const server = keep(await startSocketServer({ authorization, ...openaiScript }, makeCertificate()));
  const client = new OpenAI({ apiKey: key, baseURL: `${server.url}/v1` });
  const options = server.ca === undefined ? {} : { ca: server.ca };
  const socket = new OpenAIRealtimeWS({ intent: "transcription", options }, client);
  const updated = Promise.withResolvers<void>();
  socket.on("error", updated.reject);
  socket.on("session.updated", () => updated.resolve());
  socket.socket.on("open", () => socket.send({ type: "session.update", session: { type: "transcription" } }));
  await updated.promise;
  expect(server.sockets[0]?.query.get("intent")).toBe("transcription");
  socket.close();
});

describe("OpenAI's realtime transcription", () => {
  test("is configured before any audio flows", async () => {
    const { session, client } = await open("openai", openaiScript);
    session.write(frame(0));
    session.write(frame(1));
    await until(() => appended(client).length === 1);
    expect(client.path).toBe("/v1/realtime");
    expect(client.said[0]).toEqual({
      type: "session.update",
      session: {
        type: "transcription",
        audio: {
          input: {
            format: { type: "audio/pcmu" },
            transcription: { model: "m", language: "de", prompt: "Outdial" },
            turn_detection: { type: "server_vad", silence_duration_ms: 400 },
          },
        },
      },
    });
    expect(appended(client)[0]).toHaveLength(320);
  });

  test("tells what is said and when, in the time of the call", async () => {
    const { session, client, next } = await open("openai", openaiScript);
    for (let i = 50; i < 52; i++) session.write(frame(i));
    await until(() => appended(client).length === 1);
    const say = (type: string, more: object): void =>
      client.tell({ event_id: "e", item_id: "a", type, ...more });
    const text = "conversation.item.input_audio_transcription";
    say("input_audio_buffer.speech_started", { audio_start_ms: 100 });
    say(`${text}.delta`, { delta: "Guten" });
    expect(await next()).toEqual({ type: "speech-started", atMs: 1100 });
    expect(await next()).toMatchObject({ type: "partial", text: "Guten", startMs: 1100 });
    say("input_audio_buffer.speech_stopped", { audio_end_ms: 900 });
    say("input_audio_buffer.committed", {});
    say(`${text}.completed`, { transcript: "Guten Tag." });
    expect(await next()).toEqual({ type: "final", text: "Guten Tag.", startMs: 1100, endMs: 1900 });
    expect(await next()).toEqual({ type: "turn-ended", text: "Guten Tag." });
  });

  test("does not mind that there was nothing to finalize, nor a part that failed", async () => {
    const { session, client, next } = await open("openai", openaiScript);
    session.finalize();
    await until(() => client.said.some(({ type }) => type === "input_audio_buffer.commit"));
    client.tell({
      type: "error",
      error: { type: "invalid_request_error", code: "input_audio_buffer_commit_empty", message: "x" },
    });
    client.tell({
      type: "conversation.item.input_audio_transcription.failed",
      item_id: "a",
      error: { message: "too loud" },
    });
    expect(await next()).toEqual({ type: "degraded", reason: "too loud", recoverable: true });
  });

  test("of a model that is refused cannot be opened", async () => {
    const refuses: Partial<SocketScript> = {
      onText: (client) =>
        client.tell({
          type: "error",
          error: { type: "invalid_request_error", code: "model_not_found", message: "no such model" },
        }),
    };
    const server = keep(await startSocketServer({ authorization, ...refuses }));
    const error = await failureOf(ears(server, "openai").open({ language: "de" }, never));
    expect(error).toMatchObject({ code: "provider-refused" });
    expect(error.message).toContain("no such model");
  });

  test("that never begins is given up", async () => {
    const server = keep(await startSocketServer({ authorization }));
    const clock = new VirtualClock();
    const opening = failureOf(ears(server, "openai", clock).open({ language: "de" }, never));
    await until(() => server.sockets[0]?.said.length === 1);
    clock.advance(5000);
    expect(await opening).toMatchObject({ code: "provider-timeout" });
    await server.sockets[0]?.closed;
  });
});

describe("vLLM's realtime transcription", () => {
  test("gets PCM at 16 kHz between its two commits", async () => {
    const { session, client } = await open("vllm", vllmScript);
    for (let i = 0; i < 10; i++) session.write(frame(i));
    session.finalize();
    await until(() => client.said.some(({ final }) => final === true));
    expect(client.said.slice(0, 2)).toEqual([
      { type: "session.update", model: "m" },
      { type: "input_audio_buffer.commit" },
    ]);
    const octets = appended(client).reduce((sum, part) => sum + part.length, 0);
    // 200 ms, less what a resampler keeps back.
    expect(octets).toBeGreaterThan(6000);
    expect(octets).toBeLessThanOrEqual(6400);
  });

  test("keeps what is said while a text is being finished for the next", async () => {
    const { session, client, next } = await open("vllm", vllmScript);
    for (let i = 0; i < 4; i++) session.write(frame(i));
    client.tell({ type: "transcription.delta", delta: " Guten" });
    expect(await next()).toMatchObject({ type: "partial", text: "Guten" });
    session.finalize();
    await until(() => client.said.some(({ final }) => final === true));
    const before = client.said.length;
    for (let i = 4; i < 8; i++) session.write(frame(i));
    expect(session.bufferedMs).toBe(80);
    client.tell({ type: "transcription.done", text: " Guten Tag." });
    expect(await next()).toMatchObject({ type: "final", text: "Guten Tag.", startMs: 0, endMs: 80 });
    await until(() => client.said.length === before + 3);
    expect(client.said.slice(before).map(({ type }) => type)).toEqual([
      "input_audio_buffer.commit",
      "input_audio_buffer.append",
      "input_audio_buffer.append",
    ]);
    expect(session.bufferedMs).toBe(0);
  });
});
