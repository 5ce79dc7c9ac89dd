import { frameMs, Pacer } from "#media";

const mostAtOnce = 10; // frames made up for after a stall; older ones are given up

/** Something that lives in 20 ms frames. */
export interface Tickable {
  /** One frame is due; `now` is the time of the clock, which may be later. */
  tick(now: number): void;
  /** So many frames passed that nobody can make up for. */
  skip(frames: number): void;
}

export interface Ticker {
  register(line: Tickable): void;
  unregister(line: Tickable): void;
  close(): void;
}

export interface TickerOptions {
  /** Monotonic milliseconds, fractional. */
  readonly now: () => number;
  /** After all lines, once a wake-up. */
  readonly onTick?: (now: number) => void;
  /** A line threw: it has been unregistered, the others go on. */
  readonly onLineFailed?: (line: Tickable, error: unknown) => void;
}

/** Starts the one 20 ms beat of a thread; it does not drift, and it walks all lines. */
export function startTicker({ now, onTick, onLineFailed }: TickerOptions): Ticker {
  const lines = new Set<Tickable>();
  const pacer = new Pacer(now(), frameMs);
  let timer = setTimeout(wake, pacer.delayMs(now()));

  return {
    register: (line) => void lines.add(line),
    unregister: (line) => void lines.delete(line),
    close: () => clearTimeout(timer),
  };

  function wake(): void {
    // Armed before the work: a callback that closes the ticker then stops this timer too.
    const at = now();
    const due = pacer.due(at);
    pacer.advance(due);
    timer = setTimeout(wake, pacer.delayMs(at));
    if (due > mostAtOnce) walk((line) => line.skip(due - mostAtOnce));
    for (let frame = Math.min(due, mostAtOnce); frame > 0; frame--) walk((line) => line.tick(at));
    if (due > 0) onTick?.(at);
  }

  function walk(visit: (line: Tickable) => void): void {
    for (const line of lines) {
      try {
        visit(line);
      } catch (error) {
        lines.delete(line);
        onLineFailed?.(line, error);
      }
    }
  }
}
