import fc from "fast-check";
import OpenAI from "openai";
import { afterEach, describe, expect, test } from "vitest";
import { elevenLabsSpeech, type ElevenLabsOutput } from "../../src/ai/elevenlabs-speech.ts";
import { openEndpoint, type Endpoint } from "../../src/ai/endpoint.ts";
import { speechOf } from "../../src/ai/pcm-stream.ts";
import { openAiSpeech } from "../../src/ai/openai-speech.ts";
import { encodeG711, wavHeader } from "../../src/media/index.ts";
import { collect, failureOf, samplesOf } from "../support/vendors/collect.ts";
import { startElevenLabsServer } from "../support/vendors/elevenlabs-server.ts";
import { startOpenAiServer } from "../support/vendors/openai-server.ts";
import { json, type VendorServer } from "../support/vendors/vendor-server.ts";
import { VirtualClock } from "../support/virtual-clock.ts";

const key = "key-0123456789";
const never = new AbortController().signal;
const pcm = Int16Array.from({ length: 5000 }, (_, i) => Math.round(9000 * Math.sin(i / 7)) - i);
const line = { text: "Buenos días", voice: "3", language: "es-ES" };

const opened: AsyncDisposable[] = [];
afterEach(async () => {
  for (const one of opened.splice(0)) await one[Symbol.asyncDispose]();
});

function keep<One extends AsyncDisposable>(one: One): One {
  opened.push(one);
  return one;
}

function endpointTo(baseUrl: string, header: string, options: { clock?: VirtualClock } = {}): Endpoint {
  const prefix = header === "authorization" ? "Bearer " : "";
  return keep(
    openEndpoint({ name: "tts", baseUrl, credential: { header, prefix, secret: key }, ...options }),
  );
}

function openAiAt(server: VendorServer, clock?: VirtualClock): ReturnType<typeof openAiSpeech> {
  const endpoint = endpointTo(`${server.url}/v1`, "authorization", clock === undefined ? {} : { clock });
  const voices = { "3": "shimmer", "6": "nova" };
  return openAiSpeech({ endpoint, model: "tts", voices, rateHz: 24_000, firstAudioMs: 2500 });
}

test("samples are whole wherever their octets are cut", async () => {
  const octets = Buffer.from(pcm.buffer).subarray(0, 400);
  const endpoint = endpointTo("http://127.0.0.1:1", "authorization");
  await fc.assert(
    fc.asyncProperty(fc.array(fc.nat(400), { maxLength: 9 }), async (cuts) => {
      const places = [...cuts.sort((a, b) => a - b), octets.length];
      const body = (async function* () {
        for (const [index, place] of places.entries()) yield octets.subarray(places[index - 1] ?? 0, place);
      })();
      const answer = { status: 200, contentType: "", body, progress: () => undefined };
      const speech = await speechOf(endpoint, answer, { encoding: "linear16", rateHz: 24_000 });
      expect(await samplesOf(speech.audio)).toEqual(pcm.slice(0, 200));
    }),
  );
});

describe("speech from OpenAI and its like", () => {
  test("comes sample for sample, however the octets are cut", async () => {
    const server = keep(await startOpenAiServer({ key, pcm }));
    const speech = await openAiAt(server).say({ ...line, speed: 1.25 }, never);
    expect(speech.rateHz).toBe(24_000);
    expect(await samplesOf(speech.audio)).toEqual(pcm);
    expect(JSON.parse(server.requests[0]?.body.toString("utf8") ?? "")).toEqual({
      model: "tts",
      input: "Buenos días",
      voice: "shimmer",
      response_format: "pcm",
      speed: 1.25,
    });
  });

  test("uses the default voice for one the provider has not", async () => {
    const server = keep(await startOpenAiServer({ key, pcm }));
    await collect((await openAiAt(server).say({ ...line, voice: "1" }, never)).audio);
    expect(server.requests[0]?.body.toString("utf8")).toContain('"voice":"nova"');
  });

  test("is read from a WAV that a server sends unasked, at the rate it names", async () => {
    const server = keep(await startOpenAiServer({ key }));
    server.once((_, response) => {
      response.writeHead(200, { "content-type": "audio/wav" });
      response.write(wavHeader({ sampleRateHz: 22_050, channels: 1 }, pcm.byteLength).subarray(0, 20));
      response.write(wavHeader({ sampleRateHz: 22_050, channels: 1 }, pcm.byteLength).subarray(20));
      response.end(Buffer.from(pcm.buffer));
    });
    const speech = await openAiAt(server).say(line, never);
    expect(speech.rateHz).toBe(22_050);
    expect(await samplesOf(speech.audio)).toEqual(pcm);
  });

  test("has the rate the answer names", async () => {
    const server = keep(await startOpenAiServer({ key }));
    server.once((_, response) => {
      response.writeHead(200, { "content-type": "audio/pcm;rate=16000" });
      response.end(Buffer.from(pcm.buffer));
    });
    expect((await openAiAt(server).say(line, never)).rateHz).toBe(16_000);
  });

  test("that nobody hears any more is not made to the end", async () => {
    const server = keep(await startOpenAiServer({ key }));
    server.once((_, response) => {
      response.writeHead(200, { "content-type": "audio/pcm" });
      response.write(Buffer.from(pcm.buffer));
    });
    const abort = new AbortController();
    const speech = await openAiAt(server).say(line, abort.signal);
    const reason = new Error("interrupted");
    const hearing = (async () => {
      for await (const _ of speech.audio) abort.abort(reason);
    })();
    await expect(hearing).rejects.toBe(reason);
    expect(await server.requests[0]?.abandoned).toBe(true);
  });

  test("is given up when its first sound does not come", async () => {
    const server = keep(await startOpenAiServer({ key }));
    server.once((_, response) => {
      response.writeHead(200, { "content-type": "audio/pcm" });
      response.flushHeaders();
    });
    const clock = new VirtualClock();
    const saying = failureOf(openAiAt(server, clock).say(line, never));
    while (server.requests.length === 0) await new Promise((resolve) => void setImmediate(resolve));
    clock.advance(2500);
    expect(await saying).toMatchObject({ code: "provider-timeout" });
  });

  test("that breaks off tells it after the sound before", async () => {
    const server = keep(await startOpenAiServer({ key }));
    server.once((_, response) => {
      response.writeHead(200, { "content-type": "audio/pcm", "content-length": "99999" });
      response.write(Buffer.from(pcm.buffer), () => response.socket?.destroySoon());
    });
    const { items, error } = await collect((await openAiAt(server).say(line, never)).audio);
    expect(items.reduce((sum, chunk) => sum + chunk.length, 0)).toBe(pcm.length);
    expect(error).toMatchObject({ code: "provider-unreachable" });
  });

  test.each([
    ["JSON", "application/json", '{"error":"no such voice"}'],
    ["nothing", "audio/pcm", ""],
  ])("that is %s is a bad answer", async (_name, type, text) => {
    const server = keep(await startOpenAiServer({ key }));
    server.once((_r, response) => {
      response.writeHead(200, { "content-type": type });
      response.end(text);
    });
    expect(await failureOf(openAiAt(server).say(line, never))).toMatchObject({ code: "provider-bad-answer" });
  });

  test("from the fake server is speech to the vendor's own client", async () => {
    const server = keep(await startOpenAiServer({ key, pcm }));
    const client = new OpenAI({ apiKey: key, baseURL: `${server.url}/v1`, maxRetries: 0 });
    const response = await client.audio.speech.create({
      model: "m",
      voice: "nova",
      input: "x",
      response_format: "pcm",
    });
    expect(new Int16Array(await response.arrayBuffer())).toEqual(pcm);
  });
});

describe("speech from ElevenLabs", () => {
  const voices = { "3": "voice/id", "6": "other" };
  const speaker = (
    server: VendorServer,
    model: string,
    output: ElevenLabsOutput,
  ): ReturnType<typeof elevenLabsSpeech> =>
    elevenLabsSpeech({
      endpoint: endpointTo(server.url, "xi-api-key"),
      model,
      voices,
      output,
      firstAudioMs: 2500,
    });

  test("comes as µ-law at 8 kHz", async () => {
    const sound = new Uint8Array(pcm.length);
    encodeG711("PCMU", pcm, sound);
    const server = keep(await startElevenLabsServer({ key, sound }));
    const speech = await speaker(server, "eleven_flash_v2_5", "ulaw_8000").say({ ...line, speed: 3 }, never);
    expect(speech.rateHz).toBe(8000);
    const heard = await samplesOf(speech.audio);
    expect(heard).toHaveLength(pcm.length);
    expect(Math.max(...heard.map((sample, i) => Math.abs(sample - (pcm[i] ?? 0))))).toBeLessThan(520);
    const [request] = server.requests;
    expect(request?.path).toBe("/v1/text-to-speech/voice%2Fid/stream");
    expect(request?.query.get("output_format")).toBe("ulaw_8000");
    expect(JSON.parse(request?.body.toString("utf8") ?? "")).toEqual({
      text: "Buenos días",
      model_id: "eleven_flash_v2_5",
      language_code: "es",
      voice_settings: { speed: 1.2 },
    });
  });

  test("comes as PCM, and names no language to a model that refuses one", async () => {
    const server = keep(await startElevenLabsServer({ key, sound: new Uint8Array(pcm.buffer) }));
    const speech = await speaker(server, "eleven_multilingual_v2", "pcm_16000").say(line, never);
    expect(speech.rateHz).toBe(16_000);
    expect(await samplesOf(speech.audio)).toEqual(pcm);
    expect(server.requests[0]?.body.toString("utf8")).not.toContain("language_code");
  });

  test("tells the provider's reason for a refusal", async () => {
    const server = keep(await startElevenLabsServer({ key, sound: new Uint8Array(9) }));
    server.once((_, response) =>
      json(response, 422, { detail: { status: "x", message: `no voice for ${key}` } }),
    );
    const error = await failureOf(speaker(server, "m", "ulaw_8000").say(line, never));
    expect(error).toMatchObject({ code: "provider-refused" });
    expect(error.message).toContain("no voice for [key]");
  });
});
