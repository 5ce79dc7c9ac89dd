import { sampleRateHz } from "./frame.ts";

const largestDropout = 3000;
const largestMisorder = 100;
const ticksPerMs = sampleRateHz / 1000;

/** What arrived of one source: loss, order and jitter as RFC 3550 A.1, A.3 and A.8 count them. */
export class ReceptionStats {
  #started = false;
  #base = 0;
  #highest = 0;
  #cycles = 0;
  #suspect = -1;
  #received = 0;
  #expectedBefore = 0;
  #receivedBefore = 0;
  #jitter = 0;
  #transit = 0;
  #timed = false;

  /** Packets received, duplicates included. */
  get received(): number {
    return this.#received;
  }

  get expected(): number {
    return this.#started ? this.extendedHighest - this.#base + 1 : 0;
  }

  /** Packets that never came; never negative here. */
  get lost(): number {
    return Math.max(0, this.expected - this.#received);
  }

  /** Interarrival jitter in timestamp units (RFC 3550 6.4.1). */
  get jitter(): number {
    return Math.floor(this.#jitter);
  }

  get jitterMs(): number {
    return this.#jitter / ticksPerMs;
  }

  /** Highest sequence number received, cycles in the upper 16 bits. */
  get extendedHighest(): number {
    return this.#cycles + this.#highest;
  }

  /** Counts a packet whose timestamp says nothing of when it was sent: an event (RFC 4733 2.5.1.2). */
  countEvent(sequence: number): void {
    if (this.#follow(sequence)) this.#received++;
  }

  /** Counts a packet; `arrivedAt` in ms, `timestamp` in 8 kHz units. */
  count(sequence: number, timestamp: number, arrivedAt: number): void {
    if (!this.#follow(sequence)) return;
    this.#received++;
    const transit = (arrivedAt * ticksPerMs - timestamp) % 2 ** 32;
    if (this.#timed) {
      let difference = Math.abs(transit - this.#transit);
      if (difference > 2 ** 31) difference = 2 ** 32 - difference;
      this.#jitter += (difference - this.#jitter) / 16;
    }
    this.#transit = transit;
    this.#timed = true;
  }

  /** Share lost since the last call, in 1/256 (RFC 3550 A.3). */
  takeFractionLost(): number {
    const expected = this.expected - this.#expectedBefore;
    const lost = expected - (this.#received - this.#receivedBefore);
    this.#expectedBefore = this.expected;
    this.#receivedBefore = this.#received;
    return expected <= 0 || lost <= 0 ? 0 : Math.min(255, Math.floor((lost * 256) / expected));
  }

  /** False for a packet far out of sequence; two of them in a row mean that the source started anew. */
  #follow(sequence: number): boolean {
    if (!this.#started) {
      this.#restart(sequence);
      return true;
    }
    const step = (sequence - this.#highest) & 0xffff;
    if (step < largestDropout) {
      if (sequence < this.#highest) this.#cycles += 65_536;
      this.#highest = sequence;
    } else if (step <= 65_536 - largestMisorder) {
      if (sequence !== this.#suspect) {
        this.#suspect = (sequence + 1) & 0xffff;
        return false;
      }
      this.#restart(sequence);
    }
    return true;
  }

  #restart(sequence: number): void {
    this.#started = true;
    this.#base = sequence;
    this.#highest = sequence;
    this.#cycles = 0;
    this.#suspect = -1;
    this.#received = 0;
    this.#expectedBefore = 0;
    this.#receivedBefore = 0;
  }
}
