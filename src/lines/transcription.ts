import { OutdialError, type Clock } from "#base";
import type { Log } from "#host";
import { encodeG711, frameMs, sampleRateHz } from "#media";
import type { ConversationInput, HeardFrame, HearEvent, Transcriber, TranscriberSession } from "#talk";
import type { LineMedia } from "./line-media.ts";

type Codec = LineMedia["audio"]["codec"];

export interface TranscriptionOptions {
  readonly transcriber: Transcriber;
  readonly language: string;
  /** Names and words that will probably be said. */
  readonly hints: readonly string[];
  readonly clock: Clock;
  readonly log: Log;
  /** Runs work nobody waits for, until the call ends. */
  readonly spawn: (name: string, run: (signal: AbortSignal) => Promise<void>) => void;
  readonly feed: (input: ConversationInput) => void;
}

const reopenAfterMs = [250, 1000];
/** A session that lived so long begins the count anew. */
const steadyMs = 30_000;
/** What is kept for a session that is still being opened: 10 s. */
const mostKept = 500;
/** Kept frames written with each new one: the clock must not wait. */
const catchUpFrames = 5;

/** How a session ended. `final`: another try would end the same way. */
interface Loss {
  readonly reason: string;
  readonly final: boolean;
}

/**
 * The callee's words in one call: frames in, inputs of the conversation out. A session that breaks is opened again
 * twice in a row; then the conversation hears `hearing-lost`.
 */
export class Transcription {
  readonly #options: TranscriptionOptions;
  #session: TranscriberSession | undefined;
  #kept: HeardFrame[] = [];
  #over = false;

  constructor(options: TranscriptionOptions) {
    this.#options = options;
  }

  /** Opens the session, while the phone rings if it may. */
  open(): void {
    this.#options.spawn("transcriber", async (signal) => this.#run(signal));
  }

  /** 20 ms that ended `elapsedMs` after the answer; never waits. */
  write(pcm: Int16Array, elapsedMs: number, codec: Codec | undefined): void {
    if (this.#over) return;
    this.#kept.push(frameOf(pcm, Math.max(0, elapsedMs - frameMs), codec));
    if (this.#kept.length > mostKept) this.#kept.shift();
    const session = this.#session;
    if (session === undefined) return;
    for (const frame of this.#kept.splice(0, 1 + catchUpFrames)) session.write(frame);
  }

  /** The callee paused: the final words are wanted now. */
  finalise(): void {
    const session = this.#session;
    if (session === undefined) return;
    for (const frame of this.#kept.splice(0)) session.write(frame);
    session.finalize();
  }

  async #run(signal: AbortSignal): Promise<void> {
    const { clock, feed, log } = this.#options;
    for (let setbacks = 0; ; setbacks++) {
      const openedAt = clock.now();
      const loss = await this.#listen(signal);
      if (signal.aborted) return;
      if (clock.now() - openedAt > steadyMs) setbacks = 0;
      const waitMs = loss.final ? undefined : reopenAfterMs[setbacks];
      log.warn("transcriber lost", {
        reason: loss.reason,
        ...(waitMs !== undefined && { againInMs: waitMs }),
      });
      if (waitMs === undefined) {
        this.#over = true;
        this.#kept = [];
        return feed({ type: "hearing-lost", reason: loss.reason });
      }
      await pause(clock, waitMs, signal);
      if (signal.aborted) return;
    }
  }

  /** One session from its opening to its end. */
  async #listen(signal: AbortSignal): Promise<Loss> {
    const { hints, language, transcriber } = this.#options;
    try {
      await using session = await transcriber.open({ language, hints }, signal);
      this.#session = session;
      for await (const event of session.events) {
        if (signal.aborted) break;
        if (event.type === "degraded" && !event.recoverable) return { reason: event.reason, final: true };
        this.#pass(event);
      }
      return { reason: "the transcriber ended", final: false };
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      return { reason, final: error instanceof OutdialError && !error.retryable };
    } finally {
      this.#session = undefined;
    }
  }

  #pass(event: HearEvent): void {
    const { feed, log } = this.#options;
    switch (event.type) {
      case "partial":
      case "final": {
        const { type: kind, text, startMs, endMs } = event;
        return feed({ type: "heard", kind, text, startMs, endMs });
      }
      case "turn-ending":
      case "turn-resumed":
      case "turn-ended":
        return feed(event);
      case "degraded":
        return log.warn("transcriber degraded", { reason: event.reason });
      case "speech-started":
        return undefined; // The line's own detector is sooner.
    }
  }
}

/** The samples are the line's and will be overwritten. G.711 comes back from its own samples as it was. */
function frameOf(samples: Int16Array, atMs: number, codec: Codec | undefined): HeardFrame {
  const frame = { pcm: samples.slice(), rateHz: sampleRateHz, atMs } as const;
  if (codec !== "PCMU" && codec !== "PCMA") return frame;
  const bytes = new Uint8Array(samples.length);
  encodeG711(codec, samples, bytes);
  return { ...frame, g711: { law: codec === "PCMU" ? "pcmu" : "pcma", bytes } };
}

/** Resolves after a while, or at once when the signal aborts. */
async function pause(clock: Clock, ms: number, signal: AbortSignal): Promise<void> {
  const over = Promise.withResolvers<void>();
  const wake = (): void => over.resolve();
  signal.addEventListener("abort", wake, { once: true });
  using _alarm = clock.alarm(clock.now() + ms, wake);
  if (signal.aborted) wake();
  await over.promise;
  signal.removeEventListener("abort", wake);
}
