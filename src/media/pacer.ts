/**
 * The arithmetic of a drift-free beat: tick n is due at `start + n · period`, whatever happened to the ticks before.
 */
export class Pacer {
  readonly #startAt: number;
  readonly #periodMs: number;
  #ticks = 0;

  /** The first tick is due one period after `startAt`. */
  constructor(startAt: number, periodMs: number) {
    this.#startAt = startAt;
    this.#periodMs = periodMs;
  }

  /** When the next tick is due, on the scale of `startAt`. */
  get dueAt(): number {
    return this.#startAt + (this.#ticks + 1) * this.#periodMs;
  }

  /** How many ticks are due at `now`, those overdue included. */
  due(now: number): number {
    return Math.max(0, Math.floor((now - this.#startAt) / this.#periodMs) - this.#ticks);
  }

  /** Counts ticks as done, or as given up. */
  advance(ticks: number): void {
    this.#ticks += ticks;
  }

  /** Whole milliseconds to sleep so as not to wake before the next tick is due. */
  delayMs(now: number): number {
    return Math.max(0, Math.ceil(this.dueAt - now));
  }
}
