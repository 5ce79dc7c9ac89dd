/** Lets one in at a time, in the order of arrival. */
export class Turnstile {
  readonly #waiting: (() => void)[] = [];
  #busy = false;

  /** Runs `work` when it is our turn. */
  async pass(work: () => Promise<void>): Promise<void> {
    if (this.#busy) await new Promise<void>((resolve) => this.#waiting.push(resolve));
    this.#busy = true;
    try {
      await work();
    } finally {
      this.#leave();
    }
  }

  #leave(): void {
    const next = this.#waiting.shift();
    if (next === undefined) this.#busy = false;
    else next();
  }
}
