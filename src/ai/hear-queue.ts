import type { HearEvent } from "#talk";

/**
 * What a transcriber heard, on its way to one reader. It never grows without bound: an unread partial gives way to a
 * newer one. Finals are never lost.
 */
export class HearQueue implements AsyncIterable<HearEvent> {
  #unread: HearEvent[] = [];
  #ended = false;
  #failure: { readonly error: unknown } | undefined;
  #changed = Promise.withResolvers<void>();

  get ended(): boolean {
    return this.#ended;
  }

  push(event: HearEvent): void {
    if (this.#ended) return;
    const stale = event.type === "partial" && this.#unread.at(-1)?.type === "partial";
    if (stale) this.#unread.pop();
    this.#unread.push(event);
    this.#wake();
  }

  /** What is unread is still read. */
  end(): void {
    this.#ended = true;
    this.#wake();
  }

  /** What is unread is dropped; the reader gets the error. */
  abort(error: unknown): void {
    if (this.#ended) return;
    this.#unread = [];
    this.#failure = { error };
    this.end();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<HearEvent, void, undefined> {
    for (;;) {
      const event = this.#unread.shift();
      if (event !== undefined) yield event;
      else if (this.#failure !== undefined) throw this.#failure.error;
      else if (this.#ended) return;
      else await this.#changed.promise;
    }
  }

  #wake(): void {
    this.#changed.resolve();
    this.#changed = Promise.withResolvers<void>();
  }
}
