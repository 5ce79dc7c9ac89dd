import type { HeardFrame } from "#talk";
import { Resampler, SpeechDetector } from "#media";

/** A stretch of speech, with a little before it. */
export interface Utterance {
  readonly pcm: Int16Array;
  readonly rateHz: HeardFrame["rateHz"];
  readonly startMs: number;
  readonly endMs: number;
}

/** What a frame brought. */
export type Cut =
  | { readonly type: "speech-started"; readonly atMs: number }
  | { readonly type: "utterance"; readonly utterance: Utterance };

const frameMs = 20;
/** The beginning of a word is softer than what the detector notices. */
const leadMs = 300;
/** Whoever does not ask for the text gets it after this much silence. */
const hangMs = 800;
/** Providers refuse or forget what is much longer. */
const longestMs = 30_000;
/** A click is no word. */
const shortestMs = 120;

/** Finds the stretches of speech in a line's frames. */
export class UtteranceCutter {
  readonly #detector = new SpeechDetector({ hangMs });
  #resampler: Resampler | undefined;
  #frames: HeardFrame[] = [];
  #speaking = false;
  #spokenMs = 0;

  push(frame: HeardFrame): readonly Cut[] {
    const cuts: Cut[] = [];
    const speaking = this.#detects(frame);
    // The line may use its frame again.
    this.#frames.push({ pcm: frame.pcm.slice(), rateHz: frame.rateHz, atMs: frame.atMs });
    if (speaking) this.#spokenMs += frameMs;
    if (speaking && !this.#speaking) cuts.push({ type: "speech-started", atMs: frame.atMs });
    const over = this.#speaking && !speaking;
    this.#speaking = speaking;
    if (over || this.#frames.length * frameMs >= longestMs) cuts.push(...this.cut());
    if (!speaking) this.#frames = this.#frames.slice(-leadMs / frameMs);
    return cuts;
  }

  /** Ends the utterance now; nothing when nobody spoke since the last. */
  cut(): readonly Cut[] {
    const frames = this.#frames;
    const spokenMs = this.#spokenMs;
    this.#frames = [];
    this.#spokenMs = 0;
    const [first, last] = [frames[0], frames.at(-1)];
    if (first === undefined || last === undefined || spokenMs < shortestMs) return [];
    const { rateHz, atMs: startMs } = first;
    const same = frames.filter((frame) => frame.rateHz === rateHz);
    const pcm = new Int16Array(same.reduce((sum, frame) => sum + frame.pcm.length, 0));
    let at = 0;
    for (const frame of same) {
      pcm.set(frame.pcm, at);
      at += frame.pcm.length;
    }
    return [{ type: "utterance", utterance: { pcm, rateHz, startMs, endMs: last.atMs + frameMs } }];
  }

  #detects(frame: HeardFrame): boolean {
    if (frame.rateHz === 8000) return this.#detector.push(frame.pcm);
    this.#resampler ??= new Resampler(frame.rateHz, 8000);
    const narrow = new Int16Array(160);
    narrow.set(this.#resampler.push(frame.pcm).subarray(0, 160));
    return this.#detector.push(narrow);
  }
}
