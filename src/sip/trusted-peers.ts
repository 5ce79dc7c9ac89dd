import type { Clock } from "#base";

/** Addresses that we call or asked lately: their requests get an answer. */
export interface TrustedPeers {
  /** From now on and ten minutes longer. */
  touch(address: string): void;
  /** Until the hold is disposed, and ten minutes longer. */
  hold(address: string): Disposable;
  has(address: string): boolean;
  /** Whether a hold on it is under way. */
  isHeld(address: string): boolean;
}

const forgetMs = 600_000;

export function createTrustedPeers(clock: Clock): TrustedPeers {
  const until = new Map<string, number>();
  const held = new Map<string, number>();

  return { touch, hold, has, isHeld: (address) => held.has(address) };

  function touch(address: string): void {
    until.delete(address); // To the end: the order of the map is that of the moments.
    until.set(address, clock.now() + forgetMs);
    for (const [oldest, at] of until) {
      if (at > clock.now()) break;
      until.delete(oldest);
    }
  }

  function hold(address: string): Disposable {
    held.set(address, (held.get(address) ?? 0) + 1);
    return {
      [Symbol.dispose]() {
        const others = (held.get(address) ?? 1) - 1;
        if (others > 0) held.set(address, others);
        else held.delete(address);
        touch(address);
      },
    };
  }

  function has(address: string): boolean {
    return held.has(address) || (until.get(address) ?? -Infinity) > clock.now();
  }
}
