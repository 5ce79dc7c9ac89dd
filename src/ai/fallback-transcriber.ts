import { createTasks, describeError, type Log } from "#host";
import type { HeardFrame, Transcriber, TranscriberSession } from "#talk";
import { HearQueue } from "./hear-queue.ts";

/** What is kept for the second while it is being reached. */
const mostKept = 500;

/** Hears with the second when the first cannot be reached, or is lost for good during the call. */
export function fallbackTranscriber(first: Transcriber, second: Transcriber, log: Log): Transcriber {
  const [one, other] = [first.capabilities, second.capabilities];
  return {
    // What both can: the caller learns it before anyone knows who will hear.
    capabilities: {
      streaming: one.streaming && other.streaming,
      turnDetection: one.turnDetection && other.turnDetection,
      finalWithinMs: Math.max(one.finalWithinMs, other.finalWithinMs),
    },
    async open(request, signal) {
      const openSecond = async (): Promise<TranscriberSession> => second.open(request, signal);
      try {
        return openBoth({ session: await first.open(request, signal), openSecond, signal, log });
      } catch (error) {
        if (signal.aborted) throw error;
        log.warn("transcriber failed", { error: describeError(error) });
        return openSecond();
      }
    },
  };
}

function openBoth(parts: {
  readonly session: TranscriberSession;
  readonly openSecond: () => Promise<TranscriberSession>;
  readonly signal: AbortSignal;
  readonly log: Log;
}): TranscriberSession {
  const { session: first, openSecond, signal, log } = parts;
  const queue = new HearQueue();
  const tasks = createTasks(log);
  let current: TranscriberSession | undefined = first;
  let kept: HeardFrame[] = [];
  let closed = false;
  tasks.spawn("transcriber events", hear);

  return {
    write(frame) {
      if (current !== undefined) return current.write(frame);
      kept.push({ ...frame, pcm: frame.pcm.slice() });
      if (kept.length > mostKept) kept.shift();
    },
    get bufferedMs(): number {
      return current?.bufferedMs ?? kept.length * 20;
    },
    finalize: () => current?.finalize(),
    events: queue,
    async [Symbol.asyncDispose]() {
      closed = true;
      queue.end();
      await current?.[Symbol.asyncDispose]();
      await tasks[Symbol.asyncDispose]();
    },
  };

  async function hear(): Promise<void> {
    try {
      if (!(await pass(first, true)) || closed) return queue.end();
      current = undefined;
      await first[Symbol.asyncDispose]();
      const second = await openSecond();
      if (closed) return await second[Symbol.asyncDispose]();
      for (const frame of kept) second.write(frame);
      kept = [];
      current = second;
      await pass(second, false);
    } catch (error) {
      if (signal.aborted) return queue.abort(signal.reason);
      const reason = error instanceof Error ? error.message : String(error);
      queue.push({ type: "degraded", reason, recoverable: false });
    }
    queue.end();
  }

  /** Resolves at the end: true when the session was lost and another shall take over. */
  async function pass(session: TranscriberSession, another: boolean): Promise<boolean> {
    for await (const event of session.events) {
      const lost = event.type === "degraded" && !event.recoverable;
      queue.push(lost && another ? { ...event, recoverable: true } : event);
      if (lost) return true;
    }
    return false;
  }
}
