import { readFile, writeFile } from "node:fs/promises";
import { readWavHeader, wavHeader } from "#media";

export interface WavAudio {
  readonly rateHz: number;
  /** 16-bit samples, one array a channel. */
  readonly channels: readonly Int16Array[];
}

/** Reads a 16-bit PCM file from its octets. */
export function wavAudio(bytes: Buffer): WavAudio {
  const header = readWavHeader(bytes);
  if (!header.ok) throw new Error(`no WAV file: ${header.problem.message}`);
  const { channels: count, sampleRateHz, dataOffset } = header.value;
  const length = Math.floor((bytes.length - dataOffset) / 2 / count);
  const channels = Array.from({ length: count }, (_, channel) =>
    Int16Array.from({ length }, (__, i) => bytes.readInt16LE(dataOffset + 2 * (i * count + channel))),
  );
  return { rateHz: sampleRateHz, channels };
}

export async function readWavFile(path: string): Promise<WavAudio> {
  return wavAudio(await readFile(path));
}

/** Writes a sine, mono, 8 kHz, 16 bit. */
export async function writeToneFile(path: string, frequencyHz: number, seconds: number): Promise<void> {
  const rateHz = 8_000;
  const bytes = Buffer.alloc(44 + 2 * rateHz * seconds);
  bytes.set(wavHeader({ channels: 1, sampleRateHz: rateHz }, bytes.length - 44));
  for (let i = 0; i < rateHz * seconds; i++) {
    bytes.writeInt16LE(Math.round(8_000 * Math.sin((2 * Math.PI * frequencyHz * i) / rateHz)), 44 + 2 * i);
  }
  await writeFile(path, bytes);
}

/** Share of the energy at one frequency in each 100 ms: a sound that skips a beat in between stays a tone. */
export function toneShares(samples: Int16Array, frequencyHz: number, rateHz: number): readonly number[] {
  const piece = rateHz / 10;
  return Array.from({ length: Math.floor(samples.length / piece) }, (_, i) =>
    toneShare(samples.subarray(i * piece, (i + 1) * piece), frequencyHz, rateHz),
  );
}

/** Share of the energy at one frequency, 0 to 1 (Goertzel over the whole piece). */
function toneShare(samples: Int16Array, frequencyHz: number, rateHz: number): number {
  const turn = 2 * Math.cos((2 * Math.PI * frequencyHz) / rateHz);
  let [last, beforeLast, energy] = [0, 0, 0];
  for (const sample of samples) {
    [last, beforeLast] = [sample + turn * last - beforeLast, last];
    energy += sample * sample;
  }
  const power = last * last + beforeLast * beforeLast - turn * last * beforeLast;
  return energy === 0 ? 0 : (2 * power) / (samples.length * energy);
}

/** Loudness of each 20 ms as the root of the mean square. */
export function envelope({ rateHz }: WavAudio, samples: Int16Array): readonly number[] {
  const frame = rateHz / 50;
  return Array.from({ length: Math.floor(samples.length / frame) }, (_, i) => {
    const part = samples.subarray(i * frame, (i + 1) * frame);
    return Math.sqrt(part.reduce((sum, sample) => sum + sample * sample, 0) / frame);
  });
}

/** How alike two envelopes are at the shift that suits them best: the highest correlation, 1 for the same. */
export function bestCorrelation(one: readonly number[], other: readonly number[], mostShift = 100): number {
  let best = -1;
  for (let shift = -mostShift; shift <= mostShift; shift++) {
    const pairs = one.flatMap((value, i) => {
      const partner = other[i + shift];
      return partner === undefined ? [] : [[value, partner] as const];
    });
    if (pairs.length >= Math.min(one.length, other.length) / 2) best = Math.max(best, correlation(pairs));
  }
  return best;
}

function correlation(pairs: readonly (readonly [number, number])[]): number {
  const mean = (pick: (pair: readonly [number, number]) => number): number =>
    pairs.reduce((sum, pair) => sum + pick(pair), 0) / pairs.length;
  const [meanOne, meanOther] = [mean(([a]) => a), mean(([, b]) => b)];
  let [product, squaresOne, squaresOther] = [0, 0, 0];
  for (const [a, b] of pairs) {
    product += (a - meanOne) * (b - meanOther);
    squaresOne += (a - meanOne) ** 2;
    squaresOther += (b - meanOther) ** 2;
  }
  return squaresOne === 0 || squaresOther === 0 ? 0 : product / Math.sqrt(squaresOne * squaresOther);
}
