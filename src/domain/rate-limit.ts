/** Allowed requests of one token: sliding windows, both hold at once. */
const windows = [
  { ms: 60_000, limit: 100 },
  { ms: 1_000, limit: 10 },
] as const;

/** Times of the requests let through in the last minute, ascending, epoch ms. Start with `[]`. */
export type RateWindow = readonly number[];

export interface RateVerdict {
  readonly window: RateWindow;
  readonly allowed: boolean;
  /** Of the minute, or of the window that refused. */
  readonly limit: number;
  readonly remaining: number;
  /** Whole seconds until that window has room again, at least 1. */
  readonly resetS: number;
}

/** Asks for one more request at `now`. A refused request does not count. */
export function askRate(before: RateWindow, now: number): RateVerdict {
  // A request from the future means that the clock was set back: forget it rather than lock the token out.
  const recent = before.filter((at) => at > now - windows[0].ms && at <= now);
  const full = windows.find(({ ms, limit }) => since(recent, now - ms).length >= limit);
  if (full) {
    const inside = since(recent, now - full.ms);
    return {
      window: recent,
      allowed: false,
      limit: full.limit,
      remaining: 0,
      resetS: seconds(inside, full.ms, now),
    };
  }
  const window = [...recent, now];
  const { ms, limit } = windows[0];
  return { window, allowed: true, limit, remaining: limit - window.length, resetS: seconds(window, ms, now) };
}

function since(times: RateWindow, after: number): RateWindow {
  return times.filter((at) => at > after);
}

/** Until the oldest request of the window leaves it. */
function seconds(inside: RateWindow, ms: number, now: number): number {
  const oldest = inside[0] ?? now;
  return Math.max(1, Math.ceil((oldest + ms - now) / 1000));
}
