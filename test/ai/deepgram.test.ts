import { DeepgramClient } from "@deepgram/sdk";
import { afterEach, describe, expect, test } from "vitest";
import { deepgramFlux } from "../../src/ai/deepgram-flux.ts";
import { deepgramListen } from "../../src/ai/deepgram-listen.ts";
import { openEndpoint, type Endpoint } from "../../src/ai/endpoint.ts";
import { silentLog } from "../../src/host/index.ts";
import { encodeG711 } from "../../src/media/index.ts";
import { failureOf } from "../support/vendors/collect.ts";
import { results, turnInfo } from "../support/vendors/deepgram-messages.ts";
import {
  startSocketServer,
  type SeenSocket,
  type SocketScript,
  type SocketVendor,
} from "../support/vendors/socket-server.ts";
import { makeCertificate } from "../support/vendors/vendor-server.ts";
import { VirtualClock } from "../support/virtual-clock.ts";
import type { HeardFrame, HearEvent, TranscriberSession } from "../../src/talk/index.ts";

const key = "dg-test-0123456789";
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

async function start(script: Partial<SocketScript> = {}): Promise<SocketVendor> {
  return keep(await startSocketServer({ authorization: `Token ${key}`, ...script }));
}

function endpointTo(server: SocketVendor, options: { key?: string; clock?: VirtualClock } = {}): Endpoint {
  return keep(
    openEndpoint({
      name: "dg",
      baseUrl: server.url,
      credential: { header: "authorization", prefix: "Token ", secret: options.key ?? key },
      ...(server.ca === undefined ? {} : { ca: server.ca }),
      ...(options.clock === undefined ? {} : { clock: options.clock }),
    }),
  );
}

async function listen(
  server: SocketVendor,
  options: { clock?: VirtualClock; signal?: AbortSignal; language?: string; hints?: readonly string[] } = {},
): Promise<{ session: TranscriberSession; client: SeenSocket; next: () => Promise<HearEvent> }> {
  const { language = "es-ES", hints, signal = never } = options;
  const coming = server.next();
  const ears = deepgramListen({ endpoint: endpointTo(server, options), model: "nova-3", log: silentLog });
  const session = keep(await ears.open({ language, ...(hints === undefined ? {} : { hints }) }, signal));
  const events = session.events[Symbol.asyncIterator]();
  const next = async (): Promise<HearEvent> => {
    const { value, done } = await events.next();
    if (done === true) throw new Error("no more events");
    return value;
  };
  return { session, client: await coming, next };
}

const frame = (index: number, pcm = loud): HeardFrame => ({ pcm, rateHz: 8000, atMs: index * 20 });
const turn = async (): Promise<void> => new Promise((resolve) => void setImmediate(resolve));

async function until(what: () => boolean): Promise<void> {
  while (!what()) await turn();
}

describe("the fake server, seen by the vendor's own client", () => {
  test("transcribes on both versions", async () => {
    const server = await start({
      onText: (client, message) => {
        if (message["type"] === "Finalize")
          client.tell(results({ text: "Hola", start: 0, duration: 0.5, isFinal: true, fromFinalize: true }));
        if (message["type"] === "CloseStream") client.tell(turnInfo("EndOfTurn", "Hola"));
      },
    });
    const base = server.url.replace("http", "ws");
    const client = new DeepgramClient({
      apiKey: key,
      environment: { base, production: base, agent: base, agentRest: base },
    });
    const heard = Promise.withResolvers<unknown>();
    const live = await client.listen.v1.connect({ model: "nova-3", reconnectAttempts: 0 });
    live.on("message", (message) => heard.resolve(message));
    live.connect();
    await live.waitForOpen();
    live.sendFinalize({ type: "Finalize" });
    expect(await heard.promise).toMatchObject({ type: "Results", from_finalize: true });
    live.close();
    const turned = Promise.withResolvers<unknown>();
    const flux = await client.listen.v2.connect({ model: "flux-general-en", reconnectAttempts: 0 });
    flux.on("message", (message) => turned.resolve(message));
    flux.connect();
    await flux.waitForOpen();
    flux.sendCloseStream({ type: "CloseStream" });
    expect(await turned.promise).toMatchObject({ type: "TurnInfo", event: "EndOfTurn" });
    flux.close();
  });
});

describe("Deepgram's live transcription", () => {
  test("is opened for a phone line in the callee's language", async () => {
    const { client } = await listen(await start(), { language: "es-ES", hints: ["Outdial"] });
    expect(client.path).toBe("/v1/listen");
    expect(Object.fromEntries(client.query)).toMatchObject({
      model: "nova-3",
      language: "es",
      encoding: "mulaw",
      sample_rate: "8000",
      interim_results: "true",
      keyterm: "Outdial",
    });
  });

  test("gets µ-law of the line untouched, and everything else as µ-law", async () => {
    const server = await start();
    const { session, client } = await listen(server);
    const bytes = Uint8Array.from({ length: 160 }, (_, i) => i);
    session.write({ ...frame(0), g711: { law: "pcmu", bytes } });
    session.write(frame(1));
    session.write({ pcm: new Int16Array(320), rateHz: 16_000, atMs: 40 });
    await until(() => client.audio.length === 3);
    const encoded = new Uint8Array(160);
    encodeG711("PCMU", loud, encoded);
    expect(new Uint8Array(client.audio[0] ?? [])).toEqual(bytes);
    expect(new Uint8Array(client.audio[1] ?? [])).toEqual(encoded);
    // A resampler keeps half a filter back.
    expect(client.audio[2]?.length).toBeGreaterThan(100);
    expect(client.audio[2]?.length).toBeLessThan(161);
  });

  test("tells partial and final texts and the end of a turn in the time of the call", async () => {
    const { session, client, next } = await listen(await start());
    // The line was open for a second before it had a transcriber.
    for (let i = 50; i < 100; i++) session.write(frame(i));
    await until(() => client.audio.length === 50);
    client.tell({ type: "SpeechStarted", channel: [0], timestamp: 0.1 });
    client.tell(results({ text: "Buenos", start: 0.1, duration: 0.3 }));
    expect(await next()).toEqual({ type: "speech-started", atMs: 1100 });
    expect(await next()).toEqual({ type: "partial", text: "Buenos", startMs: 1100, endMs: 1400 });
    client.tell(results({ text: "Buenos días.", start: 0.1, duration: 0.5, isFinal: true }));
    client.tell(results({ text: "Diga.", start: 0.6, duration: 0.2, isFinal: true, speechFinal: true }));
    expect(await next()).toMatchObject({
      type: "final",
      text: "Buenos días.",
      startMs: 1100,
      confidence: 0.97,
    });
    expect(await next()).toMatchObject({ type: "final", text: "Diga.", endMs: 1800 });
    expect(await next()).toEqual({ type: "turn-ended", text: "Buenos días. Diga." });
  });

  test("takes the end of an utterance for the end of a turn, once", async () => {
    const { client, next } = await listen(await start());
    client.tell(results({ text: "Sí.", start: 0, duration: 0.3, isFinal: true }));
    client.tell({ type: "UtteranceEnd", channel: [0], last_word_end: 0.3 });
    client.tell({ type: "UtteranceEnd", channel: [0], last_word_end: 0.3 });
    client.tell(results({ text: "No.", start: 0, duration: 0.3 }));
    expect((await next()).type).toBe("final");
    expect(await next()).toEqual({ type: "turn-ended", text: "Sí." });
    expect((await next()).type).toBe("partial");
  });

  test("asks for the final text, after which the next turn starts anew", async () => {
    const server = await start({
      onText: (client, { type }) => {
        if (type === "Finalize")
          client.tell(results({ text: "Uno.", start: 0, duration: 0.2, isFinal: true, fromFinalize: true }));
      },
    });
    const { session, client, next } = await listen(server);
    session.finalize();
    expect(await next()).toMatchObject({ type: "final", text: "Uno." });
    client.tell(results({ text: "Dos.", start: 1, duration: 0.2, isFinal: true, speechFinal: true }));
    expect(await next()).toMatchObject({ type: "final", text: "Dos." });
    expect(await next()).toEqual({ type: "turn-ended", text: "Dos." });
  });

  test("keeps the connection alive while nobody writes, and only then", async () => {
    const clock = new VirtualClock();
    const { session, client } = await listen(await start(), { clock });
    clock.advance(4000);
    await until(() => client.said.length === 1);
    expect(client.said[0]).toEqual({ type: "KeepAlive" });
    clock.advance(3000);
    session.write(frame(0));
    clock.advance(1000);
    await until(() => client.audio.length === 1);
    expect(client.said).toHaveLength(1);
  });

  test("says goodbye at the end", async () => {
    const { session, client } = await listen(await start());
    await session[Symbol.asyncDispose]();
    expect(await client.closed).toBe(1000);
    expect(client.said.at(-1)).toEqual({ type: "CloseStream" });
  });

  test("ends with the signal's reason, and closes the connection", async () => {
    const abort = new AbortController();
    const { client, next } = await listen(await start(), { signal: abort.signal });
    const reason = new Error("hung up");
    abort.abort(reason);
    await expect(next()).rejects.toBe(reason);
    await client.closed;
  });

  test("goes over TLS", async () => {
    const server = keep(await startSocketServer({ authorization: `Token ${key}` }, makeCertificate()));
    const { client, next } = await listen(server);
    client.tell(results({ text: "Seguro.", start: 0, duration: 0.3, isFinal: true }));
    expect(await next()).toMatchObject({ type: "final", text: "Seguro." });
  });

  test("does not mind messages it does not know, nor ones that are no JSON", async () => {
    const { client, next } = await listen(await start());
    client.socket.send("{oops");
    client.socket.send("[]");
    client.socket.send(Buffer.from([1, 2, 3]));
    client.tell({ type: "Metadata" });
    client.tell({ type: "Results" });
    client.tell(results({ text: "Sí.", start: 0, duration: 0.3 }));
    expect(await next()).toMatchObject({ type: "partial", text: "Sí." });
  });
});

describe("a transcriber that is in trouble", () => {
  test("with a wrong key is refused, and the key is in no error", async () => {
    const server = await start();
    const endpoint = endpointTo(server, { key: "dg-wrong-key" });
    const ears = deepgramListen({ endpoint, model: "nova-3", log: silentLog });
    const error = await failureOf(ears.open({ language: "es" }, never));
    expect(error).toMatchObject({ code: "provider-refused" });
    expect(`${error.message} ${error.stack} ${error.hint}`).not.toContain("dg-wrong-key");
  });

  test("where nothing listens cannot be reached", async () => {
    const server = await start();
    await server[Symbol.asyncDispose]();
    const ears = deepgramListen({ endpoint: endpointTo(server), model: "nova-3", log: silentLog });
    expect(await failureOf(ears.open({ language: "es" }, never))).toMatchObject({
      code: "provider-unreachable",
      retryable: true,
    });
  });

  test("at something that opens no WebSocket is told so", async () => {
    const server = await start();
    server.server.removeAllListeners("upgrade");
    const ears = deepgramListen({ endpoint: endpointTo(server), model: "nova-3", log: silentLog });
    expect(await failureOf(ears.open({ language: "es" }, never))).toMatchObject({ code: "provider-refused" });
  });

  test("that loses its connection gets another and hears again what had no final text", async () => {
    const server = await start();
    const clock = new VirtualClock();
    const { session, client, next } = await listen(server, { clock });
    for (let i = 0; i < 20; i++) session.write(frame(i));
    await until(() => client.audio.length === 20);
    client.tell(results({ text: "Hola.", start: 0, duration: 0.2, isFinal: true }));
    expect(await next()).toMatchObject({ type: "final", endMs: 200 });
    const coming = server.next();
    client.socket.terminate();
    expect(await next()).toMatchObject({ type: "degraded", recoverable: true });
    session.write(frame(20));
    expect(session.bufferedMs).toBeGreaterThan(0);
    clock.advance(250);
    const again = await coming;
    await until(() => again.audio.length === 11);
    // The new stream's clock starts with what is said again.
    again.tell(results({ text: "Sigo.", start: 0.1, duration: 0.1, isFinal: true }));
    expect(await next()).toMatchObject({ type: "final", text: "Sigo.", startMs: 300, endMs: 400 });
    expect(session.bufferedMs).toBe(0);
  });

  test("that cannot connect again says it is lost, and ends", async () => {
    const server = await start();
    const clock = new VirtualClock();
    const { client, next } = await listen(server, { clock });
    server.server.removeAllListeners("upgrade");
    server.server.on("upgrade", (_, socket) => void socket.destroy());
    client.socket.terminate();
    expect(await next()).toMatchObject({ type: "degraded", recoverable: true });
    const lost = next();
    let over = false;
    void lost.finally(() => (over = true));
    while (!over) {
      clock.advance(50);
      await turn();
    }
    expect(await lost).toMatchObject({ type: "degraded", recoverable: false });
    await expect(next()).rejects.toThrow("no more events");
  });

  test("whose audio is not accepted does not try again", async () => {
    const { client, next } = await listen(await start());
    client.socket.close(1008, "DATA-0000");
    expect(await next()).toEqual({
      type: "degraded",
      reason: "it closed the connection (1008: DATA-0000)",
      recoverable: false,
    });
  });

  test("that does not take the audio first leaves out silence, then gives the connection up", async () => {
    const server = await start();
    const { session, client, next } = await listen(server);
    const quiet = new Int16Array(160);
    let written = 0;
    // Nothing leaves the socket while we do not give way to it.
    while (session.bufferedMs <= 2000) session.write(frame(written++));
    const before = session.bufferedMs;
    for (let i = 0; i < 100; i++) session.write(frame(written++, quiet));
    expect(session.bufferedMs).toBe(before);
    session.write(frame(written++));
    expect(session.bufferedMs).toBe(before + 20);
    const coming = server.next();
    for (let i = 0; i < 310; i++) session.write(frame(written++));
    expect(await next()).toMatchObject({ type: "degraded", recoverable: true });
    await client.closed;
    // The next connection gets what was said in the last ten seconds.
    const again = await coming;
    await until(() => again.audio.length > 400);
  });
});

describe("Deepgram Flux", () => {
  const open = async (model = "flux-general-multi") => {
    const server = await start();
    const coming = server.next();
    const ears = deepgramFlux({ endpoint: endpointTo(server), model, log: silentLog });
    const session = keep(await ears.open({ language: "fr-FR", hints: ["Outdial"] }, never));
    return { session, client: await coming, events: session.events[Symbol.asyncIterator]() };
  };

  test("is told the language only where it has several", async () => {
    const many = await open();
    expect(many.client.path).toBe("/v2/listen");
    expect(many.client.query.get("language_hint")).toBe("fr");
    expect((await open("flux-general-en")).client.query.get("language_hint")).toBeNull();
  });

  test("gets 80 ms at a time", async () => {
    const { session, client } = await open();
    for (let i = 0; i < 8; i++) session.write(frame(i));
    await until(() => client.audio.length === 2);
    expect(client.audio.map((octets) => octets.length)).toEqual([640, 640]);
  });

  test("tells the turn from its beginning to its end", async () => {
    const { session, client, events } = await open();
    for (let i = 0; i < 4; i++) session.write(frame(i));
    await until(() => client.audio.length === 1);
    client.tell({ type: "Connected", request_id: "r", sequence_id: 0 });
    client.tell(turnInfo("StartOfTurn", "Oui", [0.02, 0.4]));
    client.tell(turnInfo("EagerEndOfTurn", "Oui, bonjour", [0.02, 0.9]));
    client.tell(turnInfo("TurnResumed", "Oui, bonjour", [0.02, 1]));
    client.tell(turnInfo("EndOfTurn", "Oui, bonjour, c'est moi.", [0.02, 1.5]));
    const found: HearEvent[] = [];
    while (found.at(-1)?.type !== "turn-ended") {
      const { value, done } = await events.next();
      if (done === true) break;
      found.push(value);
    }
    expect(found).toEqual([
      { type: "speech-started", atMs: 20 },
      { type: "partial", text: "Oui", startMs: 20, endMs: 400 },
      { type: "turn-ending", text: "Oui, bonjour" },
      { type: "turn-resumed" },
      {
        type: "final",
        text: "Oui, bonjour, c'est moi.",
        startMs: 20,
        endMs: 1500,
        confidence: expect.closeTo(0.9) as number,
      },
      { type: "turn-ended", text: "Oui, bonjour, c'est moi." },
    ]);
  });

  test("that reports a fatal error of ours is lost", async () => {
    const { client, events } = await open();
    client.tell({ type: "Error", sequence_id: 3, code: "UNPARSABLE_CLIENT_MESSAGE", description: "What?" });
    expect((await events.next()).value).toEqual({ type: "degraded", reason: "What?", recoverable: false });
  });
});
