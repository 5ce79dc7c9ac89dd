import type { Log } from "#host";
import type { Transcriber } from "#talk";
import type { EarsProtocol, Heard } from "./ears-protocol.ts";
import { openEarsSession } from "./ears-session.ts";
import { addressOf, type Endpoint } from "./endpoint.ts";
import { numberAt, textAt, type JsonObject } from "./json-value.ts";
import type { StreamTimeline } from "./stream-timeline.ts";

/** `openai`: the session finds the turns itself. `vllm`: PCM at 16 kHz, a text for each `finalize`. */
export type RealtimeDialect = "openai" | "vllm";

export interface OpenAiRealtimeOptions {
  readonly endpoint: Endpoint;
  readonly model: string;
  readonly dialect: RealtimeDialect;
  readonly log: Log;
}

interface Session {
  readonly options: OpenAiRealtimeOptions;
  readonly language: string;
  readonly hints: readonly string[];
}

type Dialect = (session: Session) => EarsProtocol;

const silenceMs = 400;
const packetMs = 40;
/** Base64 and the JSON around 40 ms of µ-law. */
const overhead = 1.5;

const dialects: Readonly<Record<RealtimeDialect, Dialect>> = { openai, vllm };

/** `wss …/realtime` for transcription alone. */
export function openAiRealtime(options: OpenAiRealtimeOptions): Transcriber {
  const { endpoint, log, dialect } = options;
  return {
    capabilities: { streaming: true, turnDetection: dialect === "openai", finalWithinMs: 1700 },
    open: async ({ language, hints = [] }, signal) => {
      const session: Session = { options, language: language.split(/[-_]/)[0]?.toLowerCase() ?? "", hints };
      return openEarsSession({ endpoint, log, signal, protocol: () => dialects[dialect](session) });
    },
  };
}

function openai(session: Session): EarsProtocol {
  const items = new Items();
  const { endpoint, model } = session.options;
  return {
    address: addressOf(endpoint, "/realtime", [["intent", "transcription"]]),
    audio: { encoding: "mulaw", rateHz: 8000 },
    packetMs,
    hello: [
      JSON.stringify({
        type: "session.update",
        session: {
          type: "transcription",
          audio: {
            input: {
              format: { type: "audio/pcmu" },
              transcription: {
                model,
                ...(session.language === "" ? {} : { language: session.language }),
                ...(session.hints.length === 0 ? {} : { prompt: session.hints.join(", ") }),
              },
              turn_detection: { type: "server_vad", silence_duration_ms: silenceMs },
            },
          },
        },
      }),
    ],
    waitsForReady: true,
    packet: append,
    overhead,
    finalize: [JSON.stringify({ type: "input_audio_buffer.commit" })],
    finalizeStopsAudio: false,
    read: (message, timeline) => items.read(message, timeline),
  };
}

/** What is known of a stretch of speech before its text is final. */
interface Item {
  startMs: number | undefined;
  endMs: number | undefined;
  text: string;
}

/** The stretches of speech under way: their times come before their texts, and not always in order. */
class Items {
  readonly #items = new Map<string, Item>();

  read(message: JsonObject, timeline: StreamTimeline): readonly Heard[] {
    const item = this.#item(textAt(message, "item_id") ?? "");
    switch (message["type"]) {
      case "session.updated":
        return [{ type: "ready" }];
      case "input_audio_buffer.speech_started":
        item.startMs = timeline.callTime(numberAt(message, "audio_start_ms") ?? 0);
        return [{ type: "speech-started", atMs: item.startMs }];
      case "input_audio_buffer.speech_stopped":
        item.endMs = timeline.callTime(numberAt(message, "audio_end_ms") ?? 0);
        return [];
      case "conversation.item.input_audio_transcription.delta":
        item.text += textAt(message, "delta") ?? "";
        return item.text.trim() === ""
          ? []
          : [{ type: "partial", text: item.text.trim(), ...times(item, timeline) }];
      case "conversation.item.input_audio_transcription.completed":
        return this.#completed(message, timeline);
      case "conversation.item.input_audio_transcription.failed": {
        this.#items.delete(textAt(message, "item_id") ?? "");
        const reason = textAt(message, "error", "message") ?? "a part could not be transcribed";
        return [{ type: "degraded", reason, recoverable: true }];
      }
      case "error":
        return errorOf(message);
      default:
        return [];
    }
  }

  #completed(message: JsonObject, timeline: StreamTimeline): readonly Heard[] {
    const id = textAt(message, "item_id") ?? "";
    const item = this.#item(id);
    this.#items.delete(id);
    const text = (textAt(message, "transcript") ?? item.text).trim();
    if (text === "") return [];
    return [
      { type: "final", text, ...times(item, timeline) },
      { type: "turn-ended", text },
    ];
  }

  #item(id: string): Item {
    const known = this.#items.get(id);
    if (known !== undefined) return known;
    const item: Item = { startMs: undefined, endMs: undefined, text: "" };
    if (id !== "") this.#items.set(id, item);
    return item;
  }
}

/** vLLM: `commit` begins a transcription that takes audio until `commit` with `final`, and drops what comes before the next. */
function vllm(session: Session): EarsProtocol {
  const { endpoint, model } = session.options;
  const begin = JSON.stringify({ type: "input_audio_buffer.commit" });
  let text = "";
  let startMs: number | undefined;
  return {
    address: addressOf(endpoint, "/realtime"),
    audio: { encoding: "linear16", rateHz: 16_000 },
    packetMs,
    hello: [JSON.stringify({ type: "session.update", model }), begin],
    waitsForReady: true,
    packet: append,
    overhead,
    finalize: [JSON.stringify({ type: "input_audio_buffer.commit", final: true })],
    finalizeStopsAudio: true,
    read,
  };

  function read(message: JsonObject, timeline: StreamTimeline): readonly Heard[] {
    startMs ??= timeline.callTime(0);
    const endMs = timeline.endMs;
    switch (message["type"]) {
      case "session.created":
        return [{ type: "ready" }];
      case "transcription.delta":
        text += textAt(message, "delta") ?? "";
        return text.trim() === "" ? [] : [{ type: "partial", text: text.trim(), startMs, endMs }];
      case "transcription.done": {
        const whole = (textAt(message, "text") ?? text).trim();
        const final: Heard = { type: "final", text: whole, startMs, endMs };
        text = "";
        startMs = endMs;
        return [...(whole === "" ? [] : [final]), { type: "resume", say: [begin] }];
      }
      case "error":
        return errorOf(message);
      default:
        return [];
    }
  }
}

function append(octets: Uint8Array): string {
  return JSON.stringify({
    type: "input_audio_buffer.append",
    audio: Buffer.from(octets).toString("base64"),
  });
}

function times(item: Item, timeline: StreamTimeline): { startMs: number; endMs: number } {
  const endMs = item.endMs ?? timeline.endMs;
  return { startMs: item.startMs ?? endMs, endMs };
}

/** Both forms: an object with a message, and vLLM's bare text. */
function errorOf(message: JsonObject): readonly Heard[] {
  const code = textAt(message, "error", "code") ?? textAt(message, "code") ?? "";
  // There was nothing to commit, or its last part is under way: no harm.
  if (code === "input_audio_buffer_commit_empty") return [];
  const words = textAt(message, "error", "message") ?? textAt(message, "error") ?? code;
  const type = textAt(message, "error", "type") ?? "";
  const passing = type === "server_error" || code === "session_expired" || code === "processing_error";
  return [{ type: "failed", words, passing }];
}
