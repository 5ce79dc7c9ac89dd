import { OutdialError, type Clock } from "#base";
import { describeError, type Log } from "#host";
import { LostReport } from "./lost-report.ts";
import type { Line } from "./line.ts";
import type { FromWorker, LineEvent, LineReport, LineRequest, ToWorker } from "./protocol.ts";

/** Two of them unanswered: the worker hangs. One may be, after the machine slept. */
const pingIntervalMs = 5_000;
/** For the last packets and the recordings. */
const stopLimitMs = 3_000;

/** What is used of a `node:worker_threads` Worker. */
export interface WorkerThread {
  on(event: "message", listener: (message: FromWorker) => void): unknown;
  on(event: "error" | "messageerror", listener: (error: unknown) => void): unknown;
  on(event: "exit", listener: (code: number) => void): unknown;
  postMessage(message: ToWorker, transfer: readonly []): void;
  terminate(): Promise<unknown>;
}

export interface LinkOptions {
  readonly thread: WorkerThread;
  readonly clock: Clock;
  readonly log: Log;
  /** The thread is gone and its lines have been told. */
  readonly onEnded: () => void;
}

/** One line as main remembers it. */
interface OpenLine {
  readonly onEvent: (event: LineEvent) => void;
  readonly opened: PromiseWithResolvers<Line>;
  readonly closed: PromiseWithResolvers<LineReport>;
  /** What is known here should the worker never report. */
  readonly lost: LostReport;
}

/** Main's end of one call worker. */
export class WorkerLink {
  /** Resolves when lines may be opened; rejects when the worker could not start. */
  readonly started: Promise<void>;
  readonly #options: LinkOptions;
  readonly #lines = new Map<number, OpenLine>();
  readonly #start = Promise.withResolvers<void>();
  readonly #end = Promise.withResolvers<void>();
  #ready = false;
  #stopping = false;
  #nextLine = 1;
  #unanswered = 0;
  #watch: Disposable | undefined;
  #failure: Error | undefined;

  constructor(options: LinkOptions) {
    const { thread } = options;
    this.#options = options;
    this.started = this.#start.promise;
    this.started.catch(() => undefined); // Only the pool's first workers are awaited.
    thread.on("message", (message) => this.#take(message));
    thread.on("error", (error) => (this.#failure = asError(error)));
    thread.on("messageerror", (error) => (this.#failure = asError(error)));
    thread.on("exit", (code) => this.#exited(code));
  }

  /** Running, and not about to end. */
  get ready(): boolean {
    return this.#ready && !this.#stopping;
  }

  /** Open lines, those being opened included. */
  get lines(): number {
    return this.#lines.size;
  }

  async open(request: LineRequest, onEvent: (event: LineEvent) => void): Promise<Line> {
    const id = this.#nextLine++;
    const line: OpenLine = {
      onEvent,
      opened: Promise.withResolvers(),
      closed: Promise.withResolvers(),
      lost: new LostReport(request.recordingPath),
    };
    this.#lines.set(id, line);
    this.#post({ type: "open", line: id, request });
    return line.opened.promise;
  }

  /** Closes every line and ends the thread; by force if it does not obey. */
  async stop(): Promise<void> {
    this.#stopping = true;
    this.#post({ type: "stop" });
    const { clock } = this.#options;
    const limit = clock.alarm(clock.now() + stopLimitMs, () => void this.#options.thread.terminate());
    await this.#end.promise;
    limit[Symbol.dispose]();
  }

  #post(message: ToWorker): void {
    this.#options.thread.postMessage(message, []);
  }

  #take(message: FromWorker): void {
    switch (message.type) {
      case "started":
        this.#ready = true;
        this.#start.resolve();
        return this.#watchOver();
      case "alive":
        this.#unanswered = 0;
        return;
      case "log":
        return this.#options.log[message.level](message.message, message.fields);
      case "opened": {
        const line = this.#lines.get(message.line);
        return line?.opened.resolve(this.#proxy(message.line, message.local, line.closed.promise));
      }
      case "open-failed": {
        const { code, message: text, hint, retryable } = message.error;
        const line = this.#forget(message.line);
        return line?.opened.reject(
          new OutdialError(code, text, { ...(hint === undefined ? {} : { hint }), retryable }),
        );
      }
      case "line-event": {
        const line = this.#lines.get(message.line);
        line?.lost.note(message.event);
        return line?.onEvent(message.event);
      }
      case "closed":
        return this.#forget(message.line)?.closed.resolve(message.report);
    }
  }

  #forget(id: number): OpenLine | undefined {
    const line = this.#lines.get(id);
    this.#lines.delete(id);
    return line;
  }

  #proxy(id: number, local: Line["local"], closed: Promise<LineReport>): Line {
    let closing = false;
    return {
      local,
      prepare: () => this.#post({ type: "prepare", line: id }),
      connect: (media) => this.#post({ type: "connect", line: id, media }),
      changeMedia: (media) => this.#post({ type: "change-media", line: id, media }),
      pressed: (digit) => this.#post({ type: "press", line: id, digit }),
      close: async (endedBy = "callee") => {
        if (!closing) this.#post({ type: "close", line: id, endedBy });
        closing = true;
        return closed;
      },
    };
  }

  #watchOver(): void {
    const { clock } = this.#options;
    this.#watch = clock.alarm(clock.now() + pingIntervalMs, () => {
      if (this.#unanswered >= 2) {
        this.#failure = new Error("the call worker does not answer");
        void this.#options.thread.terminate();
        return;
      }
      this.#unanswered++;
      this.#post({ type: "ping" });
      this.#watchOver();
    });
  }

  #exited(code: number): void {
    this.#ready = false;
    this.#watch?.[Symbol.dispose]();
    const error = this.#failure ?? new Error(`the call worker ended (${code})`);
    if (!this.#stopping)
      this.#options.log.error("call worker lost", { error: describeError(error), lines: this.#lines.size });
    this.#start.reject(error);
    for (const line of this.#lines.values()) this.#lose(line, error.message);
    this.#lines.clear();
    this.#end.resolve();
    this.#options.onEnded();
  }

  /** The call ends, and what is known of it is kept. */
  #lose(line: OpenLine, reason: string): void {
    line.opened.promise.catch(() => undefined); // Nobody asks any more when it had been opened.
    line.opened.reject(
      new OutdialError("line-failed", `The call worker ended: ${reason}`, { retryable: true }),
    );
    line.closed.resolve(line.lost.report(reason));
    line.onEvent({ type: "line-lost", reason });
  }
}

function asError(thrown: unknown): Error {
  return thrown instanceof Error
    ? thrown
    : new Error("the call worker threw something that is no error", { cause: thrown });
}
