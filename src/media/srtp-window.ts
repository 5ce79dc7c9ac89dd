const windowPackets = 64;

/** Which of the last 64 packet indices were seen (RFC 3711 3.3.2). */
export class ReplayWindow {
  /** At an index modulo 64: the last index seen there. */
  readonly #seen = new Float64Array(windowPackets).fill(-1);
  #highest = -1;

  /** The highest index seen; −1 before the first. */
  get highest(): number {
    return this.#highest;
  }

  /** False for an index that was seen or is too old to tell. */
  isFresh(index: number): boolean {
    return index > this.#highest - windowPackets && this.#seen[index % windowPackets] !== index;
  }

  /** To be called only for a packet that was authenticated. */
  note(index: number): void {
    this.#seen[index % windowPackets] = index;
    if (index > this.#highest) this.#highest = index;
  }
}

/**
 * The 48-bit index of a packet with this sequence number: the one closest to the highest so far (RFC 3711 3.3.1,
 * appendix A). Negative for a packet from before the first one's roll-over.
 */
export function estimateIndex(sequence: number, highest: number): number {
  if (highest < 0) return sequence;
  const last = highest % 65_536;
  const base = highest - last;
  if (sequence - last > 32_768) return base - 65_536 + sequence;
  return last - sequence > 32_768 ? base + 65_536 + sequence : base + sequence;
}
