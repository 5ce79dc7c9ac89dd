import type { Log } from "#host";
import type { Transcriber } from "#talk";
import type { EarsProtocol, Heard } from "./ears-protocol.ts";
import { openEarsSession } from "./ears-session.ts";
import { addressOf, type Endpoint } from "./endpoint.ts";
import { listAt, numberAt, textAt, type JsonObject } from "./json-value.ts";
import type { StreamTimeline } from "./stream-timeline.ts";

export interface DeepgramOptions {
  readonly endpoint: Endpoint;
  readonly model: string;
  readonly log: Log;
}

interface Request {
  readonly language: string;
  readonly hints?: readonly string[];
}

/** Silence after which the provider calls the end of speech. */
const endpointingMs = 300;
/** Pause between words after which it calls the end of an utterance, the least it takes. */
const utteranceEndMs = 1000;
/** It hangs up after 10 s without a word from us. */
const keepAliveMs = 4000;
/** Languages with regions it knows; of any other tag it gets the language alone. */
const regional = [
  "de-CH",
  "en-AU",
  "en-GB",
  "en-IN",
  "en-NZ",
  "en-US",
  "es-419",
  "fr-CA",
  "nl-BE",
  "pt-BR",
  "pt-PT",
  "zh-CN",
  "zh-HK",
  "zh-TW",
];

/** Deepgram's live transcription, `wss …/v1/listen`, fed with µ-law. */
export function deepgramListen(options: DeepgramOptions): Transcriber {
  return {
    capabilities: { streaming: true, turnDetection: true, finalWithinMs: 350 },
    open: async (request, signal) =>
      openEarsSession({
        endpoint: options.endpoint,
        log: options.log,
        signal,
        protocol: () => protocolFor(options, request),
      }),
  };
}

function protocolFor(options: DeepgramOptions, request: Request): EarsProtocol {
  const turn = new Turn();
  return {
    address: addressOf(options.endpoint, "/v1/listen", [
      ["model", options.model],
      ["language", deepgramLanguage(request.language)],
      ["encoding", "mulaw"],
      ["sample_rate", "8000"],
      ["channels", "1"],
      ["interim_results", "true"],
      ["punctuate", "true"],
      ["endpointing", String(endpointingMs)],
      ["utterance_end_ms", String(utteranceEndMs)],
      ["vad_events", "true"],
      ...(request.hints ?? []).map((hint) => [hintName(options.model), hint] as const),
    ]),
    audio: { encoding: "mulaw", rateHz: 8000 },
    packetMs: 20,
    hello: [],
    waitsForReady: false,
    packet: (octets) => octets,
    overhead: 1,
    keepAlive: { say: JSON.stringify({ type: "KeepAlive" }), everyMs: keepAliveMs },
    finalize: [JSON.stringify({ type: "Finalize" })],
    finalizeStopsAudio: false,
    goodbye: JSON.stringify({ type: "CloseStream" }),
    read: (message, timeline) => turn.read(message, timeline),
  };
}

/** The turn under way: the final pieces that make its text. */
class Turn {
  #pieces: string[] = [];

  read(message: JsonObject, timeline: StreamTimeline): readonly Heard[] {
    switch (message["type"]) {
      case "Results":
        return this.#results(message, timeline);
      case "SpeechStarted": {
        const atMs = timeline.callTime((numberAt(message, "timestamp") ?? 0) * 1000);
        return [{ type: "speech-started", atMs }];
      }
      case "UtteranceEnd":
        return this.#end();
      case "Error":
        return [failure(message)];
      default:
        return [];
    }
  }

  #results(message: JsonObject, timeline: StreamTimeline): readonly Heard[] {
    const text = textAt(message, "channel", "alternatives", 0, "transcript")?.trim() ?? "";
    const heard: Heard[] = [];
    if (text !== "") {
      const spoken = { text, ...timesOf(message, timeline) };
      if (message["is_final"] === true) {
        this.#pieces.push(text);
        heard.push({ type: "final", ...spoken, ...confidenceOf(message) });
      } else heard.push({ type: "partial", ...spoken });
    }
    if (message["speech_final"] === true) heard.push(...this.#end());
    // Who asked for the text has taken it: the next turn starts anew.
    else if (message["from_finalize"] === true) this.#pieces = [];
    return heard;
  }

  #end(): readonly Heard[] {
    const text = this.#pieces.join(" ");
    this.#pieces = [];
    return text === "" ? [] : [{ type: "turn-ended", text }];
  }
}

/** From the first word to the last; of the whole piece when words are missing. */
function timesOf(message: JsonObject, timeline: StreamTimeline): { startMs: number; endMs: number } {
  const words = listAt(message, "channel", "alternatives", 0, "words");
  const start = numberAt(words[0], "start") ?? numberAt(message, "start") ?? 0;
  const whole = (numberAt(message, "start") ?? 0) + (numberAt(message, "duration") ?? 0);
  const end = numberAt(words.at(-1), "end") ?? whole;
  return { startMs: timeline.callTime(start * 1000), endMs: timeline.callTime(end * 1000) };
}

function confidenceOf(message: JsonObject): { confidence?: number; language?: string } {
  const confidence = numberAt(message, "channel", "alternatives", 0, "confidence");
  const language = textAt(message, "channel", "alternatives", 0, "languages", 0);
  return {
    ...(confidence === undefined ? {} : { confidence }),
    ...(language === undefined ? {} : { language }),
  };
}

/** An error message of either version of the protocol. */
export function failure(message: JsonObject): Heard {
  const words =
    textAt(message, "description") ?? textAt(message, "message") ?? textAt(message, "code") ?? "no reason";
  const code = textAt(message, "code") ?? "";
  return { type: "failed", words, passing: /INTERNAL|TIMEOUT|NET-|UNAVAILABLE/.test(code) };
}

function deepgramLanguage(tag: string): string {
  const wanted = tag.replaceAll("_", "-").toLowerCase();
  const known = regional.find((name) => name.toLowerCase() === wanted);
  return known ?? wanted.split("-")[0] ?? wanted;
}

/** Nova 3 knows key terms, the models before it keywords. */
function hintName(model: string): "keyterm" | "keywords" {
  return model.startsWith("nova-3") ? "keyterm" : "keywords";
}
