import { frameMs } from "./frame.ts";
import { ToneScan } from "./goertzel.ts";

const leastPower = 170_000; // mean square: −38 dBFS
const oneToneShare = 0.88;
const otherToneShare = 0.05; // −13 dB: a twisted DTMF pair is not one tone
const pairShare = 0.85;
const steadyHz = 8;
const steadyRatio = 1.6; // of power: 2 dB. A vowel swells and fades, a beep does not
const leastHz = 295;
const leastFrames = 5;
const melodyFrames = 3; // a tone so soon after another is part of a melody, such as the SIT
const cadenceFrames = 75; // at the frequencies of ringback and busy, of a cadence
const leastFlatness = 0.4;
const leastBeepMs = 115; // 120, less what the edges of the frames hide
const longestBeepMs = 1500;
const quietMs = 300;
/** Ringback and busy tones live here: a beep must be short and alone for longer than a busy tone's pause. */
const progressHz = { from: 380, to: 490 };
const longestProgressBeepMs = 800;
const progressQuietMs = 700;
const callingFax = { hz: 1100, withinHz: 25, fromMs: 430, toMs: 570 }; // CNG, ITU-T T.30
const answeringFax = { hz: 2100, withinHz: 25, fromMs: 1000 }; // CED, ITU-T T.30

export interface ToneFound {
  readonly type: "beep" | "fax";
  readonly frequencyHz: number;
  /** How long it sounded. */
  readonly durationMs: number;
  /** How long ago it ended; 0 while it still sounds. */
  readonly agoMs: number;
}

interface Beep {
  readonly hz: number;
  readonly durationMs: number;
}

/**
 * Finds the beep of an answering machine (one steady tone of 120 ms or more, 300 to 2500 Hz, then 300 ms without a
 * tone) and fax tones. Ringback, busy, DTMF and speech are none.
 */
export class ToneDetector {
  readonly #scan = new ToneScan();
  #frames = 0;
  #hz = 0;
  #power = 0;
  /** Power of the frame before the run: where the tone may have begun. */
  #powerBefore = 0;
  #ended: Beep | undefined;
  #sinceMs = 0;
  #tonesSince = 0;
  #reported = false;
  /** Frames since the last run of some length. */
  #sinceRun = Infinity;
  /** The run cannot be a beep: it belongs to a melody or a cadence, or its level moves. */
  #unfit = false;

  /** Takes a frame (160 samples); answers what became certain with it. */
  push(pcm: Int16Array): ToneFound | undefined {
    const scan = this.#scan;
    scan.scan(pcm, leastPower);
    const loud = scan.power >= leastPower;
    const single = this.#isSingle(loud);
    const pair = loud && scan.firstShare + scan.secondShare > pairShare;
    const found = this.#settle(single || pair);
    if (single && this.#frames > 0 && this.#continues()) return this.#extend() ?? found;
    if (this.#frames > 0) this.#finish(loud);
    if (single) this.#begin();
    else {
      this.#powerBefore = scan.power;
      this.#sinceRun++;
    }
    return found;
  }

  #isSingle(loud: boolean): boolean {
    const { firstHz, firstShare, secondShare, flatness } = this.#scan;
    return (
      loud &&
      firstHz > leastHz &&
      firstShare > oneToneShare &&
      secondShare < otherToneShare &&
      flatness > leastFlatness
    );
  }

  #continues(): boolean {
    return Math.abs(this.#scan.firstHz - this.#hz) <= steadyHz;
  }

  #begin(): void {
    this.#frames = 1;
    this.#hz = this.#scan.firstHz;
    this.#power = this.#scan.power;
    this.#reported = false;
    this.#unfit = this.#sinceRun <= (isProgress(this.#hz) ? cadenceFrames : melodyFrames);
  }

  #extend(): ToneFound | undefined {
    this.#frames++;
    const ratio = this.#scan.power / this.#power;
    if (ratio > steadyRatio || ratio < 1 / steadyRatio) this.#unfit = true;
    this.#power = Math.max(this.#power, this.#scan.power);
    this.#hz += (this.#scan.firstHz - this.#hz) / this.#frames;
    const durationMs = this.#frames * frameMs;
    if (this.#reported || !near(this.#hz, answeringFax) || durationMs < answeringFax.fromMs) return undefined;
    this.#reported = true;
    return { type: "fax", frequencyHz: this.#hz, durationMs, agoMs: 0 };
  }

  /** The run is over with this frame: decides whether it may have been a beep. */
  #finish(loud: boolean): void {
    const after = loud && Math.abs(this.#scan.firstHz - this.#hz) > 100 ? 0 : this.#scan.power;
    const edges = Math.min(1, this.#powerBefore / this.#power) + Math.min(1, after / this.#power);
    const durationMs = (this.#frames + edges) * frameMs;
    const longest = isProgress(this.#hz) ? longestProgressBeepMs : longestBeepMs;
    const fits = this.#frames >= leastFrames && durationMs >= leastBeepMs && durationMs <= longest;
    if (this.#frames >= leastFrames) this.#sinceRun = 0;
    if (fits && !this.#reported && !this.#unfit) {
      this.#ended = { hz: this.#hz, durationMs };
      this.#sinceMs = 0;
      this.#tonesSince = 0;
    } else if (this.#frames >= leastFrames) this.#ended = undefined;
    this.#frames = 0;
    this.#powerBefore = 0;
  }

  /** Counts the quiet after a possible beep. */
  #settle(tone: boolean): ToneFound | undefined {
    const beep = this.#ended;
    if (beep === undefined) return undefined;
    this.#sinceMs += frameMs;
    this.#tonesSince = tone ? this.#tonesSince + 1 : 0;
    if (this.#tonesSince >= 3) {
      this.#ended = undefined;
      return undefined;
    }
    if (this.#sinceMs < (isProgress(beep.hz) ? progressQuietMs : quietMs)) return undefined;
    this.#ended = undefined;
    const isFax =
      near(beep.hz, callingFax) && beep.durationMs >= callingFax.fromMs && beep.durationMs <= callingFax.toMs;
    return {
      type: isFax ? "fax" : "beep",
      frequencyHz: beep.hz,
      durationMs: beep.durationMs,
      agoMs: this.#sinceMs,
    };
  }
}

function isProgress(hz: number): boolean {
  return hz >= progressHz.from && hz <= progressHz.to;
}

function near(hz: number, tone: { readonly hz: number; readonly withinHz: number }): boolean {
  return Math.abs(hz - tone.hz) <= tone.withinHz;
}
