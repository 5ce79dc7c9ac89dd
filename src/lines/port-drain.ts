import type { Socket } from "node:dgram";
import type { Clock } from "#base";
import { steadyClock } from "#host";

/** Keeps the sockets of ended calls bound until nothing has come for a while: an old peer is not heard in a new call. */
export interface PortDrain {
  add(socket: Socket): void;
  /** Sockets still held. */
  readonly size: number;
  /** Closes them all. */
  close(): void;
}

export interface PortDrainOptions {
  /** Default 30 s. */
  readonly quietMs?: number;
  /** Default 10 min. */
  readonly capMs?: number;
  readonly clock?: Clock;
}

interface Held {
  readonly socket: Socket;
  readonly until: number;
  heardAt: number;
}

export function startPortDrain(options: PortDrainOptions = {}): PortDrain {
  const { quietMs = 30_000, capMs = 600_000, clock = steadyClock } = options;
  const held = new Set<Held>();
  let alarm: Disposable | undefined;

  return {
    add,
    get size() {
      return held.size;
    },
    close,
  };

  function add(socket: Socket): void {
    const now = clock.now();
    const entry: Held = { socket, until: now + capMs, heardAt: now };
    socket.removeAllListeners("message");
    socket.on("message", () => (entry.heardAt = clock.now()));
    held.add(entry);
    if (alarm === undefined) arm();
  }

  function arm(): void {
    let next = Infinity;
    for (const entry of held) next = Math.min(next, releaseAt(entry));
    alarm = next === Infinity ? undefined : clock.alarm(next, sweep);
  }

  function sweep(): void {
    const now = clock.now();
    for (const entry of held) if (releaseAt(entry) <= now) release(entry);
    arm();
  }

  function releaseAt(entry: Held): number {
    return Math.min(entry.until, entry.heardAt + quietMs);
  }

  function release(entry: Held): void {
    held.delete(entry);
    entry.socket.close();
  }

  function close(): void {
    alarm?.[Symbol.dispose]();
    alarm = undefined;
    for (const entry of held) release(entry);
  }
}
