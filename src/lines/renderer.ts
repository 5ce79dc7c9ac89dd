import { OutdialError } from "#base";
import { Resampler, sampleRateHz } from "#media";
import type { SpeechRequest, Synthesizer } from "#talk";
import { setImmediate } from "node:timers/promises";

/** What makes two utterances the same sound. */
interface SpeechKey {
  readonly engine: string;
  readonly voice: string;
  readonly lang: string;
  readonly speed: number;
  readonly text: string;
}

/** Sound rendered before, at the line's rate. */
interface SpeechStore {
  find(key: SpeechKey): Int16Array | undefined;
  keep(key: SpeechKey, pcm: Int16Array): void;
}

export interface RendererOptions {
  readonly synthesizer: Synthesizer;
  /** Name of the synthesizer in the store. */
  readonly engine: string;
  readonly store: SpeechStore;
  /** Rate the synthesizer is expected to deliver; others work, but their filter costs some milliseconds when first met. */
  readonly rateHz: number;
  /** Filters from `rateHz` to the line's, built ahead; default: they are built at once. */
  readonly filters?: readonly Resampler[];
  /** Renderings at a time: each holds a filter. Few, when the synthesizer makes one at a time anyway: the urgent wait less. */
  readonly parallel: number;
}

/** A rendering that waits for its turn. */
interface Waiting {
  readonly rank: number;
  readonly start: (filter: Resampler) => void;
}

/** What one rendering works with, and who really spoke. */
interface Means {
  readonly filter: Resampler;
  readonly by: { engine: string };
}

/** Samples resampled in one go: about 0.2 ms of work. */
const sliceSamples = 4410;

/** Turns text into 8 kHz sound for all calls of a worker, never holding its 20 ms clock up for more than a fraction of a millisecond. */
export class Renderer {
  readonly #options: RendererOptions;
  readonly #idle: Resampler[];
  readonly #waiting: Waiting[] = [];
  #turn: Promise<unknown> = Promise.resolve();

  /** Builds and warms the filters, 3 ms each: to be made before the clock starts. */
  constructor(options: RendererOptions) {
    this.#options = options;
    this.#idle = [
      ...(options.filters ?? Array.from({ length: options.parallel }, () => warmFilter(options.rateHz))),
    ];
  }

  /** The same beside a running clock: one filter in each turn of the event loop. */
  static async open(options: Omit<RendererOptions, "filters">): Promise<Renderer> {
    const filters: Resampler[] = [];
    while (filters.length < options.parallel) {
      await setImmediate();
      filters.push(warmFilter(options.rateHz));
    }
    return new Renderer({ ...options, filters });
  }

  /**
   * Chunks of any length, not to be changed. Ends with the synthesizer's error or the signal's reason; a retryable error
   * before the first sound is tried again once. `rank`: how many others of the same call come first; lower ranks of all
   * calls go before higher ones.
   */
  async *render(
    request: SpeechRequest,
    signal: AbortSignal,
    rank: number = 0,
  ): AsyncGenerator<Int16Array, void, undefined> {
    const { store, synthesizer } = this.#options;
    const key = this.#keyOf(request);
    const known = store.find(key);
    if (known !== undefined) return yield known;
    const made: Int16Array[] = [];
    const by = { engine: key.engine };
    const filter = this.#idle.pop() ?? (await this.#turnOf(rank, signal));
    try {
      for await (const chunk of this.#tried(request, signal, { filter, by })) {
        made.push(chunk);
        yield chunk;
      }
    } finally {
      filter.flush(); // Forgets what an aborted rendering left in it.
      this.#giveBack(filter);
    }
    if (synthesizer.capabilities.cacheable) store.keep({ ...key, engine: by.engine }, joined(made));
  }

  async *#tried(
    request: SpeechRequest,
    signal: AbortSignal,
    means: Means,
  ): AsyncGenerator<Int16Array, void, undefined> {
    let sounded = false;
    try {
      for await (const chunk of this.#resampled(request, signal, means)) {
        sounded = true;
        yield chunk;
      }
    } catch (error) {
      if (sounded || signal.aborted || !(error instanceof OutdialError && error.retryable)) throw error;
      yield* this.#resampled(request, signal, means);
    }
  }

  async *#resampled(
    request: SpeechRequest,
    signal: AbortSignal,
    { filter: standing, by }: Means,
  ): AsyncGenerator<Int16Array, void, undefined> {
    const { rateHz, audio, engine } = await this.#options.synthesizer.say(request, signal);
    if (engine !== undefined) by.engine = engine;
    if (rateHz === sampleRateHz) return yield* audio;
    const filter = rateHz === this.#options.rateHz ? standing : new Resampler(rateHz, sampleRateHz);
    for await (const chunk of audio) {
      for (let at = 0; at < chunk.length; at += sliceSamples) {
        await this.#nextTurn();
        yield filter.push(chunk.subarray(at, at + sliceSamples));
      }
    }
    yield filter.flush();
  }

  /** One slice in each turn of the event loop, whoever asks. */
  async #nextTurn(): Promise<void> {
    this.#turn = this.#turn.then(async () => setImmediate());
    await this.#turn;
  }

  /** A filter, when it is ours; rejects with the signal's reason when it is not wanted any more. */
  async #turnOf(rank: number, signal: AbortSignal): Promise<Resampler> {
    signal.throwIfAborted();
    const turn = Promise.withResolvers<Resampler>();
    const waiting: Waiting = { rank, start: turn.resolve };
    const leave = (): void => {
      const place = this.#waiting.indexOf(waiting);
      if (place < 0) return; // It has its filter already, and will find the signal aborted.
      this.#waiting.splice(place, 1);
      turn.reject(signal.reason);
    };
    const behind = this.#waiting.findIndex((other) => other.rank > rank);
    this.#waiting.splice(behind < 0 ? this.#waiting.length : behind, 0, waiting);
    signal.addEventListener("abort", leave, { once: true });
    return turn.promise.finally(() => signal.removeEventListener("abort", leave));
  }

  #giveBack(filter: Resampler): void {
    const next = this.#waiting.shift();
    if (next === undefined) this.#idle.push(filter);
    else next.start(filter);
  }

  #keyOf(request: SpeechRequest): SpeechKey {
    const { voice, language: lang, speed = 1, text } = request;
    return { engine: this.#options.engine, voice, lang, speed, text };
  }
}

function warmFilter(rateHz: number): Resampler {
  const filter = new Resampler(rateHz, sampleRateHz);
  filter.push(new Int16Array(sliceSamples));
  filter.flush();
  return filter;
}

function joined(chunks: readonly Int16Array[]): Int16Array {
  const whole = new Int16Array(chunks.reduce((sum, chunk) => sum + chunk.length, 0));
  let at = 0;
  for (const chunk of chunks) {
    whole.set(chunk, at);
    at += chunk.length;
  }
  return whole;
}
