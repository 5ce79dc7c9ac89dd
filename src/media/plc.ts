import { frameSamples } from "./frame.ts";

const historySamples = 390; // 48.75 ms, G.711 Appendix I
const shortestPitch = 40; // 200 Hz
const longestPitch = 120; // 66 Hz
const matchSamples = 160; // what is compared to find the pitch
const tenMs = 80;
const silentAfter = 6 * tenMs;

/**
 * Fills lost sound by repeating the last pitch periods, fading to silence in 60 ms (the method of ITU-T G.711
 * Appendix I, without its 3.75 ms of added delay). A frame is built in `frame`, run by run, then committed.
 */
export class Concealer {
  /** History, then the frame in the making. */
  readonly #line = new Int16Array(historySamples + frameSamples);
  /** The frame in the making: put what was heard here, then call `heard`. */
  readonly frame: Int16Array = this.#line.subarray(historySamples);
  /** What is repeated: the end of the history when the loss began. */
  readonly #wave = new Float32Array(historySamples);
  /** As `#wave`, its end blended so that jumping back by the repeated length makes no step. */
  readonly #loop = new Float32Array(historySamples);
  #pitch = longestPitch;
  #periods = 1;
  #at = 0;
  /** Samples made up since the loss began; 0: no loss. Before the first sound there is silence. */
  #lost = silentAfter;
  /** Difference between the last true sample and the one the repetition would have had there. */
  #step = 0;
  /** Least and greatest sample of the history: what is made up stays between them. */
  #least = 0;
  #most = 0;

  /** True while nothing but silence is made up. */
  get silent(): boolean {
    return this.#lost >= silentAfter;
  }

  /** Samples `from` to `to` of `frame` are true sound; the first after a loss are blended with the repetition. */
  heard(from: number, to: number): void {
    if (this.#lost === 0) return;
    if (this.silent) {
      this.#lost = 0;
      return;
    }
    const blend = Math.min(to - from, tenMs, (this.#pitch >> 2) + (this.#lost >> 1));
    for (let i = 0; i < blend; i++) {
      const share = (i + 1) / (blend + 1);
      const at = from + i;
      this.frame[at] = share * (this.frame[at] ?? 0) + (1 - share) * this.#next();
    }
    this.#lost = 0;
  }

  /** Samples `from` to `to` of `frame` are missing: makes them up. */
  conceal(from: number, to: number): void {
    if (this.#lost === 0) this.#begin(from);
    if (this.silent) {
      this.frame.fill(0, from, to);
      return;
    }
    for (let i = from; i < to; i++) this.frame[i] = this.#next();
  }

  /** The frame is whole: copies it to `out` and makes it history. */
  commit(out: Int16Array): void {
    out.set(this.frame);
    this.#line.copyWithin(0, frameSamples);
  }

  /** The next made-up sample. */
  #next(): number {
    const n = this.#lost++;
    if (n >= silentAfter) return 0;
    if (this.#at >= historySamples) this.#wrap(n);
    let sample = this.#loop[this.#at++] ?? 0;
    const ramp = this.#pitch >> 2;
    if (n < ramp) {
      sample += this.#step * (1 - (n + 1) / (ramp + 1));
      sample = Math.max(this.#least, Math.min(this.#most, sample));
    }
    return n < tenMs ? sample : sample * (1 - (0.2 * (n - tenMs)) / tenMs);
  }

  #begin(from: number): void {
    const wave = this.#wave;
    this.#least = 0;
    this.#most = 0;
    for (let i = 0; i < historySamples; i++) {
      const sample = this.#line[from + i] ?? 0;
      wave[i] = sample;
      if (sample < this.#least) this.#least = sample;
      if (sample > this.#most) this.#most = sample;
    }
    this.#pitch = findPitch(wave);
    this.#repeat(1);
    this.#step = (wave[historySamples - 1] ?? 0) - (wave[historySamples - 1 - this.#pitch] ?? 0);
  }

  /** At the end of the repeated piece: back to its start; the longer the loss, the more periods, lest it buzz. */
  #wrap(lost: number): void {
    this.#repeat(lost < tenMs ? 1 : lost < 2 * tenMs ? 2 : 3);
  }

  #repeat(periods: number): void {
    if (periods !== this.#periods || this.#lost === 0) {
      this.#periods = periods;
      const length = periods * this.#pitch;
      const ramp = Math.min(this.#pitch >> 2, historySamples - length);
      this.#loop.set(this.#wave);
      for (let i = 0; i < ramp; i++) {
        const at = historySamples - ramp + i;
        const share = (i + 1) / (ramp + 1);
        this.#loop[at] = (1 - share) * (this.#wave[at] ?? 0) + share * (this.#wave[at - length] ?? 0);
      }
    }
    this.#at = historySamples - this.#periods * this.#pitch;
  }
}

/** The lag, in samples, at which the end of `wave` is most like itself (normalised correlation). */
function findPitch(wave: Float32Array): number {
  const coarse = bestLag(wave, { from: shortestPitch, to: longestPitch, stride: 2 });
  return bestLag(wave, {
    from: Math.max(shortestPitch, coarse - 1),
    to: Math.min(longestPitch, coarse + 1),
    stride: 1,
  });
}

function bestLag(wave: Float32Array, search: { from: number; to: number; stride: number }): number {
  let best = search.from;
  let bestScore = -Infinity;
  for (let lag = search.from; lag <= search.to; lag += search.stride) {
    let product = 0;
    let energy = 1;
    for (let i = historySamples - matchSamples; i < historySamples; i += search.stride) {
      const past = wave[i - lag] ?? 0;
      product += past * (wave[i] ?? 0);
      energy += past * past;
    }
    const score = product / Math.sqrt(energy);
    if (score > bestScore) {
      bestScore = score;
      best = lag;
    }
  }
  return best;
}
