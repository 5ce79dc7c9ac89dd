import type { Clock } from "#base";

export interface PatienceOptions {
  readonly clock: Clock;
  /** Whose end is ours. */
  readonly signal: AbortSignal;
  /** From now to the first progress. */
  readonly firstMs: number;
  /** Between one piece and the next, while we wait for it. */
  readonly idleMs: number;
  readonly tooLate: () => Error;
}

/** How long an answer may take: to begin, and then between its pieces. Only our waiting counts, not a slow reader. */
export class Patience implements Disposable {
  /** Aborts when patience ends or the caller's signal does. */
  readonly signal: AbortSignal;
  readonly #abort = new AbortController();
  readonly #options: PatienceOptions;
  #firstAt: number | undefined;
  #alarm: Disposable | undefined;

  constructor(options: PatienceOptions) {
    this.#options = options;
    this.#firstAt = options.clock.now() + options.firstMs;
    this.signal = AbortSignal.any([options.signal, this.#abort.signal]);
    this.#arm(this.#firstAt);
  }

  /** Milliseconds until the answer must have begun; nothing once it has. */
  get leftMs(): number {
    return this.#firstAt === undefined ? Infinity : this.#firstAt - this.#options.clock.now();
  }

  /** We wait for the next piece. */
  wait(): void {
    if (this.#firstAt === undefined) this.#arm(this.#options.clock.now() + this.#options.idleMs);
  }

  /** It came; until the next `wait` nobody is late. The limit of the first piece runs on until `progress`. */
  rest(): void {
    if (this.#firstAt === undefined) this[Symbol.dispose]();
  }

  /** What came was no answer: the limit of the first piece goes on. */
  again(): void {
    if (this.#firstAt !== undefined) this.#arm(this.#firstAt);
  }

  /** The answer has begun. */
  progress(): void {
    this.#firstAt = undefined;
    this[Symbol.dispose]();
  }

  [Symbol.dispose](): void {
    this.#alarm?.[Symbol.dispose]();
    this.#alarm = undefined;
  }

  #arm(at: number): void {
    this[Symbol.dispose]();
    this.#alarm = this.#options.clock.alarm(at, () => this.#abort.abort(this.#options.tooLate()));
  }
}

/** Resolves after `ms`; rejects with the signal's reason when it aborts before. */
export async function pause(clock: Clock, ms: number, signal: AbortSignal): Promise<void> {
  signal.throwIfAborted();
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const stop = (): void => reject(signal.reason);
  const alarm = clock.alarm(clock.now() + ms, resolve);
  signal.addEventListener("abort", stop, { once: true });
  try {
    await promise;
  } finally {
    alarm[Symbol.dispose]();
    signal.removeEventListener("abort", stop);
  }
}
