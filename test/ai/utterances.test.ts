import { createServer, type Server, type Socket } from "node:net";
import type { AddressInfo } from "node:net";
import fc from "fast-check";
import { afterEach, describe, expect, test } from "vitest";
import { openEndpoint } from "../../src/ai/endpoint.ts";
import { openAiTranscriptions } from "../../src/ai/openai-transcriptions.ts";
import { writeWyoming, WyomingReader, type WyomingEvent } from "../../src/ai/wyoming-events.ts";
import { wyomingSynthesizer, wyomingTranscriber } from "../../src/ai/wyoming.ts";
import { silentLog } from "../../src/host/index.ts";
import { readWavHeader } from "../../src/media/index.ts";
import { collect, failureOf, samplesOf } from "../support/vendors/collect.ts";
import { readMultipart } from "../support/vendors/multipart.ts";
import { startOpenAiServer } from "../support/vendors/openai-server.ts";
import { json, type VendorServer } from "../support/vendors/vendor-server.ts";
import type { HeardFrame, HearEvent, TranscriberSession } from "../../src/talk/index.ts";

const key = "sk-test-0123456789";
const never = new AbortController().signal;

const opened: AsyncDisposable[] = [];
afterEach(async () => {
  for (const one of opened.splice(0).toReversed()) await one[Symbol.asyncDispose]();
});

function keep<One extends AsyncDisposable>(one: One): One {
  opened.push(one);
  return one;
}

/** Something the detector takes for a voice: several tones that change from frame to frame. */
function voice(index: number): Int16Array {
  const pitch = 0.08 + 0.02 * Math.sin(index / 3);
  const loud = 5000 + 3000 * Math.sin(index * 1.7);
  return Int16Array.from({ length: 160 }, (_, i) => {
    const t = index * 160 + i;
    return loud * (Math.sin(t * pitch) + Math.sin(t * pitch * 2.1) + Math.sin(t * pitch * 5.3 + index)) * 0.5;
  });
}

const silence = new Int16Array(160);

/** `speech` of true is 20 ms of voice, of false of silence. */
function write(session: TranscriberSession, speech: readonly boolean[], from = 0): number {
  let at = from;
  for (const spoken of speech) {
    const frame: HeardFrame = { pcm: spoken ? voice(at) : silence, rateHz: 8000, atMs: at * 20 };
    session.write(frame);
    at++;
  }
  return at;
}

const said = (frames: number): boolean[] => Array.from({ length: frames }, () => true);
const quiet = (frames: number): boolean[] => Array.from({ length: frames }, () => false);

function reader(session: TranscriberSession): () => Promise<HearEvent> {
  const events = session.events[Symbol.asyncIterator]();
  return async () => {
    const { value, done } = await events.next();
    if (done === true) throw new Error("no more events");
    return value;
  };
}

async function openAi(transcript = "Hola, ¿quién es?"): Promise<{
  server: VendorServer;
  session: TranscriberSession;
  next: () => Promise<HearEvent>;
}> {
  const server = keep(await startOpenAiServer({ key, transcript }));
  const credential = { header: "authorization", prefix: "Bearer ", secret: key };
  const endpoint = keep(openEndpoint({ name: "stt", baseUrl: `${server.url}/v1`, credential }));
  const ears = openAiTranscriptions({ endpoint, model: "whisper", log: silentLog });
  const session = keep(await ears.open({ language: "es-ES", hints: ["Outdial", "cita"] }, never));
  return { server, session, next: reader(session) };
}

describe("a transcriber of whole utterances", () => {
  test("sends what was said as a WAV, when it is asked for the text", async () => {
    const { server, session, next } = await openAi();
    write(session, [...quiet(50), ...said(50), ...quiet(10)]);
    session.finalize();
    expect(await next()).toMatchObject({ type: "speech-started" });
    const final = await next();
    expect(final).toMatchObject({ type: "final", text: "Hola, ¿quién es?", endMs: 2200 });
    // A little of the silence before is part of it.
    expect(final.type === "final" && final.startMs).toBeGreaterThanOrEqual(680);
    expect(final.type === "final" && final.startMs).toBeLessThan(1000);
    const { requests } = server;
    const form = readMultipart(
      requests[0]?.headers["content-type"] ?? "",
      requests[0]?.body ?? Buffer.alloc(0),
    );
    expect(form.get("model")?.toString()).toBe("whisper");
    expect(form.get("language")?.toString()).toBe("es");
    expect(form.get("prompt")?.toString()).toBe("Outdial, cita");
    const header = readWavHeader(form.get("file") ?? Buffer.alloc(0));
    expect(header.ok && header.value.sampleRateHz).toBe(8000);
    const startMs = final.type === "final" ? final.startMs : 0;
    expect(header.ok && header.value.dataBytes).toBe((2200 - startMs) * 16);
  });

  test("cuts by itself after a long silence, and transcribes in order", async () => {
    const { server, session, next } = await openAi();
    server.once((_, response) => json(response, 200, { text: "uno" }));
    server.once((_, response) => json(response, 200, { text: "dos" }));
    const at = write(session, [...quiet(50), ...said(40), ...quiet(60)]);
    write(session, [...said(40), ...quiet(60)], at);
    const events = [await next(), await next(), await next(), await next()];
    expect(events.flatMap((event) => (event.type === "final" ? event.text : []))).toEqual(["uno", "dos"]);
  });

  test("sends nothing when nobody spoke", async () => {
    const { server, session } = await openAi();
    write(session, quiet(100));
    session.finalize();
    expect(session.bufferedMs).toBe(0);
    expect(server.requests).toHaveLength(0);
  });

  test("goes on after an utterance that failed, and ends after a key that was refused", async () => {
    const { server, session, next } = await openAi();
    for (const _ of [1, 2]) server.once((_r, response) => json(response, 500, {}));
    let at = write(session, [...quiet(50), ...said(40)]);
    session.finalize();
    await next();
    expect(await next()).toMatchObject({ type: "degraded", recoverable: true });
    at = write(session, said(40), at);
    session.finalize();
    expect(await next()).toMatchObject({ type: "final" });
    server.once((_, response) => json(response, 401, {}));
    write(session, said(40), at);
    session.finalize();
    expect(await next()).toMatchObject({ type: "degraded", recoverable: false });
    await expect(next()).rejects.toThrow("no more events");
  });

  test("that is closed leaves its request", async () => {
    const { server, session } = await openAi();
    server.once(() => undefined);
    write(session, [...quiet(50), ...said(40)]);
    session.finalize();
    while (server.requests.length === 0) await new Promise((resolve) => void setImmediate(resolve));
    await session[Symbol.asyncDispose]();
    expect(await server.requests[0]?.abandoned).toBe(true);
  });
});

type Answering = (events: readonly WyomingEvent[], socket: Socket) => void;

/** A server that calls `answer` with everything a client said so far, at each event. */
async function wyoming(answer: Answering): Promise<{ port: number; sockets: Socket[] }> {
  const sockets: Socket[] = [];
  const server: Server = createServer((socket) => {
    sockets.push(socket);
    const events: WyomingEvent[] = [];
    const parts = new WyomingReader();
    socket.on("error", () => undefined);
    socket.on("data", (chunk) => {
      for (const event of parts.push(chunk)) {
        events.push({ ...event, payload: Uint8Array.from(event.payload) });
        answer(events, socket);
      }
    });
  });
  await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
  keep({
    [Symbol.asyncDispose]: async () => {
      for (const socket of sockets) socket.destroy();
      await new Promise<void>((resolve) => void server.close(() => resolve()));
    },
  });
  return { port: (server.address() as AddressInfo).port, sockets };
}

const home = { name: "home", host: "127.0.0.1", log: silentLog };

describe("the Wyoming protocol", () => {
  test("is read the same wherever the octets are cut, with data in the header and after it", () => {
    const extra = Buffer.from(JSON.stringify({ rate: 8000 }));
    const header = { type: "audio-chunk", data: { width: 2 }, data_length: extra.length, payload_length: 4 };
    const whole = Buffer.concat([
      writeWyoming("synthesize", { text: "¡Hola!\n" }),
      Buffer.from(`${JSON.stringify(header)}\n`),
      extra,
      Buffer.from([1, 2, 10, 4]),
    ]);
    fc.assert(
      fc.property(fc.array(fc.nat(whole.length)), (cuts) => {
        const parts = new WyomingReader();
        const found: WyomingEvent[] = [];
        let from = 0;
        for (const cut of [...cuts.sort((a, b) => a - b), whole.length]) {
          found.push(...parts.push(whole.subarray(from, cut)));
          from = cut;
        }
        expect(found.map(({ type, data }) => ({ type, data }))).toEqual([
          { type: "synthesize", data: { text: "¡Hola!\n" } },
          { type: "audio-chunk", data: { width: 2, rate: 8000 } },
        ]);
        expect([...(found[1]?.payload ?? [])]).toEqual([1, 2, 10, 4]);
      }),
    );
  });

  test("refuses what cannot be an event", () => {
    expect(() => new WyomingReader().push(Buffer.from("HTTP/1.1 400 Bad Request\r\n"))).toThrow(RangeError);
    expect(() => new WyomingReader().push(Buffer.from('{"type":"x","payload_length":-1}\n'))).toThrow(
      RangeError,
    );
    expect(() => new WyomingReader().push(Buffer.alloc(70_000, 120))).toThrow(RangeError);
  });

  test("transcribes an utterance", async () => {
    let heard: readonly WyomingEvent[] = [];
    const { port } = await wyoming((events, socket) => {
      heard = events;
      if (events.at(-1)?.type === "audio-stop") socket.write(writeWyoming("transcript", { text: " Ciao. " }));
    });
    const session = keep(await wyomingTranscriber({ ...home, port }).open({ language: "it-IT" }, never));
    write(session, [...quiet(50), ...said(50)]);
    session.finalize();
    const next = reader(session);
    await next();
    expect(await next()).toMatchObject({ type: "final", text: "Ciao." });
    expect(heard[0]).toMatchObject({ type: "transcribe", data: { language: "it" } });
    expect(heard[1]).toMatchObject({ type: "audio-start", data: { rate: 8000, width: 2, channels: 1 } });
  });

  test("speaks", async () => {
    const pcm = Int16Array.from({ length: 300 }, (_, i) => i * 7 - 900);
    const { port } = await wyoming((_, socket) => {
      socket.write(writeWyoming("audio-start", { rate: 16_000, width: 2, channels: 1 }));
      for (const part of [pcm.subarray(0, 100), pcm.subarray(100)])
        socket.write(writeWyoming("audio-chunk", { rate: 16_000 }, new Uint8Array(part.slice().buffer)));
      socket.write(writeWyoming("audio-stop", {}));
    });
    const mouth = wyomingSynthesizer({ ...home, port, voices: { "3": "it_IT-x" }, firstAudioMs: 2500 });
    const speech = await mouth.say({ text: "Ciao", voice: "3", language: "it" }, never);
    expect(speech.rateHz).toBe(16_000);
    expect(await samplesOf(speech.audio)).toEqual(pcm);
  });

  test("that is interrupted closes the connection", async () => {
    const { port, sockets } = await wyoming((_, socket) => {
      socket.write(writeWyoming("audio-chunk", { rate: 16_000 }, new Uint8Array(64)));
    });
    const mouth = wyomingSynthesizer({ ...home, port, voices: {}, firstAudioMs: 2500 });
    const abort = new AbortController();
    const speech = await mouth.say({ text: "Ciao", voice: "6", language: "it" }, abort.signal);
    const reason = new Error("interrupted");
    const hearing = (async () => {
      for await (const _ of speech.audio) abort.abort(reason);
    })();
    await expect(hearing).rejects.toBe(reason);
    await new Promise<void>((resolve) => {
      if (sockets[0]?.closed === true) resolve();
      else sockets[0]?.once("close", () => resolve());
    });
  });

  test.each([
    ["an error", writeWyoming("error", { text: "no model" }), "provider-refused"],
    ["another protocol", Buffer.from("220 mail ESMTP\r\n"), "provider-bad-answer"],
    ["an early end", writeWyoming("audio-stop", {}), "provider-bad-answer"],
  ])("tells %s", async (_name, answer, code) => {
    const { port } = await wyoming((_e, socket) => void socket.end(answer));
    const mouth = wyomingSynthesizer({ ...home, port, voices: {}, firstAudioMs: 2500 });
    const error = await failureOf(mouth.say({ text: "x", voice: "6", language: "en" }, never));
    expect(error).toMatchObject({ code });
  });

  test("where nothing listens says so", async () => {
    const mouth = wyomingSynthesizer({ ...home, port: 1, voices: {}, firstAudioMs: 2500 });
    const { error } = await collect(
      (async function* (): AsyncGenerator<number> {
        yield (await mouth.say({ text: "x", voice: "6", language: "en" }, never)).rateHz;
      })(),
    );
    expect(error).toMatchObject({ code: "provider-unreachable", retryable: true });
  });
});
