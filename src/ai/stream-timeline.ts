/** Where in the call the audio of a provider's stream was: what was left out or dropped moves its clock against ours. */
export class StreamTimeline {
  readonly #anchors: { readonly streamMs: number; readonly atMs: number }[] = [];
  #streamMs = 0;
  #nextAtMs: number | undefined;

  /** Audio of `durationMs`, heard at `atMs` of the call, was sent. */
  sent(atMs: number, durationMs: number): void {
    if (this.#nextAtMs === undefined || Math.abs(atMs - this.#nextAtMs) > 1) {
      this.#anchors.push({ streamMs: this.#streamMs, atMs });
      if (this.#anchors.length > mostAnchors) this.#anchors.shift();
    }
    this.#streamMs += durationMs;
    this.#nextAtMs = atMs + durationMs;
  }

  /** The time in the call of a time in the stream. */
  callTime(streamMs: number): number {
    const anchor = this.#anchors.findLast((known) => known.streamMs <= streamMs) ?? this.#anchors[0];
    return anchor === undefined ? streamMs : Math.max(0, anchor.atMs + streamMs - anchor.streamMs);
  }

  /** The end, in the call, of what was sent. */
  get endMs(): number {
    return this.#nextAtMs ?? 0;
  }
}

const mostAnchors = 512;
