import { frameMs, frameSamples } from "./frame.ts";
import type { RtpHeader } from "./rtp.ts";

const digits = "0123456789*#ABCD"; // event codes 0 to 15, RFC 4733 3.2
const endPackets = 3;
const volume = 10; // −10 dBm0
const tenSeconds = 80_000;
const longestPause = 2 * frameSamples;

/** How long a digit sounds and how long the pause after it is; whole frames, at least two each. */
export interface DtmfTiming {
  /** Default 100. */
  readonly digitMs?: number;
  /** Default 100. */
  readonly gapMs?: number;
}

interface Press {
  readonly event: number;
  readonly frames: number;
  readonly gapFrames: number;
}

/** Whether every character is a key of a telephone: 0–9, `*`, `#`, A–D. */
export function isDialString(text: string): boolean {
  return /^[0-9*#A-D]+$/i.test(text);
}

/**
 * Sends digits as RFC 4733 events: one packet a frame, the marker on the first, one timestamp an event, the end
 * said three times. What `next` leaves in the fields is the packet to send in place of sound.
 */
export class DtmfSender {
  readonly payload = new Uint8Array(4);
  marker = false;
  timestamp = 0;
  readonly #waiting: Press[] = [];
  #press: Press | undefined;
  #frame = 0;
  #gap = 0;

  get busy(): boolean {
    return this.#press !== undefined || this.#waiting.length > 0;
  }

  /** Queues digits; characters that are not keys are left out. */
  press(text: string, timing: DtmfTiming = {}): void {
    const frames = Math.max(2, Math.round((timing.digitMs ?? 100) / frameMs));
    const gapFrames = Math.max(2, Math.round((timing.gapMs ?? 100) / frameMs));
    for (const key of text.toUpperCase()) {
      const event = digits.indexOf(key);
      if (event >= 0) this.#waiting.push({ event, frames, gapFrames });
    }
  }

  /** To be called once a frame with its timestamp. True: send `payload` instead of sound. */
  next(timestamp: number): boolean {
    if (this.#gap > 0) {
      this.#gap--;
      return false;
    }
    if (this.#press === undefined && !this.#begin(timestamp)) return false;
    const press = this.#press;
    if (press === undefined) return false;
    this.#frame++;
    this.marker = this.#frame === 1;
    const ended = this.#frame >= press.frames;
    this.payload[0] = press.event;
    this.payload[1] = (ended ? 0x80 : 0) | volume;
    const duration = Math.min(0xffff, Math.min(this.#frame, press.frames) * frameSamples);
    this.payload[2] = duration >> 8;
    this.payload[3] = duration;
    if (this.#frame === press.frames + endPackets - 1) {
      this.#press = undefined;
      this.#gap = Math.max(0, press.gapFrames - (endPackets - 1));
    }
    return true;
  }

  #begin(timestamp: number): boolean {
    this.#press = this.#waiting.shift();
    this.#frame = 0;
    this.timestamp = timestamp;
    return this.#press !== undefined;
  }
}

/** Hears RFC 4733 events: each digit once, at its first packet, whichever of its packets are lost or repeated. */
export class DtmfReceiver {
  #heard = false;
  #event = 0;
  #timestamp = 0;
  #duration = 0;
  #ended = false;

  /** For a change of source. */
  reset(): void {
    this.#heard = false;
  }

  /** Takes the event packet that `header` describes; answers the digit when it is a new one. */
  receive(packet: Uint8Array, header: RtpHeader): string | undefined {
    if (header.length < 4) return undefined;
    const event = packet[header.offset] ?? 0;
    if (event >= digits.length) return undefined;
    const ended = ((packet[header.offset + 1] ?? 0) & 0x80) !== 0;
    const duration = ((packet[header.offset + 2] ?? 0) << 8) | (packet[header.offset + 3] ?? 0);
    const age = (header.timestamp - this.#timestamp) | 0;
    if (this.#heard && age < 0 && age > -tenSeconds) return undefined; // a straggler of an earlier event
    const known =
      this.#heard && (age === 0 || this.#continues(event, header, ended && duration === this.#duration));
    if (known && age === 0) this.#ended ||= ended;
    else this.#ended = ended;
    this.#duration = known && age === 0 ? Math.max(this.#duration, duration) : duration;
    this.#heard = true;
    this.#event = event;
    this.#timestamp = header.timestamp;
    return known ? undefined : digits[event];
  }

  /**
   * A long press goes on in a new segment (RFC 4733 2.5.1.3); some senders give each update, and each repeated end,
   * a new timestamp.
   */
  #continues(event: number, header: RtpHeader, repeatsEnd: boolean): boolean {
    if ((this.#ended && !repeatsEnd) || header.marker || event !== this.#event) return false;
    const pause = (header.timestamp - this.#timestamp - this.#duration) | 0;
    return pause <= longestPause;
  }
}
