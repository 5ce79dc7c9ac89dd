import type { Clock } from "#base";
import { steadyClock, type Log } from "#host";
import type { SpeechRequest, SynthesizedSpeech, Synthesizer, Transcriber } from "#talk";
import { connect } from "node:net";
import { littleEndian } from "./frame-encoder.ts";
import { numberAt, textAt } from "./json-value.ts";
import { Patience } from "./patience.ts";
import { providerError } from "./provider-error.ts";
import type { Utterance } from "./utterance-cutter.ts";
import { openUtteranceSession } from "./utterance-session.ts";
import { writeWyoming, WyomingReader, type WyomingEvent } from "./wyoming-events.ts";

export interface WyomingOptions {
  /** Of the provider. */
  readonly name: string;
  readonly host: string;
  readonly port: number;
  readonly log: Log;
  readonly clock?: Clock;
}

const transcriptLimitMs = 10_000;
const idleMs = 15_000;
/** 0.1 s at 16 kHz. */
const chunkSamples = 1600;

/** A Wyoming speech-to-text server (faster-whisper, vosk and others), asked once for each utterance. */
export function wyomingTranscriber(options: WyomingOptions & { readonly model?: string }): Transcriber {
  return {
    capabilities: { streaming: false, turnDetection: false, finalWithinMs: 2000 },
    open: async ({ language }, signal) => {
      signal.throwIfAborted();
      return openUtteranceSession({
        signal,
        log: options.log,
        transcribe: async (utterance, ends) => transcribe(options, { utterance, language }, ends),
      });
    },
  };
}

async function transcribe(
  options: WyomingOptions & { readonly model?: string },
  question: { readonly utterance: Utterance; readonly language: string },
  signal: AbortSignal,
): Promise<string> {
  const { pcm, rateHz } = question.utterance;
  const format = { rate: rateHz, width: 2, channels: 1 };
  const name = options.model === undefined ? {} : { name: options.model };
  const said = [
    writeWyoming("transcribe", { ...name, language: languageOf(question.language) }),
    writeWyoming("audio-start", format),
  ];
  for (let at = 0; at < pcm.length; at += chunkSamples)
    said.push(writeWyoming("audio-chunk", format, littleEndian(pcm.subarray(at, at + chunkSamples))));
  said.push(writeWyoming("audio-stop", {}));
  for await (const event of converse(options, { say: said, firstMs: transcriptLimitMs }, signal)) {
    if (event.type === "transcript") return textAt(event.data, "text") ?? "";
  }
  throw endedEarly(options);
}

/** A Wyoming text-to-speech server (piper and others). `say` resolves with the first sound. */
export function wyomingSynthesizer(
  options: WyomingOptions & {
    readonly voices: Readonly<Record<string, string>>;
    /** The voice for those of ours that have none. */
    readonly model?: string;
    readonly firstAudioMs: number;
  },
): Synthesizer {
  return { capabilities: { marks: false, maxChars: 5000, cacheable: true }, say };

  async function say(request: SpeechRequest, signal: AbortSignal): Promise<SynthesizedSpeech> {
    const name = options.voices[request.voice] ?? options.model;
    const voice = name === undefined ? { language: languageOf(request.language) } : { name };
    const question = [writeWyoming("synthesize", { text: request.text, voice })];
    const events = converse(options, { say: question, firstMs: options.firstAudioMs }, signal);
    let rateHz = 22_050;
    for (;;) {
      const { done, value: event } = await events.next();
      if (done === true || event.type === "audio-stop") break;
      rateHz = numberAt(event.data, "rate") ?? rateHz;
      if (event.type === "audio-chunk" && event.payload.length > 1)
        return { rateHz, audio: samplesOf(options, event, events) };
    }
    await events.return();
    throw endedEarly(options);
  }
}

async function* samplesOf(
  options: WyomingOptions,
  first: WyomingEvent,
  rest: AsyncGenerator<WyomingEvent, void, undefined>,
): AsyncGenerator<Int16Array, void, undefined> {
  yield pcmOf(first.payload);
  for await (const event of rest) {
    if (event.type === "audio-stop") return;
    if (event.type === "audio-chunk") yield pcmOf(event.payload);
  }
  throw endedEarly(options);
}

/** Says all of it, then gives what is answered; leaving it, or the signal, closes the connection. */
async function* converse(
  options: WyomingOptions,
  question: { readonly say: readonly Uint8Array[]; readonly firstMs: number },
  signal: AbortSignal,
): AsyncGenerator<WyomingEvent, void, undefined> {
  const { name, host, port, clock = steadyClock } = options;
  signal.throwIfAborted();
  using patience = new Patience({
    clock,
    signal,
    firstMs: question.firstMs,
    idleMs,
    tooLate: () => providerError("provider-timeout", `${name} (${host}:${port}) did not answer in time`),
  });
  const socket = connect({ host, port });
  const stop = (): void => void socket.destroy(asError(patience.signal.reason));
  patience.signal.addEventListener("abort", stop, { once: true });
  const reader = new WyomingReader();
  try {
    for (const octets of question.say) socket.write(octets);
    patience.wait();
    for await (const chunk of socket) {
      for (const event of read(options, reader, chunk)) {
        if (event.type === "error") throw told(options, event);
        patience.progress();
        yield event;
      }
      patience.wait();
    }
  } catch (error) {
    if (patience.signal.aborted) throw patience.signal.reason;
    throw unreachable(options, error);
  } finally {
    patience.signal.removeEventListener("abort", stop);
    socket.destroy();
  }
}

function read(options: WyomingOptions, reader: WyomingReader, chunk: Uint8Array): readonly WyomingEvent[] {
  try {
    return reader.push(chunk);
  } catch (cause) {
    throw providerError("provider-bad-answer", `${options.name} does not speak the Wyoming protocol`, {
      hint: `Check host and ports of providers.${options.name}.`,
      cause,
    });
  }
}

function told(options: WyomingOptions, event: WyomingEvent): Error {
  const words = (textAt(event.data, "text") ?? textAt(event.data, "code") ?? "no reason").slice(0, 200);
  return providerError("provider-refused", `${options.name} refused the request: ${words}`);
}

function unreachable(options: WyomingOptions, error: unknown): unknown {
  if (!(error instanceof Error) || !("code" in error) || typeof error.code !== "string") return error;
  if (error.code.startsWith("provider-")) return error;
  const { name, host, port } = options;
  return providerError(
    "provider-unreachable",
    `${name} (${host}:${port}) cannot be reached (${error.code})`,
    { hint: "Is the server running, and on this port?", cause: error },
  );
}

function endedEarly(options: WyomingOptions): Error {
  return providerError("provider-bad-answer", `${options.name} closed the connection before its answer`, {
    retryable: true,
  });
}

function pcmOf(octets: Uint8Array): Int16Array {
  const view = new DataView(octets.buffer, octets.byteOffset, octets.byteLength);
  const pcm = new Int16Array(octets.length >> 1);
  for (let i = 0; i < pcm.length; i++) pcm[i] = view.getInt16(2 * i, true);
  return pcm;
}

function languageOf(tag: string): string {
  return tag.split(/[-_]/)[0]?.toLowerCase() ?? tag;
}

function asError(reason: unknown): Error {
  return reason instanceof Error ? reason : new Error(String(reason));
}
