import type { PieceRequest, WordMark } from "./speech-protocol.ts";

/** Something that turns one piece of text into sound inside the speech process. */
export interface Engine {
  /** Name and version, for people. */
  readonly name: string;
  /** Resolves when the whole piece was handed to `emit`; rejects when the voice is unknown or the engine failed. */
  speak(request: PieceRequest, emit: Emit): Promise<void>;
}

/** Takes the next samples (22 050 Hz mono) and the words that begin in them. The array is the taker's. */
export type Emit = (pcm: Int16Array, words: readonly WordMark[]) => void;
