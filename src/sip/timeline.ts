import type { Clock } from "#base";

/** A clock that is told the time: alarms in a heap, run by `advance` in the order of their moments. */
export interface Timeline extends Clock {
  /** The time is `now` (never earlier than before); runs every alarm due by then. */
  advance(now: number): void;
  /** Moment of the next alarm, or Infinity. */
  deadline(): number;
}

interface Entry {
  readonly at: number;
  /** Order of setting, for alarms of the same moment. */
  readonly turn: number;
  wake: (() => void) | undefined;
}

export function createTimeline(): Timeline {
  const heap: Entry[] = [];
  let time = 0;
  let turns = 0;
  let disposed = 0;

  return { now: () => time, alarm, advance, deadline };

  function alarm(at: number, wake: () => void): Disposable {
    const entry: Entry = { at, turn: turns++, wake };
    push(heap, entry);
    return {
      [Symbol.dispose]: () => {
        if (entry.wake === undefined) return;
        entry.wake = undefined;
        disposed += 1;
        sweep();
      },
    };
  }

  function advance(now: number): void {
    time = Math.max(time, now);
    for (let next = top(); next !== undefined && next.at <= time; next = top()) {
      pop(heap);
      const wake = next.wake;
      next.wake = undefined; // Rung: disposing it later must not count as one more dead entry.
      wake?.();
    }
  }

  function deadline(): number {
    return top()?.at ?? Infinity;
  }

  /** The next living alarm; dead ones on top of it are dropped. */
  function top(): Entry | undefined {
    while (heap[0] !== undefined && heap[0].wake === undefined) {
      pop(heap);
      disposed -= 1;
    }
    return heap[0];
  }

  /** Dead alarms deep in the heap would stay until their moment: too many of them are thrown out at once. */
  function sweep(): void {
    if (disposed < 64 || disposed * 2 < heap.length) return;
    const living = heap.filter((entry) => entry.wake !== undefined);
    heap.length = 0;
    for (const entry of living) push(heap, entry);
    disposed = 0;
  }
}

function before(a: Entry, b: Entry): boolean {
  return a.at < b.at || (a.at === b.at && a.turn < b.turn);
}

function push(heap: Entry[], entry: Entry): void {
  let index = heap.push(entry) - 1;
  while (index > 0) {
    const above = (index - 1) >> 1;
    const parent = heap[above];
    if (parent === undefined || !before(entry, parent)) break;
    heap[index] = parent;
    index = above;
  }
  heap[index] = entry;
}

function pop(heap: Entry[]): void {
  const last = heap.pop();
  if (last === undefined || heap.length === 0) return;
  let index = 0;
  for (;;) {
    const left = heap[2 * index + 1];
    const right = heap[2 * index + 2];
    const child = right !== undefined && left !== undefined && before(right, left) ? right : left;
    if (child === undefined || !before(child, last)) break;
    heap[index] = child;
    index = child === right ? 2 * index + 2 : 2 * index + 1;
  }
  heap[index] = last;
}
