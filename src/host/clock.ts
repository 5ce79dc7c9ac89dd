import type { Clock, Entropy } from "#base";
import { randomBytes } from "node:crypto";

const longestTimerMs = 2_147_483_647;

/** Epoch milliseconds as the machine's calendar says; jumps when the clock is set. For due times and records. */
export const wallClock: Clock = { now: () => Date.now(), alarm: (at, wake) => alarm(at - Date.now(), wake) };

/** Milliseconds that never jump, on the epoch scale at the start of the process. For protocol timers. */
export const steadyClock: Clock = {
  now: () => performance.timeOrigin + performance.now(),
  alarm: (at, wake) => alarm(at - (performance.timeOrigin + performance.now()), wake),
};

/** The operating system's random source. */
export const systemEntropy: Entropy = { bytes: (length) => new Uint8Array(randomBytes(length)) };

function alarm(delayMs: number, wake: () => void): Disposable {
  const timer = setTimeout(wake, Math.min(longestTimerMs, Math.max(0, Math.ceil(delayMs))));
  return { [Symbol.dispose]: () => clearTimeout(timer) };
}
