/** The only way a module learns the time. All times are milliseconds. */
export interface Clock {
  now(): number;
  /** Calls `wake` once at `at` (on the scale of `now()`), unless the returned handle is disposed before. */
  alarm(at: number, wake: () => void): Disposable;
}

/** The only way a module meets chance. */
export interface Entropy {
  /** Fresh random octets, unpredictable to a peer. */
  bytes(length: number): Uint8Array;
}
