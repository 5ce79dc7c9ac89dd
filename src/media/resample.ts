const stopbandDb = 82;
/** Pass and stop edges as shares of the lower of the two rates. */
const passEdge = 0.42;
const stopEdge = 0.55;

/** All of `pcm` at another rate, of the right length and without delay. */
export function resample(pcm: Int16Array, fromHz: number, toHz: number): Int16Array {
  if (fromHz === toHz) return pcm.slice();
  const resampler = new Resampler(fromHz, toHz);
  const body = resampler.push(pcm);
  const tail = resampler.flush();
  const whole = new Int16Array(body.length + tail.length);
  whole.set(body);
  whole.set(tail, body.length);
  return whole;
}

interface ResamplerOptions {
  /** Each input gives its share of output at once (whole ratios only), which comes half a filter late instead. */
  readonly steady?: boolean;
}

/**
 * A stream of 16-bit sound at another rate: polyphase FIR with a Kaiser window, aliases below −80 dB.
 * The output starts at the first input sample; half a filter of input is kept back until `flush`, unless it is steady.
 */
export class Resampler {
  readonly #up: number;
  readonly #down: number;
  readonly #taps: number;
  /** One row of taps a phase. */
  readonly #filter: Float32Array;
  /** Silence before the first sample. */
  readonly #lead: number;
  /** Input that is still needed, then room for what comes. */
  #line: Float32Array;
  #filled: number;
  /** Position of the next output sample in the line, in units of 1/`#up` input samples. */
  #position = 0;
  #taken = 0;
  #given = 0;

  /** Any two whole rates; cost and memory grow with their ratio in lowest terms. */
  constructor(fromHz: number, toHz: number, options: ResamplerOptions = {}) {
    const divisor = greatestDivisor(fromHz, toHz);
    this.#up = toHz / divisor;
    this.#down = fromHz / divisor;
    const lowest = Math.min(1, toHz / fromHz);
    const taps = (stopbandDb - 7.95) / (14.36 * (stopEdge - passEdge) * lowest); // Kaiser
    const half = 2 * Math.ceil(taps / 4);
    this.#taps = 2 * half;
    this.#filter = designFilter({ phases: this.#up, half, cutoff: lowest * (passEdge + stopEdge) });
    this.#line = new Float32Array(this.#taps * 4);
    this.#lead = options.steady === true ? 2 * half - 1 : half - 1; // the latter takes the filter's delay away
    this.#filled = this.#lead;
  }

  /** The output that `pcm` makes possible, in an array of its own. */
  push(pcm: Int16Array): Int16Array {
    const room = Math.ceil(((this.#filled + pcm.length) * this.#up) / this.#down) + 1;
    const out = new Int16Array(room);
    return out.subarray(0, this.into(pcm, out));
  }

  /** As `push`, into `out`; answers the number of samples. `out` must have room for all of them. */
  into(pcm: Int16Array, out: Int16Array): number {
    this.#append(pcm);
    this.#taken += pcm.length;
    const made = this.#run(out);
    this.#given += made;
    return made;
  }

  /** The rest, as if silence followed; then the stream may start anew. */
  flush(): Int16Array {
    const wanted = Math.max(0, Math.round((this.#taken * this.#up) / this.#down) - this.#given);
    const tail = this.push(new Int16Array(this.#taps + this.#down)).subarray(0, wanted);
    this.#line.fill(0);
    this.#filled = this.#lead;
    this.#position = 0;
    this.#taken = 0;
    this.#given = 0;
    return tail;
  }

  #append(pcm: Int16Array): void {
    if (this.#filled + pcm.length > this.#line.length) {
      const longer = new Float32Array(2 * (this.#filled + pcm.length));
      longer.set(this.#line.subarray(0, this.#filled));
      this.#line = longer;
    }
    const line = this.#line;
    const start = this.#filled;
    for (let i = 0; i < pcm.length; i++) line[start + i] = pcm[i] ?? 0;
    this.#filled = start + pcm.length;
  }

  #run(out: Int16Array): number {
    const taps = this.#taps;
    const line = this.#line;
    const filter = this.#filter;
    const up = this.#up;
    let made = 0;
    let start = Math.floor(this.#position / up);
    while (start + taps <= this.#filled) {
      let row = (this.#position - start * up) * taps;
      // Four sums side by side: none waits for another's addition.
      let [a, b, c, d] = [0, 0, 0, 0];
      for (let k = start; k < start + taps; k += 4, row += 4) {
        a += (line[k] ?? 0) * (filter[row] ?? 0);
        b += (line[k + 1] ?? 0) * (filter[row + 1] ?? 0);
        c += (line[k + 2] ?? 0) * (filter[row + 2] ?? 0);
        d += (line[k + 3] ?? 0) * (filter[row + 3] ?? 0);
      }
      const sum = a + b + (c + d);
      out[made++] = sum > 32_767 ? 32_767 : sum < -32_768 ? -32_768 : Math.round(sum);
      this.#position += this.#down;
      start = Math.floor(this.#position / up);
    }
    const used = Math.min(start, this.#filled);
    line.copyWithin(0, used, this.#filled);
    this.#filled -= used;
    this.#position -= used * up;
    return made;
  }
}

/** Rows of `2 · half` taps: row p is the filter for an output that lies p/phases after an input sample. */
function designFilter(design: { phases: number; half: number; cutoff: number }): Float32Array {
  const { phases, half, cutoff } = design;
  const taps = 2 * half;
  const beta = 0.1102 * (stopbandDb - 8.7);
  const filter = new Float32Array(phases * taps);
  for (let phase = 0; phase < phases; phase++) {
    const row = filter.subarray(phase * taps, (phase + 1) * taps);
    let sum = 0;
    for (let k = 0; k < taps; k++) {
      const t = k - half + 1 - phase / phases;
      const u = Math.PI * t * cutoff;
      const r = t / half;
      const window = Math.abs(r) >= 1 ? 0 : bessel(beta * Math.sqrt(1 - r * r)) / bessel(beta);
      row[k] = (Math.abs(u) < 1e-9 ? 1 : Math.sin(u) / u) * window;
      sum += row[k] ?? 0;
    }
    for (let k = 0; k < taps; k++) row[k] = (row[k] ?? 0) / sum;
  }
  return filter;
}

/** Modified Bessel function of the first kind, order 0. */
function bessel(x: number): number {
  let sum = 1;
  let term = 1;
  for (let k = 1; term > sum * 1e-12; k++) {
    term *= (x / (2 * k)) ** 2;
    sum += term;
  }
  return sum;
}

function greatestDivisor(a: number, b: number): number {
  return b === 0 ? a : greatestDivisor(b, a % b);
}
