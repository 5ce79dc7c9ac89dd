import { frameSamples, sampleRateHz } from "./frame.ts";

const quarter = frameSamples / 4;
const stepHz = sampleRateHz / frameSamples; // 50: one bin of a frame
const lowestBin = 5; // 250 Hz: one below what counts, for the slope of its neighbour
const highestBin = 52; // 2600 Hz: with it a multiple of four bins
const bins = highestBin - lowestBin + 1;
const coefficients = Float64Array.from(
  { length: bins },
  (_, i) => 2 * Math.cos((2 * Math.PI * (lowestBin + i)) / frameSamples),
);
const hann = Float64Array.from(
  { length: frameSamples },
  (_, i) => 0.5 - 0.5 * Math.cos((2 * Math.PI * i) / frameSamples),
);

/** A bank of Goertzel filters over one frame, 300 to 2500 Hz: its two strongest tones and their shares of the energy. */
export class ToneScan {
  /** Mean square of the frame. */
  power = 0;
  firstHz = 0;
  /** Share of all energy that lies within ±75 Hz of the tone, 0 to 1. */
  firstShare = 0;
  secondHz = 0;
  secondShare = 0;
  /** Share of all energy within ±225 Hz of the first tone: two tones too close to be told apart. */
  wideShare = 0;
  /** Least by greatest power of the four quarters of the frame: 0.5 and more for one steady tone, little for a beat. */
  flatness = 0;
  readonly #windowed = new Float64Array(frameSamples);
  readonly #powers = new Float64Array(bins);

  /** Looks at 160 samples; the fields hold the result. Below `leastPower` (mean square) no tone is looked for. */
  scan(pcm: Int16Array, leastPower = 0): void {
    this.#measure(pcm);
    let total = 0;
    for (let i = 0; i < frameSamples; i++) {
      const value = (pcm[i] ?? 0) * (hann[i] ?? 0);
      this.#windowed[i] = value;
      total += value * value;
    }
    if (total === 0 || this.power < leastPower) {
      this.firstHz = this.firstShare = this.secondHz = this.secondShare = this.wideShare = 0;
      return;
    }
    for (let bin = 0; bin < bins; bin += 4) this.#filterFour(bin);
    const scale = 2 / (frameSamples * total);
    const first = this.#strongest(-9);
    this.firstHz = this.#frequency(first);
    this.firstShare = this.#region(first, 1) * scale;
    this.wideShare = this.#region(first, 4) * scale;
    const second = this.#strongest(first);
    this.secondHz = second < 0 ? 0 : this.#frequency(second);
    this.secondShare = second < 0 ? 0 : this.#region(second, 1) * scale;
  }

  #measure(pcm: Int16Array): void {
    let energy = 0;
    let least = Infinity;
    let most = 0;
    for (let start = 0; start < frameSamples; start += quarter) {
      let part = 0;
      for (let i = start; i < start + quarter; i++) part += (pcm[i] ?? 0) * (pcm[i] ?? 0);
      energy += part;
      if (part < least) least = part;
      if (part > most) most = part;
    }
    this.power = energy / frameSamples;
    this.flatness = most === 0 ? 0 : least / most;
  }

  /** Four filters side by side: each step of one needs the step before it, the four need nothing of each other. */
  #filterFour(bin: number): void {
    const windowed = this.#windowed;
    const ca = coefficients[bin] ?? 0;
    const cb = coefficients[bin + 1] ?? 0;
    const cc = coefficients[bin + 2] ?? 0;
    const cd = coefficients[bin + 3] ?? 0;
    let [a1, a2, b1, b2, c1, c2, d1, d2] = [0, 0, 0, 0, 0, 0, 0, 0];
    for (let i = 0; i < frameSamples; i++) {
      const x = windowed[i] ?? 0;
      const a = x + ca * a1 - a2;
      const b = x + cb * b1 - b2;
      const c = x + cc * c1 - c2;
      const d = x + cd * d1 - d2;
      a2 = a1;
      b2 = b1;
      c2 = c1;
      d2 = d1;
      a1 = a;
      b1 = b;
      c1 = c;
      d1 = d;
    }
    this.#powers[bin] = a1 * a1 + a2 * a2 - ca * a1 * a2;
    this.#powers[bin + 1] = b1 * b1 + b2 * b2 - cb * b1 * b2;
    this.#powers[bin + 2] = c1 * c1 + c2 * c2 - cc * c1 * c2;
    this.#powers[bin + 3] = d1 * d1 + d2 * d2 - cd * d1 * d2;
  }

  /** The strongest inner bin, `except` and its three neighbours on each side left out; −1: none. */
  #strongest(except: number): number {
    let best = -1;
    let most = 0;
    for (let bin = 1; bin < bins - 1; bin++) {
      const power = this.#powers[bin] ?? 0;
      if (Math.abs(bin - except) > 3 && power > most) {
        most = power;
        best = bin;
      }
    }
    return best;
  }

  #region(bin: number, reach: number): number {
    let power = 0;
    for (let i = bin - reach; i <= bin + reach; i++) power += this.#powers[i] ?? 0;
    return power;
  }

  /** Between the bins, from the slope of the Hann window's main lobe. */
  #frequency(bin: number): number {
    const below = this.#powers[bin - 1] ?? 0;
    const above = this.#powers[bin + 1] ?? 0;
    const ratio = Math.sqrt(Math.max(below, above) / (this.#powers[bin] ?? 0));
    const offset = Math.max(0, Math.min(1, (2 * ratio - 1) / (ratio + 1)));
    return stepHz * (lowestBin + bin + (above > below ? offset : -offset));
  }
}
