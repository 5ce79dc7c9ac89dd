import { OutdialError } from "#base";
import { describeError, type Tasks } from "#host";
import { CarriedCall, type CallParts } from "./carried-call.ts";
import type { ErrorFields, FromWorker, LineEndedBy, LineEvent, LineRequest, ToWorker } from "./protocol.ts";
import type { Ticker } from "./ticker.ts";

export interface DeskOptions {
  readonly parts: CallParts;
  readonly ticker: Ticker;
  readonly tasks: Tasks;
  readonly post: (message: FromWorker) => void;
  /** Everything is closed: the thread may end. */
  readonly onStopped: () => Promise<void>;
}

/** The worker's end of the protocol: does what main asks for, line by line. */
export class CallDesk {
  readonly #options: DeskOptions;
  readonly #calls = new Map<number, CarriedCall>();
  /** Reports that are still being finished. */
  readonly #closing = new Set<Promise<void>>();
  readonly #stopping = new AbortController();
  #stopped = false;

  constructor(options: DeskOptions) {
    this.#options = options;
  }

  take(message: ToWorker): void {
    const { post, tasks } = this.#options;
    switch (message.type) {
      case "open":
        return tasks.spawn("open-line", async () => this.#open(message.line, message.request));
      case "prepare":
        return this.#on(message.line, (call) => call.prepare());
      case "connect":
        return this.#on(message.line, (call) => call.connect(message.media));
      case "change-media":
        return this.#on(message.line, (call) => call.changeMedia(message.media));
      case "press":
        return this.#on(message.line, (call) => call.pressed(message.digit));
      case "close":
        return tasks.spawn("close-line", async () => this.#close(message.line, message.endedBy));
      case "ping":
        return post({ type: "alive" });
      case "stop":
        return tasks.spawn("stop", async () => this.#stop());
    }
  }

  /** The clock could not go on with a call: its bug, its end. */
  failed(call: unknown, error: unknown): void {
    for (const [line, known] of this.#calls) if (known === call) this.#lose(line, error);
  }

  async #open(line: number, request: LineRequest): Promise<void> {
    const { parts, post, ticker } = this.#options;
    const tell = (event: LineEvent): void => post({ type: "line-event", line, event });
    try {
      const call = await CarriedCall.open(request, parts, tell);
      this.#calls.set(line, call);
      ticker.register(call);
      post({ type: "opened", line, local: call.local });
      if (this.#stopped) await this.#close(line, "operator");
    } catch (error) {
      parts.log.error("line not opened", { callId: request.callId, error: describeError(error) });
      post({ type: "open-failed", line, error: errorFields(error) });
    }
  }

  async #close(line: number, endedBy: LineEndedBy): Promise<void> {
    const { post, ticker } = this.#options;
    const call = this.#calls.get(line);
    if (call === undefined) return;
    ticker.unregister(call);
    this.#calls.delete(line);
    const closing = (async () => {
      post({ type: "closed", line, report: await call.close(endedBy, this.#stopping.signal) });
    })();
    this.#closing.add(closing);
    await closing.finally(() => this.#closing.delete(closing));
  }

  async #stop(): Promise<void> {
    this.#stopped = true;
    this.#stopping.abort(new OutdialError("worker-stopping", "the program is stopping"));
    await Promise.all([...this.#calls.keys()].map(async (line) => this.#close(line, "operator")));
    await Promise.allSettled(this.#closing);
    await this.#options.onStopped();
  }

  #on(line: number, act: (call: CarriedCall) => void): void {
    const call = this.#calls.get(line);
    if (call === undefined) return; // It was closed while the message was on its way.
    try {
      act(call);
    } catch (error) {
      this.#lose(line, error);
    }
  }

  #lose(line: number, error: unknown): void {
    const { parts, post } = this.#options;
    parts.log.error("line failed", { error: describeError(error) });
    post({ type: "line-event", line, event: { type: "line-lost", reason: "the line failed" } });
  }
}

function errorFields(error: unknown): ErrorFields {
  if (error instanceof OutdialError) {
    const { code, message, hint, retryable } = error;
    return { code, message, hint, retryable };
  }
  const message = error instanceof Error ? error.message : String(error);
  return { code: "line-failed", message, hint: undefined, retryable: false };
}
