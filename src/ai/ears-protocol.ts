import type { HearEvent } from "#talk";
import type { JsonObject } from "./json-value.ts";
import type { WireAudio } from "./frame-encoder.ts";
import type { StreamTimeline } from "./stream-timeline.ts";

/** What a message of a transcription socket means. */
export type Heard =
  | HearEvent
  /** Audio may flow. */
  | { readonly type: "ready" }
  /** Audio may flow again after a `finalize` that stopped it, once these were said. */
  | { readonly type: "resume"; readonly say: readonly string[] }
  /** The provider cannot go on. `passing`: a new connection may help. */
  | { readonly type: "failed"; readonly words: string; readonly passing: boolean };

/** One connection of a streaming transcriber in its vendor's words; it may remember what it read. */
export interface EarsProtocol {
  readonly address: URL;
  readonly audio: WireAudio;
  /** Audio in one message. */
  readonly packetMs: number;
  /** Said when the socket opens. */
  readonly hello: readonly string[];
  /** Whether audio waits for `ready`. */
  readonly waitsForReady: boolean;
  packet(octets: Uint8Array): Uint8Array | string;
  /** Octets of a message that are no audio, as a factor on the audio. */
  readonly overhead: number;
  /** Said when nothing was sent for `everyMs`. */
  readonly keepAlive?: { readonly say: string; readonly everyMs: number };
  /** Said to have the final text now. */
  readonly finalize: readonly string[];
  /** Whether audio waits, after `finalize`, for `resume`. */
  readonly finalizeStopsAudio: boolean;
  /** Said at the end. */
  readonly goodbye?: string;
  /** Times of the stream become times of the call by the timeline. Unknown messages mean nothing. */
  read(message: JsonObject, timeline: StreamTimeline): readonly Heard[];
}
