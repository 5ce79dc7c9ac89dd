import type { Log } from "#host";
import { wavHeader } from "#media";
import type { Transcriber } from "#talk";
import { FormData } from "undici";
import type { Endpoint } from "./endpoint.ts";
import { littleEndian } from "./frame-encoder.ts";
import { jsonOf, send } from "./http.ts";
import { textAt } from "./json-value.ts";
import { providerError } from "./provider-error.ts";
import type { Utterance } from "./utterance-cutter.ts";
import { openUtteranceSession } from "./utterance-session.ts";

export interface OpenAiTranscriptionsOptions {
  readonly endpoint: Endpoint;
  readonly model: string;
  readonly log: Log;
}

/** A whole recording takes longer than a first word. */
const answerLimitMs = 10_000;

/**
 * `POST …/audio/transcriptions`, one WAV for each utterance: cut where the caller asks for the text, or by our own
 * detector after 0.8 s of silence. An utterance without words gives a `final` without text.
 */
export function openAiTranscriptions(options: OpenAiTranscriptionsOptions): Transcriber {
  return {
    capabilities: { streaming: false, turnDetection: false, finalWithinMs: 2000 },
    open: async (request, signal) => {
      signal.throwIfAborted();
      return openUtteranceSession({
        signal,
        log: options.log,
        transcribe: async (utterance, ends) => transcribe(options, { ...request, utterance }, ends),
      });
    },
  };
}

async function transcribe(
  options: OpenAiTranscriptionsOptions,
  question: {
    readonly utterance: Utterance;
    readonly language: string;
    readonly hints?: readonly string[];
  },
  signal: AbortSignal,
): Promise<string> {
  const { endpoint, model } = options;
  const { utterance, language, hints = [] } = question;
  const form = new FormData();
  form.append("file", new Blob([wavOf(utterance)], { type: "audio/wav" }), "speech.wav");
  form.append("model", model);
  form.append("response_format", "json");
  form.append("temperature", "0");
  form.append("language", language.split(/[-_]/)[0]?.toLowerCase() ?? "");
  if (hints.length > 0) form.append("prompt", hints.join(", "));
  const what = { path: "/audio/transcriptions", form, firstMs: answerLimitMs };
  const text = textAt(await jsonOf(endpoint, await send(endpoint, what, signal)), "text");
  if (text !== undefined) return text;
  throw providerError("provider-bad-answer", `${endpoint.name} answered without a text`);
}

function wavOf(utterance: Utterance): Uint8Array<ArrayBuffer> {
  const sound = littleEndian(utterance.pcm);
  const header = wavHeader({ sampleRateHz: utterance.rateHz, channels: 1 }, sound.length);
  const wav = new Uint8Array(header.length + sound.length);
  wav.set(header);
  wav.set(sound, header.length);
  return wav;
}
