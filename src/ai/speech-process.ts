import { OutdialError } from "#base";
import { describeError, programFile, steadyClock, type Log, type LogFields } from "#host";
import { spawn, type ChildProcessWithoutNullStreams } from "node:child_process";
import { fileURLToPath } from "node:url";
import { ReplyReader, type SpeechReply, type PieceRequest, type WordMark } from "./speech-protocol.ts";

/** `package`: eSpeak NG as WebAssembly from npm; `program`: the system's `espeak-ng`. */
export type EngineName = "package" | "program";

/** Takes samples (22 050 Hz) and the words that begin in them, times relative to the piece. */
export type TakeSound = (pcm: Int16Array, words: readonly WordMark[]) => void;

export interface SpeechProcessOptions {
  readonly log: Log;
  /** Tried in this order. */
  readonly engines?: readonly EngineName[];
  /** Of the child; default: ours. */
  readonly environment?: NodeJS.ProcessEnv;
}

/** A piece takes 15 to 400 ms; a child that is silent for so long is stuck. */
const pieceLimitMs = 10_000;
const firstRestartDelayMs = 100;
const longestRestartDelayMs = 10_000;
/** An engine may be installed while we run. */
const missingDelayMs = 60_000;

interface Child {
  readonly process: ChildProcessWithoutNullStreams;
  readonly ready: Promise<string>;
  readonly pieces: Map<number, Piece>;
}

interface Piece {
  readonly take: TakeSound;
  readonly resolve: () => void;
  readonly reject: (error: Error) => void;
}

/** The speech program as seen from here: started at once, and again whenever it ends, with growing pauses if it cannot stay up. */
export class SpeechProcess implements Disposable {
  readonly #options: SpeechProcessOptions;
  #child: Child | undefined;
  #nextId = 1;
  #failures = 0;
  #lastFailure: OutdialError | undefined;
  #restart: Disposable | undefined;
  #closed = false;

  constructor(options: SpeechProcessOptions) {
    this.#options = options;
    this.#child = this.#start();
  }

  /** Process id of the running child. */
  get pid(): number | undefined {
    return this.#child?.process.pid;
  }

  /** The engine's name once it can speak; rejects with `voice-missing` or `speech-unavailable`. */
  async ready(): Promise<string> {
    return this.#running().ready;
  }

  /**
   * Speaks one piece; resolves after its last samples. Rejects with `voice-missing` when there is no engine, with
   * `speech-unavailable` (retryable) when the process died or got stuck, with `speech-failed` when it refused the piece.
   */
  async speak(request: Omit<PieceRequest, "id">, take: TakeSound): Promise<void> {
    const child = this.#running();
    await child.ready;
    const id = this.#nextId++;
    const spoken = new Promise<void>((resolve, reject) => child.pieces.set(id, { take, resolve, reject }));
    const limit = steadyClock.alarm(steadyClock.now() + pieceLimitMs, () => child.process.kill("SIGKILL"));
    child.process.stdin.write(`${JSON.stringify({ id, ...request } satisfies PieceRequest)}\n`);
    await spoken.finally(() => limit[Symbol.dispose]());
  }

  [Symbol.dispose](): void {
    this.#closed = true;
    this.#restart?.[Symbol.dispose]();
    this.#child?.process.kill("SIGKILL");
  }

  #running(): Child {
    if (this.#child !== undefined) return this.#child;
    throw this.#lastFailure ?? unavailable("The speech process has been closed");
  }

  #start(): Child {
    const { engines = [], environment = process.env, log } = this.#options;
    const program = fileURLToPath(programFile("ai/speech-child"));
    const spawned = spawn(process.execPath, [program, ...engines], { stdio: "pipe", env: environment });
    const started = Promise.withResolvers<string>();
    started.promise.catch(() => undefined); // Nobody may be waiting yet.
    const child: Child = { process: spawned, ready: started.promise, pieces: new Map() };
    let failure: OutdialError | undefined;
    let complaint = "";

    const reader = new ReplyReader((reply, pcm) => {
      if (reply.type === "ready") {
        log.info("speech engine ready", { engine: reply.engine });
        started.resolve(reply.engine);
      } else if (reply.type === "missing") failure = voiceMissing(reply.reason);
      else this.#deliver(child, reply, pcm);
    });
    spawned.stdout.on("data", (chunk: Buffer) => {
      try {
        reader.push(chunk);
      } catch (error) {
        log.error("speech process is talking nonsense", { error: describeError(error) });
        spawned.kill("SIGKILL");
      }
    });
    spawned.stderr.on(
      "data",
      (chunk: Buffer) => (complaint = `${complaint}${chunk.toString("utf8")}`.slice(-1000)),
    );
    spawned.stdin.on("error", () => undefined); // Writing to one that just died: its end is reported below.
    spawned.on("error", (cause) => (failure = unavailable("The speech process cannot be started", cause)));
    spawned.on("close", (code, signal) => {
      const error = failure ?? unavailable(`The speech process ended (${signal ?? code ?? "not started"})`);
      this.#report(error, { code, signal, complaint });
      started.reject(error);
      for (const piece of child.pieces.values()) piece.reject(error);
      this.#startAgain(error);
    });
    return child;
  }

  #deliver(child: Child, reply: Exclude<SpeechReply, { type: "ready" | "missing" }>, pcm: Int16Array): void {
    const piece = child.pieces.get(reply.id);
    if (piece === undefined) return;
    if (reply.type === "audio") return piece.take(pcm, reply.words);
    child.pieces.delete(reply.id);
    if (reply.type === "failed") return piece.reject(new OutdialError("speech-failed", reply.message));
    this.#failures = 0;
    piece.resolve();
  }

  /** A missing engine is told once, not each time it is looked for. */
  #report(error: OutdialError, fields: LogFields): void {
    if (this.#closed || (error.code === "voice-missing" && this.#lastFailure?.code === "voice-missing"))
      return;
    this.#options.log.warn("speech process ended", { ...fields, reason: error.message, hint: error.hint });
  }

  /** The first time at once: callers are on the line. Later with pauses that double. */
  #startAgain(error: OutdialError): void {
    this.#lastFailure = error;
    this.#child = undefined;
    if (this.#closed) return;
    const delayMs = restartDelayMs(error, this.#failures++);
    if (delayMs === 0) this.#child = this.#start();
    else this.#restart = steadyClock.alarm(steadyClock.now() + delayMs, () => (this.#child = this.#start()));
  }
}

function restartDelayMs(error: OutdialError, failures: number): number {
  if (error.code === "voice-missing") return missingDelayMs;
  return failures === 0 ? 0 : Math.min(longestRestartDelayMs, firstRestartDelayMs * 2 ** (failures - 1));
}

function unavailable(message: string, cause?: unknown): OutdialError {
  return new OutdialError("speech-unavailable", message, { retryable: true, cause });
}

function voiceMissing(reason: string): OutdialError {
  return new OutdialError("voice-missing", `No speech engine is installed: ${reason}`, {
    hint: "Run `npm install @echogarden/espeak-ng-emscripten`, or install the espeak-ng program.",
  });
}
