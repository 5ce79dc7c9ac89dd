/** How a stream ended: without `error`, well. */
interface End {
  readonly error?: unknown;
}

/** Items on their way from a producer that pushes to one reader that iterates. They wait without limit: the producer watches `below`. */
export class StreamQueue<Item> implements AsyncIterable<Item> {
  readonly #items: Item[] = [];
  readonly #sizeOf: (item: Item) => number;
  #size = 0;
  #end: End | undefined;
  #changed = Promise.withResolvers<void>();

  constructor(sizeOf: (item: Item) => number) {
    this.#sizeOf = sizeOf;
  }

  get ended(): boolean {
    return this.#end !== undefined;
  }

  push(item: Item): void {
    if (this.#end !== undefined) return;
    this.#items.push(item);
    this.#size += this.#sizeOf(item);
    this.#wake();
  }

  /** No more items; a failure reaches the reader after the items before. Only the first end counts. */
  end(end: End = {}): void {
    this.#end ??= end;
    this.#wake();
  }

  /** Drops what is unread and ends with the error at once. */
  abort(error: unknown): void {
    this.#items.length = 0;
    this.#size = 0;
    this.#end = { error };
    this.#wake();
  }

  /** Resolves when less than `size` is unread or the queue has ended. */
  async below(size: number): Promise<void> {
    while (this.#size >= size && this.#end === undefined) await this.#changed.promise;
  }

  /** Leaving the loop early ends the queue. */
  async *[Symbol.asyncIterator](): AsyncGenerator<Item, void, undefined> {
    try {
      for (;;) {
        const item = this.#items.shift();
        if (item !== undefined) {
          this.#size -= this.#sizeOf(item);
          this.#wake();
          yield item;
        } else if (this.#end === undefined) await this.#changed.promise;
        else if ("error" in this.#end) throw this.#end.error;
        else return;
      }
    } finally {
      this.abort(new DOMException("The reader left", "AbortError"));
    }
  }

  #wake(): void {
    this.#changed.resolve();
    this.#changed = Promise.withResolvers<void>();
  }
}
