import { parse } from "smol-toml";
import { afterEach, describe, expect, test } from "vitest";
import { fallbackTranscriber } from "../../src/ai/fallback-transcriber.ts";
import { fallbackSynthesizer, type NamedSynthesizer } from "../../src/ai/fallback.ts";
import { HearQueue } from "../../src/ai/hear-queue.ts";
import { testProvider } from "../../src/ai/probe.ts";
import { decodeVoiceConfig, type VoiceConfig } from "../../src/ai/provider-config.ts";
import type { SecretRef } from "../../src/ai/provider-kinds.ts";
import { openVoiceStack, type Voice } from "../../src/ai/voice-stack.ts";
import { silentLog, type Log } from "../../src/host/index.ts";
import { collect, failureOf, samplesOf } from "../support/vendors/collect.ts";
import { results } from "../support/vendors/deepgram-messages.ts";
import { chatEvent, startEvents, startOpenAiServer } from "../support/vendors/openai-server.ts";
import { startSocketServer, type SocketScript } from "../support/vendors/socket-server.ts";
import { json } from "../support/vendors/vendor-server.ts";
import { VirtualClock } from "../support/virtual-clock.ts";
import type { LanguageDelta } from "../../src/ai/language-shapes.ts";
import type { HeardFrame, HearEvent, Transcriber } from "../../src/talk/index.ts";

const key = "sk-test-0123456789";
const never = new AbortController().signal;
const line = { text: "Hola", voice: "6", language: "es" };
const loud = Int16Array.from({ length: 160 }, (_, i) => 8000 * Math.sin(i / 3));

const opened: AsyncDisposable[] = [];
afterEach(async () => {
  for (const one of opened.splice(0).toReversed()) await one[Symbol.asyncDispose]();
});

function keep<One extends AsyncDisposable>(one: One): One {
  opened.push(one);
  return one;
}

/** A mouth without a network: one sample that tells who spoke. */
function mouth(engine: string, mark: number, fails: { now: boolean } = { now: false }): NamedSynthesizer {
  return {
    engine,
    capabilities: { marks: false, maxChars: 100, cacheable: true },
    async say() {
      if (fails.now) throw new Error(`${engine} failed`);
      return {
        rateHz: 8000,
        audio: (async function* () {
          yield Int16Array.of(mark);
        })(),
      };
    },
  };
}

function decode(toml: string): VoiceConfig {
  const decoded = decodeVoiceConfig(parse(toml));
  if (!decoded.ok) throw new Error(decoded.problem.message);
  return decoded.value;
}

const secret = async (ref: SecretRef): Promise<string> => (ref.type === "env" ? `${key}\n` : "other");

async function* noWords(): AsyncGenerator<LanguageDelta> {
  yield* [];
}

async function voiceOf(toml: string, log: Log = silentLog): Promise<Voice> {
  const options = { secret, log, signal: never, embedded: mouth("espeak", 7) };
  return keep(openVoiceStack(decode(toml), options)).voice("fast");
}

const provider = (name: string, url: string): string =>
  `[providers.${name}]\nkind = "openai"\nbase_url = "${url}/v1"\napi_key = { env = "KEY" }\n[voices."6"]\n${name} = "nova"\n`;

describe("a stack of voices", () => {
  test("has the built-in mouth and nothing else when nothing is configured", async () => {
    const voice = await voiceOf("");
    expect(voice.transcriber).toBeUndefined();
    expect(voice.languageModel).toBeUndefined();
    const speech = await voice.synthesizer.say(line, never);
    expect(speech.engine).toBe("espeak");
    expect([...(await samplesOf(speech.audio))]).toEqual([7]);
  });

  test("thinks and speaks with the provider that is named, with its key read from where it is", async () => {
    const server = keep(await startOpenAiServer({ key, words: ["Sí"], pcm: Int16Array.of(1, 2, 3) }));
    const roles = '[voice_models.fast]\nears = "one/t"\nbrain = "one/m"\nmouth = "one/s"\n';
    const voice = await voiceOf(provider("one", server.url) + roles);
    const asked = { messages: [{ role: "user", text: "¿Sí?" }] } as const;
    const { items } = await collect(voice.languageModel?.stream(asked, never) ?? noWords());
    expect(items[0]).toEqual({ type: "text", text: "Sí" });
    const speech = await voice.synthesizer.say(line, never);
    expect(speech.engine).toBe("one/s");
    expect([...(await samplesOf(speech.audio))]).toEqual([1, 2, 3]);
    expect(voice.transcriber?.capabilities.streaming).toBe(false);
  });

  test("has no voice model of another name", async () => {
    const stack = keep(
      openVoiceStack(decode(""), { secret, log: silentLog, signal: never, embedded: mouth("e", 1) }),
    );
    expect(await failureOf(stack.voice("slow"))).toMatchObject({ code: "voice-model-unknown" });
    expect(await failureOf(stack.voice("constructor"))).toMatchObject({ code: "voice-model-unknown" });
  });

  test("tries again to read a secret that was not there", async () => {
    const server = keep(await startOpenAiServer({ key }));
    let there = false;
    const config = decode(`${provider("one", server.url)}[voice_models.fast]\nbrain = "one/m"\n`);
    const read = async (): Promise<string> => {
      if (there) return key;
      throw new Error("the keychain is locked");
    };
    const stack = keep(
      openVoiceStack(config, { secret: read, log: silentLog, signal: never, embedded: mouth("e", 1) }),
    );
    expect((await failureOf(stack.voice("fast"))).message).toBe("the keychain is locked");
    there = true;
    expect((await stack.voice("fast")).languageModel).toBeDefined();
  });

  test("lets the built-in mouth speak when the provider fails, and logs no key", async () => {
    const server = keep(await startOpenAiServer({ key: "another" }));
    const lines: unknown[] = [];
    const log: Log = { ...silentLog, warn: (...said) => lines.push(said) };
    const voice = await voiceOf(`${provider("one", server.url)}[voice_models.fast]\nmouth = "one/s"\n`, log);
    expect((await voice.synthesizer.say(line, never)).engine).toBe("espeak");
    expect(lines).toHaveLength(1);
    expect(JSON.stringify(lines)).toContain("provider-refused");
    expect(JSON.stringify(lines)).not.toContain(key);
  });

  test("asks the other brain when the first fails before its first word, not after", async () => {
    const first = keep(await startOpenAiServer({ key, words: ["uno"] }));
    const second = keep(await startOpenAiServer({ key, words: ["dos"] }));
    const both =
      provider("one", first.url) +
      `[providers.two]\nkind = "openai"\nbase_url = "${second.url}/v1"\napi_key = { env = "KEY" }\n` +
      '[voice_models.fast]\nbrain = "one/m"\nfallback = { brain = "two/m" }\n';
    const { languageModel } = await voiceOf(both);
    const asked = { messages: [{ role: "user", text: "¿?" }] } as const;
    first.once((_, response) => json(response, 404, { error: { message: "no such model" } }));
    expect((await collect(languageModel?.stream(asked, never) ?? noWords())).items[0]).toEqual({
      type: "text",
      text: "dos",
    });
    first.once((_, response) => {
      startEvents(response);
      response.write(chatEvent({ content: "un" }), () => void response.socket?.destroy());
    });
    const { items, error } = await collect(languageModel?.stream(asked, never) ?? noWords());
    expect(items).toEqual([{ type: "text", text: "un" }]);
    expect(error).toMatchObject({ code: "provider-unreachable" });
    expect(second.requests).toHaveLength(1);
  });
});

describe("a mouth with another behind it", () => {
  test("leaves one that failed alone for a while, then tries it again", async () => {
    const clock = new VirtualClock();
    const fails = { now: true };
    const both = fallbackSynthesizer([mouth("first", 1, fails), mouth("second", 2)], {
      log: silentLog,
      clock,
    });
    expect((await both.say(line, never)).engine).toBe("second");
    fails.now = false;
    clock.advance(29_999);
    expect((await both.say(line, never)).engine).toBe("second");
    clock.advance(1);
    expect((await both.say(line, never)).engine).toBe("first");
  });

  test("does not ask the second when the caller has gone", async () => {
    const abort = new AbortController();
    const fails = { now: true };
    const both = fallbackSynthesizer([mouth("first", 1, fails), mouth("second", 2)], {
      log: silentLog,
      clock: new VirtualClock(),
    });
    abort.abort();
    await expect(both.say(line, abort.signal)).rejects.toThrow("first failed");
  });

  test("fails with the last error when none can speak, and tries them all the next time", async () => {
    const fails = { now: true };
    const only = fallbackSynthesizer([mouth("only", 1, fails)], {
      log: silentLog,
      clock: new VirtualClock(),
    });
    await expect(only.say(line, never)).rejects.toThrow("only failed");
    fails.now = false;
    expect((await only.say(line, never)).engine).toBe("only");
  });
});

describe("ears with others behind them", () => {
  /** Ears that a test plays. */
  const ears = (turnDetection: boolean) => {
    const heard: HeardFrame[] = [];
    const events = new HearQueue();
    const transcriber: Transcriber = {
      capabilities: { streaming: true, turnDetection, finalWithinMs: 300 },
      open: async () => ({
        write: (frame) => void heard.push(frame),
        bufferedMs: 0,
        finalize: () => undefined,
        events,
        [Symbol.asyncDispose]: async () => events.end(),
      }),
    };
    return { transcriber, events, heard };
  };

  test("hear on with the second when the first is lost during the call", async () => {
    const [first, second] = [ears(true), ears(false)];
    const gate = Promise.withResolvers<void>();
    const slow: Transcriber = {
      ...second.transcriber,
      open: async (request, signal) => {
        await gate.promise;
        return second.transcriber.open(request, signal);
      },
    };
    const both = fallbackTranscriber(first.transcriber, slow, silentLog);
    expect(both.capabilities.turnDetection).toBe(false);
    const session = keep(await both.open({ language: "es" }, never));
    const events = session.events[Symbol.asyncIterator]();
    const said = (text: string): HearEvent => ({ type: "final", text, startMs: 0, endMs: 20 });
    session.write({ pcm: loud, rateHz: 8000, atMs: 0 });
    first.events.push(said("uno"));
    expect((await events.next()).value).toMatchObject({ text: "uno" });
    first.events.push({ type: "degraded", reason: "lost", recoverable: false });
    expect((await events.next()).value).toEqual({ type: "degraded", reason: "lost", recoverable: true });
    await new Promise((resolve) => void setImmediate(resolve));
    session.write({ pcm: loud, rateHz: 8000, atMs: 20 });
    expect(session.bufferedMs).toBe(20);
    gate.resolve();
    second.events.push(said("dos"));
    expect((await events.next()).value).toMatchObject({ text: "dos" });
    expect(first.heard.map(({ atMs }) => atMs)).toEqual([0]);
    expect(second.heard.map(({ atMs }) => atMs)).toEqual([20]);
    second.events.push({ type: "degraded", reason: "gone too", recoverable: false });
    expect((await events.next()).value).toMatchObject({ recoverable: false });
    expect((await events.next()).done).toBe(true);
  });

  test("hear with the second when the first cannot be reached", async () => {
    const second = ears(false);
    const broken: Transcriber = {
      ...second.transcriber,
      open: async () => {
        throw new Error("unreachable");
      },
    };
    const session = keep(
      await fallbackTranscriber(broken, second.transcriber, silentLog).open({ language: "es" }, never),
    );
    session.write({ pcm: loud, rateHz: 8000, atMs: 0 });
    expect(second.heard).toHaveLength(1);
  });
});

test("unread partial texts give way to newer ones, final texts never", async () => {
  const queue = new HearQueue();
  for (const text of ["a", "ab", "abc"]) queue.push({ type: "partial", text, startMs: 0, endMs: 1 });
  queue.push({ type: "final", text: "abc.", startMs: 0, endMs: 1 });
  queue.push({ type: "final", text: "d.", startMs: 1, endMs: 2 });
  queue.end();
  const { items } = await collect(queue);
  expect(items.map((event) => ("text" in event ? event.text : event.type))).toEqual(["abc", "abc.", "d."]);
});

describe("the test of a provider", () => {
  const options = { secret, log: silentLog, signal: never, speaker: mouth("speaker", 9000) };

  test("measures each role it has, and reports one that fails", async () => {
    const server = keep(await startOpenAiServer({ key, words: ["Hello"] }));
    const toml = `${provider("one", server.url)}[voice_models.fast]\nbrain = "one/m"\nmouth = "one/s"\n[voice_models.human]\nbrain = "one/m"\n`;
    const results_ = testProvider(decode(toml), "one", options);
    const [brain, speech, ...more] = await results_;
    expect(brain).toMatchObject({ role: "brain", model: "m", ok: true, text: "Hello" });
    expect(brain?.ok === true && brain.firstMs <= brain.totalMs).toBe(true);
    expect(speech).toMatchObject({ role: "mouth", model: "s", ok: true });
    expect(more).toEqual([]);
    server.once((_, response) => json(response, 404, { error: { message: "no such model" } }));
    expect((await testProvider(decode(toml), "one", options))[0]).toMatchObject({
      role: "brain",
      ok: false,
      error: { code: "provider-refused" },
    });
  });

  test("measures the time from the end of the speech to its text", async () => {
    const script: SocketScript = {
      authorization: `Token ${key}`,
      onAudio: (client) => {
        if (client.audio.length === 20)
          client.tell(
            results({ text: "One two.", start: 0, duration: 0.3, isFinal: true, speechFinal: true }),
          );
      },
    };
    const server = keep(await startSocketServer(script));
    const toml = `[providers.dg]\nkind = "deepgram"\nbase_url = "${server.url}"\napi_key = { env = "KEY" }\n[voice_models.fast]\nears = "dg/nova-3"\n`;
    const [ears, ...more] = await testProvider(decode(toml), "dg", options);
    expect(more).toEqual([]);
    expect(ears).toMatchObject({ role: "ears", model: "nova-3", ok: true, text: "One two." });
    // The speech is one frame, and the text comes with the twentieth.
    expect(ears?.ok === true && ears.firstMs > 300).toBe(true);
    await server.sockets[0]?.closed;
  });

  test("refuses a name that is not there, and one that has no role", async () => {
    expect(await failureOf(testProvider(decode(""), "one", options))).toMatchObject({
      code: "provider-unknown",
    });
    const unused = decode(provider("one", "http://127.0.0.1:1"));
    expect(await failureOf(testProvider(unused, "one", options))).toMatchObject({ code: "provider-unused" });
  });
});
