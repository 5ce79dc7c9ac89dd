import { createTasks, describeError, type Log } from "#host";
import type { HearEvent, TranscriberSession } from "#talk";
import { HearQueue } from "./hear-queue.ts";
import { UtteranceCutter, type Cut, type Utterance } from "./utterance-cutter.ts";

export interface UtteranceOptions {
  readonly signal: AbortSignal;
  readonly log: Log;
  /** The words of one utterance; empty when there are none. */
  transcribe(utterance: Utterance, signal: AbortSignal): Promise<string>;
}

/** So many utterances in a row without a text, and there is no transcriber any more. */
const mostFailures = 3;

/** A transcriber for providers that take whole recordings: one at a time, in the order they were spoken. */
export function openUtteranceSession(options: UtteranceOptions): TranscriberSession {
  const { log } = options;
  const queue = new HearQueue();
  const cutter = new UtteranceCutter();
  const closing = new AbortController();
  const signal = AbortSignal.any([options.signal, closing.signal]);
  const tasks = createTasks(log);
  const waiting: Utterance[] = [];
  let waitingMs = 0;
  let failures = 0;
  let busy = false;
  const abort = (): void => queue.abort(options.signal.reason);
  if (options.signal.aborted) abort();
  options.signal.addEventListener("abort", abort, { once: true });

  return {
    write: (frame) => {
      if (!queue.ended) take(cutter.push(frame));
    },
    get bufferedMs(): number {
      return waitingMs;
    },
    finalize: () => take(cutter.cut()),
    events: queue,
    [Symbol.asyncDispose]: async () => {
      options.signal.removeEventListener("abort", abort);
      closing.abort(new DOMException("The session is closed", "AbortError"));
      queue.end();
      await tasks[Symbol.asyncDispose]();
    },
  };

  function take(cuts: readonly Cut[]): void {
    for (const cut of cuts) {
      if (cut.type === "speech-started") queue.push(cut);
      else {
        waiting.push(cut.utterance);
        waitingMs += lengthMs(cut.utterance);
      }
    }
    if (busy || waiting.length === 0 || queue.ended) return;
    busy = true;
    tasks.spawn("transcription", transcribeAll);
  }

  async function transcribeAll(): Promise<void> {
    for (let next = waiting.shift(); next !== undefined && !queue.ended; next = waiting.shift()) {
      queue.push(await heardIn(next));
      waitingMs -= lengthMs(next);
      if (failures >= mostFailures) queue.end();
    }
    busy = false;
  }

  async function heardIn(utterance: Utterance): Promise<HearEvent> {
    const { startMs, endMs } = utterance;
    try {
      const text = (await options.transcribe(utterance, signal)).trim();
      failures = 0;
      return { type: "final", text, startMs, endMs };
    } catch (error) {
      if (!signal.aborted) log.warn("transcription failed", { error: describeError(error) });
      const reason = error instanceof Error ? error.message : String(error);
      failures = isPassing(error) ? failures + 1 : mostFailures;
      return { type: "degraded", reason, recoverable: failures < mostFailures };
    }
  }
}

function lengthMs(utterance: Utterance): number {
  return utterance.endMs - utterance.startMs;
}

function isPassing(error: unknown): boolean {
  return error instanceof Error && "retryable" in error && error.retryable === true;
}
