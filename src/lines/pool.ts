import { OutdialError, type Clock } from "#base";
import { steadyClock, type Log } from "#host";
import { availableParallelism } from "node:os";
import type { Line } from "./line.ts";
import type { LineEvent, LineRequest } from "./protocol.ts";
import type { PortRange } from "./rtp-port.ts";
import { WorkerLink, type WorkerThread } from "./worker-link.ts";

export interface LinesOptions {
  readonly log: Log;
  /** Threads that carry calls. Default: one less than there are processors, at least one. */
  readonly workers?: number;
  /** Default 100, which take a quarter of a core (recording included). */
  readonly maxCallsPerWorker?: number;
  /** Local ports for RTP, inclusive, shared by all workers. Default: any that are free. */
  readonly portRange?: PortRange;
  /** Starts a thread that runs `lines/worker`. */
  readonly startWorker: () => WorkerThread;
  /** Default: the steady one. */
  readonly clock?: Clock;
}

export interface LineOrder extends Omit<LineRequest, "portRange"> {
  readonly onEvent: (event: LineEvent) => void;
}

export interface Lines {
  /** Rejects with `lines-busy` (retryable) when no worker has room, with `line-failed` when no port can be opened. */
  open(order: LineOrder): Promise<Line>;
  /** How many more lines can be opened now. */
  readonly room: number;
  close(): Promise<void>;
}

/** A worker that lives shorter than this is not replaced at once. */
const soonMs = 5_000;
const restartDelayMs = 2_000;

/**
 * The call workers. A worker that dies or hangs loses its own calls only: each gets `line-lost` and still reports what
 * was known; another worker takes its place. Resolves when all of them run.
 */
export async function openLinePool(options: LinesOptions): Promise<Lines> {
  const wanted = options.workers ?? Math.max(1, availableParallelism() - 1);
  const clock = options.clock ?? steadyClock;
  const capacity = options.maxCallsPerWorker ?? 100;
  const links = new Set<WorkerLink>();
  const pauses = new Set<Disposable>();
  let closed = false;

  for (let n = 0; n < wanted; n++) start();
  try {
    await Promise.all([...links].map(async (link) => link.started));
  } catch (error) {
    await close();
    throw error;
  }
  return {
    open,
    get room(): number {
      return running().reduce((sum, link) => sum + capacity - link.lines, 0);
    },
    close,
  };

  async function open({ onEvent, ...order }: LineOrder): Promise<Line> {
    const link = running().sort((a, b) => a.lines - b.lines)[0];
    if (closed || link === undefined || link.lines >= capacity)
      throw new OutdialError("lines-busy", "Every call worker carries as many calls as it can", {
        retryable: true,
      });
    return link.open({ ...order, portRange: options.portRange }, onEvent);
  }

  function running(): WorkerLink[] {
    return [...links].filter((link) => link.ready);
  }

  function start(): void {
    const startedAt = clock.now();
    const link = new WorkerLink({
      thread: options.startWorker(),
      clock,
      log: options.log,
      onEnded() {
        links.delete(link);
        if (!closed) replace(clock.now() - startedAt);
      },
    });
    links.add(link);
  }

  function replace(livedMs: number): void {
    if (livedMs >= soonMs) return start();
    const pause = clock.alarm(clock.now() + restartDelayMs, () => {
      pauses.delete(pause);
      start();
    });
    pauses.add(pause);
  }

  async function close(): Promise<void> {
    closed = true;
    for (const pause of pauses) pause[Symbol.dispose]();
    await Promise.all([...links].map(async (link) => link.stop()));
  }
}
