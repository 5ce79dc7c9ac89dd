import type { OctetRun } from "./g711.ts";

/** RTP's static payload type of comfort noise at 8000 Hz (RFC 3551 6). */
export const comfortNoiseType = 13;

const mostCoefficients = 12;
const quietestDb = 127;

/**
 * The background noise that a peer with silence suppression describes instead of sending it (RFC 3389): its level and, if
 * given, its spectrum. Repeatable noise of an own generator, not chance.
 */
export class ComfortNoise {
  readonly #reflections = new Float32Array(mostCoefficients);
  /** State of the lattice filter. */
  readonly #backward = new Float32Array(mostCoefficients + 1);
  #order = 0;
  #gain = 0;
  #seed = 0x2545_f491;

  /** Takes the payload at `run` of `packet`: minus dBov, then reflection coefficients in steps of 1/127. */
  describe(packet: Uint8Array, run: OctetRun): void {
    const level = (packet[run.offset] ?? quietestDb) & 0x7f;
    this.#order = Math.max(0, Math.min(run.length - 1, mostCoefficients));
    let power = 1;
    for (let i = 0; i < this.#order; i++) {
      const quantised = packet[run.offset + 1 + i] ?? 127;
      const k = Math.max(-0.99, Math.min(0.99, (258 * (quantised - 127)) / 32_768));
      this.#reflections[i] = k;
      power *= 1 - k * k;
    }
    this.#backward.fill(0);
    const rms = run.length === 0 || level === quietestDb ? 0 : 32_767 * 10 ** (-level / 20);
    // evenly spread numbers have a third of their peak's power; the filter adds 1/power to it
    this.#gain = rms * Math.sqrt(3 * power);
  }

  /** Adds the noise to `pcm`. */
  mix(pcm: Int16Array): void {
    if (this.#gain === 0) return;
    for (let i = 0; i < pcm.length; i++) {
      const sum = (pcm[i] ?? 0) + this.#filter(this.#gain * this.#next());
      pcm[i] = sum > 32_767 ? 32_767 : sum < -32_768 ? -32_768 : Math.round(sum);
    }
  }

  /** From −1 to 1 (xorshift). */
  #next(): number {
    let seed = this.#seed;
    seed ^= seed << 13;
    seed ^= seed >>> 17;
    seed ^= seed << 5;
    this.#seed = seed;
    return seed / 2_147_483_648;
  }

  /** All-pole lattice. */
  #filter(input: number): number {
    const backward = this.#backward;
    let forward = input;
    for (let i = this.#order - 1; i >= 0; i--) {
      const k = this.#reflections[i] ?? 0;
      forward -= k * (backward[i] ?? 0);
      backward[i + 1] = (backward[i] ?? 0) + k * forward;
    }
    backward[0] = forward;
    return forward;
  }
}
