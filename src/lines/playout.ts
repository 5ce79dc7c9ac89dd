import { frameSamples, sampleRateHz } from "#media";

const tailSamples = 32; // 4 ms from the last sample to silence: no clicks
const samplesPerMs = sampleRateHz / 1000;

/** What became of a segment that was cut. */
export interface CutSegment {
  readonly segmentId: number;
  readonly playedMs: number;
  /** Of what had been queued so far. */
  readonly totalMs: number;
}

interface Segment {
  readonly id: number;
  readonly chunks: Int16Array[];
  /** Samples taken from the first chunk. */
  offset: number;
  played: number;
  total: number;
  finished: boolean;
}

/** The queue of what is to be said: segments in order of first appearance, given out in 20 ms frames. */
export class Playout {
  readonly #segments: Segment[] = [];
  #paused = false;
  #queued = 0;
  #last = 0;
  #underruns = 0;
  #dry = true;

  get queuedMs(): number {
    return this.#queued / samplesPerMs;
  }

  /** How often a segment that had begun ran out of sound before its end. */
  get underruns(): number {
    return this.#underruns;
  }

  /** Appends 8 kHz sound, which must not be changed afterwards; an unknown id begins a segment. */
  append(segmentId: number, pcm: Int16Array): void {
    let segment = this.#segments.find((each) => each.id === segmentId && !each.finished);
    if (segment === undefined) {
      segment = { id: segmentId, chunks: [], offset: 0, played: 0, total: 0, finished: false };
      this.#segments.push(segment);
    }
    if (pcm.length > 0) segment.chunks.push(pcm);
    segment.total += pcm.length;
    this.#queued += pcm.length;
  }

  /** Nothing more comes for the segment; an unknown one is of no interest. */
  finish(segmentId: number): void {
    const segment = this.#segments.find((each) => each.id === segmentId);
    if (segment !== undefined) segment.finished = true;
  }

  pause(): void {
    this.#paused = true;
  }

  resume(): void {
    this.#paused = false;
  }

  /** Empties the queue and ends a pause; tells what of each segment was played. */
  clear(): readonly CutSegment[] {
    const cut = this.#segments.map(({ id, played, total }) => ({
      segmentId: id,
      playedMs: played / samplesPerMs,
      totalMs: total / samplesPerMs,
    }));
    this.#segments.length = 0;
    this.#queued = 0;
    this.#paused = false;
    return cut;
  }

  /** Fills `out` (160 samples); true when some of it is sound from the queue. Tells `onPlayed` of segments that end with it. */
  pull(out: Int16Array, onPlayed: (segmentId: number) => void): boolean {
    let filled = 0;
    let ended = 0;
    if (!this.#paused) {
      for (const segment of this.#segments) {
        filled = this.#take(segment, out, filled);
        if (!segment.finished || segment.chunks.length > 0) break;
        ended++;
      }
      this.#noteUnderrun(filled, ended);
    }
    if (filled < frameSamples) this.#fade(out, filled);
    else this.#last = out[frameSamples - 1] ?? 0;
    for (; ended > 0; ended--) {
      const segment = this.#segments.shift();
      if (segment !== undefined) onPlayed(segment.id);
    }
    return filled > 0;
  }

  /** Copies from the segment into `out` from `filled` on; answers how much is filled then. */
  #take(segment: Segment, out: Int16Array, filled: number): number {
    let to = filled;
    for (let chunk = segment.chunks[0]; chunk !== undefined && to < frameSamples; chunk = segment.chunks[0]) {
      const count = Math.min(frameSamples - to, chunk.length - segment.offset);
      for (let i = 0; i < count; i++) out[to + i] = chunk[segment.offset + i] ?? 0;
      to += count;
      segment.offset += count;
      if (segment.offset === chunk.length) {
        segment.chunks.shift();
        segment.offset = 0;
      }
    }
    segment.played += to - filled;
    this.#queued -= to - filled;
    return to;
  }

  #noteUnderrun(filled: number, ended: number): void {
    const segment = this.#segments[ended];
    const dry = filled < frameSamples && segment !== undefined && segment.played > 0;
    if (dry && !this.#dry) this.#underruns++;
    this.#dry = dry;
  }

  /** Silence from `from` on, reached softly. */
  #fade(out: Int16Array, from: number): void {
    const last = from > 0 ? (out[from - 1] ?? 0) : this.#last;
    for (let i = from; i < frameSamples; i++) {
      const step = i - from + 1;
      out[i] = step < tailSamples ? last * (1 - step / tailSamples) : 0;
    }
    this.#last = out[frameSamples - 1] ?? 0;
  }
}
