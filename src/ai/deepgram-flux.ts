import type { Transcriber } from "#talk";
import { failure, type DeepgramOptions } from "./deepgram-listen.ts";
import type { EarsProtocol, Heard } from "./ears-protocol.ts";
import { openEarsSession } from "./ears-session.ts";
import { addressOf } from "./endpoint.ts";
import { listAt, numberAt, textAt, type JsonObject } from "./json-value.ts";
import type { StreamTimeline } from "./stream-timeline.ts";

/** The provider advises 80 ms at a time. */
const packetMs = 80;
/** How sure it must be that a turn may be over before it says so early. */
const eagerThreshold = 0.5;

/**
 * Deepgram Flux, `wss …/v2/listen`: a transcriber that knows itself when a turn ends, and says early when it may.
 * It has no message for `finalize` that every account may use: its own end of the turn is the final text.
 */
export function deepgramFlux(options: DeepgramOptions): Transcriber {
  return {
    capabilities: { streaming: true, turnDetection: true, finalWithinMs: 300 },
    open: async (request, signal) =>
      openEarsSession({
        endpoint: options.endpoint,
        log: options.log,
        signal,
        protocol: () => protocolFor(options, request),
      }),
  };
}

function protocolFor(
  options: DeepgramOptions,
  request: { readonly language: string; readonly hints?: readonly string[] },
): EarsProtocol {
  const language = request.language.split(/[-_]/)[0]?.toLowerCase() ?? "";
  return {
    address: addressOf(options.endpoint, "/v2/listen", [
      ["model", options.model],
      ["encoding", "mulaw"],
      ["sample_rate", "8000"],
      ["eager_eot_threshold", String(eagerThreshold)],
      ...(options.model.endsWith("-multi") && language !== "" ? [["language_hint", language] as const] : []),
      ...(request.hints ?? []).map((hint) => ["keyterm", hint] as const),
    ]),
    audio: { encoding: "mulaw", rateHz: 8000 },
    packetMs,
    hello: [],
    waitsForReady: false,
    packet: (octets) => octets,
    overhead: 1,
    finalize: [],
    finalizeStopsAudio: false,
    goodbye: JSON.stringify({ type: "CloseStream" }),
    read,
  };
}

function read(message: JsonObject, timeline: StreamTimeline): readonly Heard[] {
  if (message["type"] === "Error") return [failure(message)];
  if (message["type"] !== "TurnInfo") return [];
  const text = textAt(message, "transcript")?.trim() ?? "";
  const spoken = { text, ...timesOf(message, timeline) };
  const partial: readonly Heard[] = text === "" ? [] : [{ type: "partial", ...spoken }];
  switch (message["event"]) {
    case "StartOfTurn":
      return [{ type: "speech-started", atMs: spoken.startMs }, ...partial];
    case "Update":
      return partial;
    case "EagerEndOfTurn":
      return [{ type: "turn-ending", text }];
    case "TurnResumed":
      return [{ type: "turn-resumed" }];
    case "EndOfTurn": {
      if (text === "") return [];
      return [
        { type: "final", ...spoken, ...surenessOf(message) },
        { type: "turn-ended", text },
      ];
    }
    default:
      return [];
  }
}

function timesOf(message: JsonObject, timeline: StreamTimeline): { startMs: number; endMs: number } {
  const words = listAt(message, "words");
  const start = numberAt(words[0], "start") ?? numberAt(message, "audio_window_start") ?? 0;
  const end = numberAt(words.at(-1), "end") ?? numberAt(message, "audio_window_end") ?? start;
  return { startMs: timeline.callTime(start * 1000), endMs: timeline.callTime(end * 1000) };
}

/** The mean of the words' confidences, and the language most of them are in. */
function surenessOf(message: JsonObject): { confidence?: number; language?: string } {
  const sure = listAt(message, "words").flatMap((word) => numberAt(word, "confidence") ?? []);
  const language = textAt(message, "languages", 0);
  return {
    ...(sure.length === 0 ? {} : { confidence: sure.reduce((sum, one) => sum + one, 0) / sure.length }),
    ...(language === undefined ? {} : { language }),
  };
}
