import { frameSamples } from "./frame.ts";
import { Concealer } from "./plc.ts";

const capacity = 16_384; // samples, 2 s; a power of two
const mask = capacity - 1;
const initialDepth = 2 * frameSamples;
const deepest = 25 * frameSamples; // 500 ms: beyond it the oldest sound is given up
const slack = 240; // 30 ms: what may stay unused before the buffer gets shorter
const windowPulls = 100; // 2 s
const patiencePulls = 25; // how long a change of depth waits for a quiet moment
const quietLevel = 200; // mean magnitude
const seamSamples = 40;
const rememberedSequences = 512;

/** `heard`: at least half of the frame came from the peer; `concealed`: a loss was filled; `silent`: nothing. */
export type FrameOrigin = "heard" | "concealed" | "silent";

/**
 * Puts the peer's samples in order and gives them out in 20 ms frames. Samples are kept by RTP timestamp, so any
 * packet length will do. The delay grows when packets come late and shrinks when the last seconds did not need it.
 */
export class JitterBuffer {
  readonly #ring = new Int16Array(capacity);
  readonly #present = new Uint8Array(capacity);
  readonly #sequences = new Int32Array(rememberedSequences).fill(-1);
  readonly #concealer = new Concealer();
  #started = false;
  /** Timestamp of the next sample to play. */
  #playAt = 0;
  /** Timestamp after the newest sample. */
  #newest = 0;
  #newestSequence = 0;
  /** Samples made up while the buffer was empty, since the last packet. */
  #held = 0;
  /** The peer has said that it is silent: what does not come is not lost. */
  #resting = false;
  /** Frames by which the delay is to grow, and how long that has waited. */
  #toInsert = 0;
  #toDrop = 0;
  #waited = 0;
  /** The least time, in samples, that a packet came before it was due: in this window. */
  #margin = Infinity;
  #pulls = 0;
  #late = 0;
  #duplicates = 0;
  #concealedFrames = 0;

  /** Packets that came after their time. */
  get late(): number {
    return this.#late;
  }

  /** Packets that came twice. */
  get duplicates(): number {
    return this.#duplicates;
  }

  /** Sound made up so far. */
  get concealedMs(): number {
    return this.#concealedFrames * 20;
  }

  /** Sound that waits to be played. */
  get depthMs(): number {
    return this.#started ? Math.max(0, this.#depth()) / 8 : 0;
  }

  /** Whether the peer has said that it is silent. */
  get resting(): boolean {
    return this.#resting;
  }

  /** Forgets the source: the next packet starts anew. For a change of SSRC. */
  reset(): void {
    this.#started = false;
    this.#resting = false;
    this.#sequences.fill(-1);
  }

  /** Whether a packet was taken already: to decode it again would lead a codec with memory astray. */
  has(sequence: number): boolean {
    return this.#sequences[sequence % rememberedSequences] === sequence;
  }

  /** The peer is silent after this packet until its next sound: the gap is no loss. */
  rest(sequence: number): void {
    if (((sequence - this.#newestSequence) << 16) >> 16 < 0 && this.#started) return;
    this.#newestSequence = sequence;
    this.#resting = true;
  }

  /** Takes the first `length` samples of `pcm`. Late and repeated ones are counted and dropped. */
  push(sequence: number, timestamp: number, pcm: Int16Array, length: number): void {
    if (length <= 0 || length > deepest) return;
    if (this.has(sequence)) {
      this.#duplicates++;
      return;
    }
    this.#sequences[sequence % rememberedSequences] = sequence;
    if (!this.#started) this.#start(sequence, timestamp);
    else if (this.#held > 0) this.#resume(timestamp);
    const newer = (sequence - this.#newestSequence) << 16 >= 0;
    let ahead = (timestamp - this.#playAt) | 0;
    if (ahead > capacity - length || (ahead < -capacity / 2 && newer)) {
      this.#start(sequence, timestamp);
      ahead = initialDepth;
    }
    if (newer) {
      this.#newestSequence = sequence;
      this.#resting = false;
    }
    if (ahead < this.#margin) this.#margin = ahead;
    if (ahead + length <= 0) {
      this.#late++;
      this.#toInsert = Math.max(this.#toInsert, Math.min(10, Math.ceil(-ahead / frameSamples)));
      return;
    }
    this.#store(timestamp, pcm, length);
  }

  /** Fills `out` (160 samples) with the next frame. */
  pull(out: Int16Array): FrameOrigin {
    const wasSilent = this.#concealer.silent;
    let present = 0;
    if (this.#started) {
      this.#adapt();
      if (this.#depth() <= 0) this.#hold();
      else if (this.#mayInsert()) this.#concealer.conceal(0, frameSamples);
      else present = this.#take();
    } else this.#concealer.conceal(0, frameSamples);
    this.#concealer.commit(out);
    if (2 * present >= frameSamples) return "heard";
    if (present === 0 && (wasSilent || this.#resting)) return "silent";
    this.#concealedFrames++;
    return "concealed";
  }

  #depth(): number {
    return (this.#newest - this.#playAt) | 0;
  }

  #start(sequence: number, timestamp: number): void {
    this.#started = true;
    this.#present.fill(0);
    this.#playAt = (timestamp - initialDepth) >>> 0;
    this.#newest = timestamp;
    this.#newestSequence = sequence;
    this.#held = 0;
    this.#toInsert = 0;
    this.#toDrop = 0;
    this.#margin = Infinity;
    this.#pulls = 0;
  }

  /** Nothing to play: time stands still, so that what is merely late is not lost. */
  #hold(): void {
    this.#held += frameSamples;
    this.#concealer.conceal(0, frameSamples);
  }

  /** The first packet after a dry spell: a gap in its timestamps has been spent holding. */
  #resume(timestamp: number): void {
    if (this.#depth() <= 0) {
      const gap = (timestamp - this.#playAt) | 0;
      if (gap > 0) this.#playAt = (this.#playAt + Math.min(gap, this.#held)) >>> 0;
    }
    this.#held = 0;
  }

  #store(timestamp: number, pcm: Int16Array, length: number): void {
    const skipped = Math.max(0, (this.#playAt - timestamp) | 0);
    for (let i = skipped; i < length; i++) {
      const at = (timestamp + i) & mask;
      this.#ring[at] = pcm[i] ?? 0;
      this.#present[at] = 1;
    }
    const end = (timestamp + length) >>> 0;
    if (((end - this.#newest) | 0) > 0) this.#newest = end;
    const excess = this.#depth() - deepest;
    if (excess > 0) this.#discard(Math.ceil(excess / frameSamples) * frameSamples);
  }

  #discard(samples: number): void {
    for (let i = 0; i < samples; i++) this.#present[(this.#playAt + i) & mask] = 0;
    this.#playAt = (this.#playAt + samples) >>> 0;
  }

  /** Once a window: a margin that no packet needed is given back, a frame at a time or faster when it is large. */
  #adapt(): void {
    if (++this.#pulls >= windowPulls) {
      if (this.#margin !== Infinity && this.#margin >= slack) {
        this.#toDrop = Math.max(1, Math.floor((this.#margin - 2 * frameSamples) / frameSamples));
        this.#toInsert = 0;
      }
      this.#margin = Infinity;
      this.#pulls = 0;
    }
    if (this.#toInsert > 0) this.#toDrop = 0;
  }

  /** Whether to make up a frame now so as to gain delay: at a loss or in a quiet moment, but not for ever. */
  #mayInsert(): boolean {
    if (this.#toInsert === 0 || !this.#isMoment()) return false;
    this.#toInsert--;
    return true;
  }

  #isMoment(): boolean {
    if (++this.#waited < patiencePulls && !this.#isQuiet()) return false;
    this.#waited = 0;
    return true;
  }

  #isQuiet(): boolean {
    let magnitude = 0;
    for (let i = 0; i < frameSamples; i += 8) {
      const at = (this.#playAt + i) & mask;
      if (this.#present[at] === 0) return true;
      magnitude += Math.abs(this.#ring[at] ?? 0);
    }
    return magnitude < (quietLevel * frameSamples) / 8;
  }

  /** Takes the next frame off the ring; answers how many of its samples were there. */
  #take(): number {
    if (this.#toDrop > 0 && this.#depth() >= 2 * frameSamples && this.#isMoment()) this.#dropOne();
    const frame = this.#concealer.frame;
    let present = 0;
    let from = 0;
    while (from < frameSamples) {
      const there = this.#present[(this.#playAt + from) & mask] ?? 0;
      let to = from;
      while (to < frameSamples && this.#present[(this.#playAt + to) & mask] === there) {
        const at = (this.#playAt + to) & mask;
        if (there === 1) frame[to] = this.#ring[at] ?? 0;
        this.#present[at] = 0;
        to++;
      }
      if (there === 1) {
        this.#concealer.heard(from, to);
        present += to - from;
      } else this.#concealer.conceal(from, to);
      from = to;
    }
    this.#playAt = (this.#playAt + frameSamples) >>> 0;
    return present;
  }

  /** Leaves one frame out, blending into the one after it. */
  #dropOne(): void {
    this.#toDrop--;
    for (let i = 0; i < seamSamples; i++) {
      const before = (this.#playAt + i) & mask;
      const after = (before + frameSamples) & mask;
      if (this.#present[before] === 0 || this.#present[after] === 0) break;
      const share = (i + 1) / (seamSamples + 1);
      this.#ring[after] = (1 - share) * (this.#ring[before] ?? 0) + share * (this.#ring[after] ?? 0);
    }
    this.#discard(frameSamples);
  }
}
