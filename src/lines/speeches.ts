import { sampleRateHz } from "#media";
import type { ConversationInput } from "#talk";
import type { CutSegment } from "./playout.ts";

/** The speaking half of an audio line. */
export interface SpeakingLine {
  readonly queuedMs: number;
  append(segmentId: number, pcm: Int16Array): void;
  finish(segmentId: number): void;
  pause(): void;
  resume(): void;
  clear(): readonly CutSegment[];
}

export interface SpeechesOptions {
  readonly line: SpeakingLine;
  /** 8 kHz sound of a text, in chunks. `rank`: how many others of this call come first. */
  readonly render: (text: string, rank: number, signal: AbortSignal) => AsyncIterable<Int16Array>;
  /** Runs work nobody waits for, until the call ends. */
  readonly spawn: (name: string, run: (signal: AbortSignal) => Promise<void>) => void;
  /** Milliseconds of a steady clock. */
  readonly now: () => number;
  /** Milliseconds since the answer. */
  readonly sinceAnswer: () => number;
  readonly feed: (input: ConversationInput) => void;
}

interface Speech {
  readonly id: string;
  readonly segmentId: number;
  readonly abort: AbortController;
  readonly chunks: Int16Array[];
  samples: number;
  /** When its first sound came. */
  soundAt: number | undefined;
  /** The same, since the answer; 0 for one that was there before. */
  soundMs: number;
  /** Everything is rendered. */
  complete: boolean;
  ready: boolean;
}

/** A fast engine renders a sentence within this, and then its length is known before it is played. */
const patienceMs = 200;
/** Of a slower one so much must be there before the speech starts. */
const leastSamples = 0.4 * sampleRateHz;

/** What the agent of one call is about to say, says, or was kept from saying. One speech plays at a time. */
export class Speeches {
  readonly #options: SpeechesOptions;
  readonly #speeches = new Map<string, Speech>();
  #nextSegment = 1;
  #current: { readonly speech: Speech; started: boolean; appended: number } | undefined;

  constructor(options: SpeechesOptions) {
    this.#options = options;
  }

  /** Ends in `speech-ready` or `speech-failed`. */
  synthesise(id: string, text: string, priority: "now" | "ahead"): void {
    const rank =
      priority === "now" ? 0 : [...this.#speeches.values()].filter((other) => !other.complete).length;
    const speech: Speech = {
      id,
      segmentId: this.#nextSegment++,
      abort: new AbortController(),
      chunks: [],
      samples: 0,
      soundAt: undefined,
      soundMs: 0,
      complete: false,
      ready: false,
    };
    this.#speeches.set(id, speech);
    this.#options.spawn("speech", async (signal) => this.#render(speech, { text, rank }, signal));
  }

  play(id: string): void {
    const { feed, line } = this.#options;
    const speech = this.#speeches.get(id);
    if (speech === undefined)
      return feed({ type: "speech-failed", speechId: id, reason: "it was never rendered" });
    this.#current = { speech, started: false, appended: speech.samples };
    for (const chunk of speech.chunks) line.append(speech.segmentId, chunk);
    speech.chunks.length = 0;
    if (speech.complete) this.#finish(speech);
  }

  pause(): void {
    this.#options.line.pause();
  }

  resume(): void {
    this.#options.line.resume();
  }

  /** Stops the one being played; answered by `speech-stopped`. */
  clear(): void {
    const { feed, line } = this.#options;
    const current = this.#current;
    const cut = line.clear().find(({ segmentId }) => segmentId === current?.speech.segmentId);
    if (current === undefined) return;
    this.#forget(current.speech);
    const { id: speechId, samples } = current.speech;
    feed({ type: "speech-stopped", speechId, playedMs: cut?.playedMs ?? 0, totalMs: milliseconds(samples) });
  }

  /** It will never be played. */
  discard(id: string): void {
    const speech = this.#speeches.get(id);
    if (speech !== undefined) this.#forget(speech);
  }

  /** The line played a segment to its end. */
  played(segmentId: number): void {
    const speech = this.#current?.speech;
    if (speech?.segmentId !== segmentId) return;
    this.#started(speech); // One that fits into a single frame ends as it starts.
    this.#forget(speech);
    this.#options.feed({ type: "speech-played", speechId: speech.id });
  }

  /** After each tick of the line: the first packet of a speech shows in its queue. */
  ticked(): void {
    const current = this.#current;
    if (current === undefined || current.started) return;
    if (this.#options.line.queuedMs < milliseconds(current.appended)) this.#started(current.speech);
  }

  async #render(
    speech: Speech,
    { text, rank }: { readonly text: string; readonly rank: number },
    callSignal: AbortSignal,
  ): Promise<void> {
    const signal = AbortSignal.any([speech.abort.signal, callSignal]);
    try {
      for await (const chunk of this.#options.render(text, rank, signal)) {
        if (signal.aborted) return;
        this.#take(speech, chunk);
      }
      if (!signal.aborted) this.#completed(speech);
    } catch (error) {
      if (!signal.aborted) this.#failed(speech, error instanceof Error ? error.message : String(error));
    }
  }

  #take(speech: Speech, chunk: Int16Array): void {
    const now = this.#options.now();
    if (speech.soundAt === undefined) speech.soundMs = this.#options.sinceAnswer();
    speech.soundAt ??= now;
    speech.samples += chunk.length;
    const current = this.#current;
    if (current?.speech === speech) {
      current.appended += chunk.length;
      this.#options.line.append(speech.segmentId, chunk);
    } else speech.chunks.push(chunk);
    if (speech.samples >= leastSamples && now - speech.soundAt >= patienceMs) this.#ready(speech);
  }

  #completed(speech: Speech): void {
    speech.complete = true;
    if (this.#current?.speech === speech) this.#finish(speech);
    else this.#ready(speech);
  }

  #ready(speech: Speech): void {
    if (speech.ready) return;
    speech.ready = true;
    const length = speech.complete ? { durationMs: milliseconds(speech.samples) } : {};
    const sound = speech.soundMs > 0 ? { soundMs: speech.soundMs } : {};
    this.#options.feed({ type: "speech-ready", speechId: speech.id, ...length, ...sound });
  }

  #finish(speech: Speech): void {
    if (speech.samples > 0) return this.#options.line.finish(speech.segmentId);
    this.played(speech.segmentId); // A text without a sound: nothing to wait for.
  }

  #started(speech: Speech): void {
    if (this.#current?.speech !== speech || this.#current.started) return;
    this.#current.started = true;
    this.#options.feed({ type: "speech-started", speechId: speech.id, atMs: this.#options.sinceAnswer() });
  }

  #failed(speech: Speech, reason: string): void {
    if (this.#current?.speech === speech) this.#options.line.clear();
    this.#forget(speech);
    this.#options.feed({ type: "speech-failed", speechId: speech.id, reason });
  }

  #forget(speech: Speech): void {
    speech.abort.abort(new DOMException("The speech is not wanted any more", "AbortError"));
    this.#speeches.delete(speech.id);
    if (this.#current?.speech === speech) this.#current = undefined;
  }
}

function milliseconds(samples: number): number {
  return (samples / sampleRateHz) * 1000;
}
