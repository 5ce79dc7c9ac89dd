import { decodeG711, encodeG711 } from "../../src/media/g711.ts";

/** A repeatable source of numbers from 0 to 1 (mulberry32). */
export function seeded(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
}

export function joined(...parts: readonly Int16Array[]): Int16Array {
  const whole = new Int16Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}

export function* framesOf(pcm: Int16Array): Generator<Int16Array> {
  for (let at = 0; at + 160 <= pcm.length; at += 160) yield pcm.subarray(at, at + 160);
}

/** `pcm` with white noise of so many dBFS, as a telephone line would deliver it. */
export function overTheLine(pcm: Int16Array, noiseDb = -60, seed = 1): Int16Array {
  const random = seeded(seed);
  const amplitude = 32_768 * 10 ** (noiseDb / 20) * 2;
  const noisy = pcm.map((sample) =>
    Math.max(-32_768, Math.min(32_767, sample + (random() + random() + random() - 1.5) * amplitude)),
  );
  const octets = new Uint8Array(noisy.length);
  encodeG711("PCMA", noisy, octets);
  decodeG711("PCMA", octets, noisy);
  return noisy;
}

/**
 * Something with the measures of speech: syllables of a gliding voice (pulses through three formants) with hisses
 * between them and pauses between words.
 */
export function speechLike(
  ms: number,
  options: { seed?: number; pitchHz?: number; levelDb?: number } = {},
): Int16Array {
  const { seed = 7, pitchHz = 120, levelDb = -20 } = options;
  const random = seeded(seed);
  const raw = new Float64Array(ms * 8);
  for (let at = 0; at < raw.length;) {
    const voiced = Math.floor((0.09 + 0.14 * random()) * 8000);
    syllable(raw, { at, length: voiced, pitchHz: pitchHz * (0.8 + 0.5 * random()), random });
    at += voiced;
    const hiss = Math.floor((0.03 + 0.05 * random()) * 8000);
    for (let i = at; i < Math.min(raw.length, at + hiss); i++) raw[i] = (random() - 0.5) * 0.4;
    at += hiss;
    if (random() < 0.2) at += Math.floor((0.1 + 0.2 * random()) * 8000);
  }
  const power = raw.reduce((sum, x) => sum + x * x, 0) / raw.length;
  const gain = (32_768 * 10 ** (levelDb / 20)) / Math.sqrt(power);
  return Int16Array.from(raw, (x) => Math.max(-32_768, Math.min(32_767, Math.round(x * gain))));
}

function syllable(
  raw: Float64Array,
  voice: { at: number; length: number; pitchHz: number; random: () => number },
): void {
  const { at, length, random } = voice;
  const formants = [300 + 500 * random(), 900 + 1300 * random(), 2300 + 600 * random()].map((hz, i) =>
    resonator(hz, 60 + 40 * i),
  );
  const glide = 0.75 + 0.5 * random();
  let phase = 0;
  for (let i = 0; i < length && at + i < raw.length; i++) {
    const share = i / length;
    phase += (voice.pitchHz * (1 + (glide - 1) * share)) / 8000;
    const pulse = phase >= 1 ? 1 : 0;
    if (phase >= 1) phase -= 1;
    const source = pulse + (random() - 0.5) * 0.02;
    raw[at + i] =
      formants.reduce((sum, filter, n) => sum + filter(source) / (n + 1), 0) * Math.sin(Math.PI * share);
  }
}

function resonator(hz: number, bandwidthHz: number): (x: number) => number {
  const radius = Math.exp((-Math.PI * bandwidthHz) / 8000);
  const a1 = 2 * radius * Math.cos((2 * Math.PI * hz) / 8000);
  const a2 = -radius * radius;
  let y1 = 0;
  let y2 = 0;
  return (x) => {
    const y = x + a1 * y1 + a2 * y2;
    y2 = y1;
    y1 = y;
    return y;
  };
}

/** Power of the component at `hz`, as a share of all power of `pcm` (1 for a pure sine). */
export function shareAt(pcm: Int16Array, hz: number, rateHz = 8000): number {
  let re = 0;
  let im = 0;
  let energy = 0;
  pcm.forEach((sample, i) => {
    const angle = (2 * Math.PI * hz * i) / rateHz;
    re += sample * Math.cos(angle);
    im += sample * Math.sin(angle);
    energy += sample * sample;
  });
  return energy === 0 ? 0 : (2 * (re * re + im * im)) / pcm.length / energy;
}

export function rms(pcm: Int16Array): number {
  return Math.sqrt(pcm.reduce((sum, x) => sum + x * x, 0) / Math.max(1, pcm.length));
}
