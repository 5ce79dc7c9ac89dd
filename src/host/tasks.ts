import type { Log } from "./log.ts";

/** Work that nobody awaits. Disposal aborts all of it and waits until it has ended. */
export interface Tasks extends AsyncDisposable {
  /** Starts `run`; its failure is logged under `name`, unless it only obeyed the signal. */
  spawn(name: string, run: (signal: AbortSignal) => Promise<void>): void;
  /** Tasks under way. */
  readonly size: number;
  /** Resolves when none is left; new ones may still be started. */
  idle(): Promise<void>;
}

export function createTasks(log: Log): Tasks {
  const abort = new AbortController();
  const running = new Set<Promise<void>>();

  return {
    spawn,
    get size(): number {
      return running.size;
    },
    idle,
    [Symbol.asyncDispose]: async () => {
      abort.abort(new DOMException("The program is stopping", "AbortError"));
      await idle();
    },
  };

  function spawn(name: string, run: (signal: AbortSignal) => Promise<void>): void {
    const task = guarded(name, run).finally(() => running.delete(task));
    running.add(task);
  }

  async function guarded(name: string, run: (signal: AbortSignal) => Promise<void>): Promise<void> {
    try {
      await run(abort.signal);
    } catch (error) {
      if (abort.signal.aborted && error === abort.signal.reason) return;
      log.error("task failed", { task: name, error: describeError(error) });
    }
  }

  async function idle(): Promise<void> {
    while (running.size > 0) await Promise.all(running);
  }
}

/** An error as log fields: message, stack, code and the chain of causes. */
export function describeError(error: unknown): Record<string, unknown> {
  if (!(error instanceof Error)) return { message: String(error) };
  const code = "code" in error ? { code: error.code } : {};
  const cause = error.cause === undefined ? {} : { cause: describeError(error.cause) };
  return { message: error.message, stack: error.stack, ...code, ...cause };
}
