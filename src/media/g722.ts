import type { OctetRun } from "./g711.ts";
import { Band, clamp16, highBand, lowBand } from "./g722-band.ts";

/** Half of the symmetric 24-tap filter that splits and joins the bands (ITU-T G.722). */
const mirror = Int16Array.of(3, -11, 12, 32, -210, 951, 3876, -805, 362, -156, 53, -11);
const taps = 24;

/** Decision levels of the low band's 6-bit quantiser from level 1 on. */
const levels = Int16Array.from([
  35, 72, 110, 150, 190, 233, 276, 323, 370, 422, 473, 530, 587, 650, 714, 786, 858, 940, 1023, 1121, 1219,
  1339, 1458, 1612, 1765, 1980, 2195, 2557, 2919,
]);
/** Output of the low band's inverse quantisers of 6 and 4 bits, of the high band's of 2 bits. */
const low6 = Int16Array.from([
  -136, -136, -136, -136, -24808, -21904, -19008, -16704, -14984, -13512, -12280, -11192, -10232, -9360,
  -8576, -7856, -7192, -6576, -6000, -5456, -4944, -4464, -4008, -3576, -3168, -2776, -2400, -2032, -1688,
  -1360, -1040, -728, 24808, 21904, 19008, 16704, 14984, 13512, 12280, 11192, 10232, 9360, 8576, 7856, 7192,
  6576, 6000, 5456, 4944, 4464, 4008, 3576, 3168, 2776, 2400, 2032, 1688, 1360, 1040, 728, 432, 136, -432,
  -136,
]);
const low4 = Int16Array.from([
  0, -20456, -12896, -8968, -6288, -4240, -2584, -1200, 20456, 12896, 8968, 6288, 4240, 2584, 1200, 0,
]);
const high2 = Int16Array.of(-7408, -1616, 7408, 1616);
/** How a code moves the logarithm of the scale: by the 4 upper bits of the low code, by the high code. */
const lowWeights = Int16Array.from([
  -60, 3042, 1198, 538, 334, 172, 58, -30, 3042, 1198, 538, 334, 172, 58, -30, -60,
]);
const highWeights = Int16Array.of(798, -214, 798, -214);

/** 16 kHz sound to octets, one for two samples (ITU-T G.722 at 64 kbit/s; RTP's G722, RFC 3551 4.5.2). */
export class G722Encoder {
  readonly #low = new Band(lowBand);
  readonly #high = new Band(highBand);
  readonly #line = new Int32Array(taps);

  /** Encodes all pairs of `pcm` into `octets` from `at` on; answers the position after the last octet. */
  encode(pcm: Int16Array, octets: Uint8Array, at = 0): number {
    const count = pcm.length >> 1;
    for (let i = 0; i < count; i++) octets[at + i] = this.#encodePair(pcm[2 * i] ?? 0, pcm[2 * i + 1] ?? 0);
    return at + count;
  }

  #encodePair(first: number, second: number): number {
    const line = this.#line;
    line.copyWithin(0, 2);
    line[taps - 2] = first;
    line[taps - 1] = second;
    let even = 0;
    let odd = 0;
    for (let i = 0; i < 12; i++) {
      even += (line[2 * i] ?? 0) * (mirror[i] ?? 0);
      odd += (line[2 * i + 1] ?? 0) * (mirror[11 - i] ?? 0);
    }
    return (this.#encodeHigh((odd - even) >> 14) << 6) | this.#encodeLow((even + odd) >> 14);
  }

  #encodeLow(sample: number): number {
    const band = this.#low;
    const { scale } = band;
    const difference = clamp16(sample - band.estimate);
    const magnitude = difference >= 0 ? difference : -(difference + 1);
    let level = 0;
    while (level < levels.length && magnitude >= ((levels[level] ?? 0) * scale) >> 12) level++;
    // positive codes fall from 61, negative ones from 63 for two levels and then from 31 here
    const code = difference >= 0 ? 61 - level : level < 2 ? 63 - level : 33 - level;
    const upper = code >> 2;
    band.rescale(lowWeights[upper] ?? 0);
    band.adapt((scale * (low4[upper] ?? 0)) >> 15);
    return code;
  }

  #encodeHigh(sample: number): number {
    const band = this.#high;
    const { scale } = band;
    const difference = clamp16(sample - band.estimate);
    const magnitude = difference >= 0 ? difference : -(difference + 1);
    const far = magnitude >= (564 * scale) >> 12;
    const code = difference >= 0 ? (far ? 2 : 3) : far ? 0 : 1;
    moveHigh(band, code);
    return code;
  }
}

/** The other way: two samples of 16 kHz for each octet. */
export class G722Decoder {
  readonly #low = new Band(lowBand);
  readonly #high = new Band(highBand);
  readonly #line = new Int32Array(taps);

  /** Decodes `run` of `octets` (default: all) to the start of `pcm`; answers how many samples, never more than fit. */
  decode(octets: Uint8Array, pcm: Int16Array, run?: OctetRun): number {
    const offset = run === undefined ? 0 : run.offset;
    const wanted = run === undefined ? octets.length : run.length;
    const count = Math.max(0, Math.min(wanted, pcm.length >> 1, octets.length - offset));
    for (let i = 0; i < count; i++) this.#decodeOctet(octets[offset + i] ?? 0, pcm, 2 * i);
    return 2 * count;
  }

  #decodeOctet(octet: number, pcm: Int16Array, at: number): void {
    const low = this.#decodeLow(octet & 63);
    const high = this.#decodeHigh(octet >> 6);
    const line = this.#line;
    line.copyWithin(0, 2);
    line[taps - 2] = low + high;
    line[taps - 1] = low - high;
    let first = 0;
    let second = 0;
    for (let i = 0; i < 12; i++) {
      first += (line[2 * i + 1] ?? 0) * (mirror[11 - i] ?? 0);
      second += (line[2 * i] ?? 0) * (mirror[i] ?? 0);
    }
    pcm[at] = clamp16(first >> 11);
    pcm[at + 1] = clamp16(second >> 11);
  }

  #decodeLow(code: number): number {
    const band = this.#low;
    const { scale } = band;
    const sample = clamp15(band.estimate + ((scale * (low6[code] ?? 0)) >> 15));
    const upper = code >> 2;
    band.rescale(lowWeights[upper] ?? 0);
    band.adapt((scale * (low4[upper] ?? 0)) >> 15);
    return sample;
  }

  #decodeHigh(code: number): number {
    const band = this.#high;
    const { estimate } = band;
    return clamp15(estimate + moveHigh(band, code));
  }
}

/** Moves the high band on by its code; answers the quantised difference. */
function moveHigh(band: Band, code: number): number {
  const difference = (band.scale * (high2[code] ?? 0)) >> 15;
  band.rescale(highWeights[code] ?? 0);
  band.adapt(difference);
  return difference;
}

function clamp15(value: number): number {
  return value > 16_383 ? 16_383 : value < -16_384 ? -16_384 : value;
}
