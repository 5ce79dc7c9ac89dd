/*
 * One sub-band of ITU-T G.722: adaptive quantiser scale and the pole-zero predictor, in the recommendation's 16-bit
 * fixed-point arithmetic (its block names are in the comments), so that both ends stay in step.
 */

/** Scale factors from their logarithm: 2048 · 2^(i/32). */
const inverseLog = Int16Array.from([
  2048, 2093, 2139, 2186, 2233, 2282, 2332, 2383, 2435, 2489, 2543, 2599, 2656, 2714, 2774, 2834, 2896, 2960,
  3025, 3091, 3158, 3228, 3298, 3371, 3444, 3520, 3597, 3676, 3756, 3838, 3922, 4008,
]);
const zeros = 6;

/** What distinguishes the two bands. */
interface BandShape {
  /** Scale at the start. */
  readonly scale: number;
  /** Largest logarithm of the scale. */
  readonly mostLog: number;
  /** Octaves by which the scale of this band is finer. */
  readonly octaves: number;
}

export const lowBand: BandShape = { scale: 32, mostLog: 18_432, octaves: 8 };
export const highBand: BandShape = { scale: 8, mostLog: 22_528, octaves: 10 };

/** The state that encoder and decoder keep of a band, moved on by what was transmitted alone. */
export class Band {
  readonly #shape: BandShape;
  /** Quantised differences, newest first; index 0 is the present one. */
  readonly #differences = new Int32Array(zeros + 1);
  readonly #zeroCoefficients = new Int32Array(zeros + 1);
  #log = 0;
  #scale: number;
  #estimate = 0;
  #zeroEstimate = 0;
  #pole1 = 0;
  #pole2 = 0;
  #partial1 = 0;
  #partial2 = 0;
  #signal1 = 0;

  constructor(shape: BandShape) {
    this.#shape = shape;
    this.#scale = shape.scale;
  }

  /** Step of the quantiser. */
  get scale(): number {
    return this.#scale;
  }

  /** What the next sample is expected to be. */
  get estimate(): number {
    return this.#estimate;
  }

  /** LOGSCL, SCALEL/LOGSCH, SCALEH: the scale after a code of this weight. */
  rescale(weight: number): void {
    const { mostLog, octaves } = this.#shape;
    this.#log = Math.max(0, Math.min(mostLog, ((this.#log * 127) >> 7) + weight));
    const shift = octaves - (this.#log >> 11);
    const mantissa = inverseLog[(this.#log >> 6) & 31] ?? 0;
    this.#scale = (shift < 0 ? mantissa << -shift : mantissa >> shift) << 2;
  }

  /** Moves the predictor on by a quantised difference. */
  adapt(difference: number): void {
    const signal = clamp16(this.#estimate + difference); // RECONS
    const partial = clamp16(this.#zeroEstimate + difference); // PARREC
    this.#adaptPoles(partial);
    this.#partial2 = this.#partial1;
    this.#partial1 = partial;
    const zero = this.#adaptZeros(difference);
    const pole =
      ((this.#pole1 * clamp16(2 * signal)) >> 15) + ((this.#pole2 * clamp16(2 * this.#signal1)) >> 15); // FILTEP
    this.#signal1 = signal;
    this.#zeroEstimate = zero;
    this.#estimate = clamp16(clamp16(pole) + zero); // PREDIC
  }

  /** UPPOL2, UPPOL1 */
  #adaptPoles(partial: number): void {
    const sign = partial >> 15;
    const agrees1 = sign === this.#partial1 >> 15;
    const agrees2 = sign === this.#partial2 >> 15;
    const four = clamp16(this.#pole1 << 2);
    const push = agrees1 ? Math.min(32_767, -four) : four;
    const moved = (push >> 7) + (agrees2 ? 128 : -128) + ((this.#pole2 * 32_512) >> 15);
    const pole2 = Math.max(-12_288, Math.min(12_288, moved));
    const limit = clamp16(15_360 - pole2);
    const pole1 = clamp16((agrees1 ? 192 : -192) + ((this.#pole1 * 32_640) >> 15));
    this.#pole1 = Math.max(-limit, Math.min(limit, pole1));
    this.#pole2 = pole2;
  }

  /** UPZERO, DELAYA, FILTEZ: answers what the zeros make of the differences so far. */
  #adaptZeros(difference: number): number {
    const differences = this.#differences;
    const coefficients = this.#zeroCoefficients;
    const step = difference === 0 ? 0 : 128;
    const sign = difference >> 15;
    differences[0] = difference;
    let sum = 0;
    for (let i = zeros; i > 0; i--) {
      const towards = (differences[i] ?? 0) >> 15 === sign ? step : -step;
      const coefficient = clamp16(towards + (((coefficients[i] ?? 0) * 32_640) >> 15));
      const moved = differences[i - 1] ?? 0;
      coefficients[i] = coefficient;
      differences[i] = moved;
      sum += (coefficient * clamp16(2 * moved)) >> 15;
    }
    return clamp16(sum);
  }
}

export function clamp16(value: number): number {
  return value > 32_767 ? 32_767 : value < -32_768 ? -32_768 : value;
}
