import { frameMs, frameSamples } from "./frame.ts";
import { ToneScan } from "./goertzel.ts";

const fullScale = 32_768 * 32_768;
const quietestDb = -100;
const lowestFloorDb = -75;
const floorWindow = 25; // frames; three windows make 1.5 s
// High-pass of second order at 130 Hz (Butterworth): the hum of the mains is not speech.
const highPass = { gain: 0.930_345, a1: -1.855_832, a2: 0.865_547 };
const oneToneShare = 0.94;
const twoToneShare = 0.9;
const closePairShare = 0.97;
const sameLevel = 1.26; // of power: 1 dB

export interface SpeechOptions {
  /** How far above the noise speech must be. Default 6. */
  readonly marginDb?: number;
  /** Nothing below this is speech. Default −52 dBFS. */
  readonly leastDb?: number;
  /** Frames in a row that begin speech. Default 3. */
  readonly startFrames?: number;
  /** Pause that ends speech. Default 200. */
  readonly hangMs?: number;
}

/** RMS level of `pcm` in dBFS (a full-scale sine is −3); −100 for digital silence. */
export function levelDb(pcm: Int16Array): number {
  let energy = 0;
  for (let i = 0; i < pcm.length; i++) energy += (pcm[i] ?? 0) * (pcm[i] ?? 0);
  return pcm.length === 0 ? quietestDb : decibels(energy / pcm.length);
}

/**
 * Tells speech from noise by energy above a noise floor that follows the minimum of the last 1.5 s, and from
 * call-progress tones, DTMF and beeps by their spectrum.
 */
export class SpeechDetector {
  /** Extra margin, dB: raise it while our own voice may echo. */
  extraMarginDb = 0;
  readonly #marginDb: number;
  readonly #leastDb: number;
  readonly #startFrames: number;
  readonly #hangFrames: number;
  readonly #tone = new ToneRejector();
  readonly #minima = new Float64Array(3).fill(Infinity);
  #window = 0;
  #inWindow = 0;
  #smoothDb: number | undefined;
  #floorDb = -60;
  #state1 = 0;
  #state2 = 0;
  #run = 0;
  #pause = 0;
  #speaking = false;

  constructor(options: SpeechOptions = {}) {
    this.#marginDb = options.marginDb ?? 6;
    this.#leastDb = options.leastDb ?? -52;
    this.#startFrames = options.startFrames ?? 3;
    this.#hangFrames = Math.max(1, Math.round((options.hangMs ?? 200) / frameMs));
  }

  /** Takes a frame (160 samples); true while somebody speaks. */
  push(pcm: Int16Array): boolean {
    const db = decibels(this.#energy(pcm) / frameSamples);
    this.#follow(db);
    const loud = db > this.#floorDb + this.#marginDb + this.extraMarginDb && db > this.#leastDb;
    if (loud && !this.#tone.isTone(pcm)) {
      this.#pause = 0;
      if (++this.#run >= this.#startFrames) this.#speaking = true;
    } else {
      if (!loud) this.#tone.forget();
      this.#run = 0;
      if (this.#speaking && ++this.#pause >= this.#hangFrames) this.#speaking = false;
    }
    return this.#speaking;
  }

  #energy(pcm: Int16Array): number {
    let energy = 0;
    for (let i = 0; i < frameSamples; i++) {
      const state = (pcm[i] ?? 0) - highPass.a1 * this.#state1 - highPass.a2 * this.#state2;
      const high = highPass.gain * (state - 2 * this.#state1 + this.#state2);
      this.#state2 = this.#state1;
      this.#state1 = state;
      energy += high * high;
    }
    if (energy < 1) this.#state1 = this.#state2 = 0; // no denormal numbers in silence
    return energy;
  }

  /** Minimum statistics over three windows of half a second. */
  #follow(db: number): void {
    this.#smoothDb = this.#smoothDb === undefined ? db : 0.7 * this.#smoothDb + 0.3 * db;
    const current = this.#minima[this.#window] ?? 0;
    if (this.#smoothDb < current) this.#minima[this.#window] = this.#smoothDb;
    const minima = this.#minima;
    const least = Math.min(minima[0] ?? 0, minima[1] ?? 0, minima[2] ?? 0);
    this.#floorDb = Math.max(lowestFloorDb, least);
    if (++this.#inWindow === floorWindow) {
      this.#inWindow = 0;
      this.#window = (this.#window + 1) % 3;
      this.#minima[this.#window] = Infinity;
    }
  }
}

/** Knows a frame of one or two steady tones (dial, ringback, busy, DTMF, beep, fax) by comparing it with the last. */
class ToneRejector {
  readonly #scan = new ToneScan();
  #firstHz = 0;
  #secondHz = 0;
  #power = 0;

  forget(): void {
    this.#power = 0;
  }

  isTone(pcm: Int16Array): boolean {
    const scan = this.#scan;
    scan.scan(pcm);
    const known = this.#power > 0;
    const sameFirst = known && near(scan.firstHz, this.#firstHz, 25);
    const samePair =
      (sameFirst && near(scan.secondHz, this.#secondHz, 25)) ||
      (known && near(scan.firstHz, this.#secondHz, 25) && near(scan.secondHz, this.#firstHz, 25));
    const change = known ? Math.max(scan.power / this.#power, this.#power / scan.power) : Infinity;
    this.#firstHz = scan.firstHz;
    this.#secondHz = scan.secondHz;
    this.#power = scan.power;
    if (scan.firstShare > oneToneShare) return sameFirst;
    if (scan.wideShare > closePairShare && change < sameLevel) return true;
    return samePair && change < 2 && scan.firstShare + scan.secondShare > twoToneShare;
  }
}

function near(a: number, b: number, by: number): boolean {
  return Math.abs(a - b) <= by;
}

function decibels(meanSquare: number): number {
  return meanSquare <= 0 ? quietestDb : Math.max(quietestDb, 10 * Math.log10(meanSquare / fullScale));
}
