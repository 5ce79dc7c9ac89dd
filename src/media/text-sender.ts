import { toT140 } from "./text.ts";

const bufferMs = 300; // RFC 4103 5.1
const generations = 2;
const charactersPerSecond = 30; // RFC 4103 6, averaged over ten seconds
const burstCharacters = 10 * charactersPerSecond;
const largestBlock = 1023; // ten bits of length
const largestOffset = 16_383; // fourteen bits

interface Block {
  readonly octets: Uint8Array;
  readonly timestamp: number;
}

/** The payload numbers of one direction; without `redPayloadType` text goes without redundancy. */
export interface TextFormat {
  readonly payloadType: number;
  readonly redPayloadType?: number;
}

/**
 * Sends T.140 text over RTP (RFC 4103): what is typed within 300 ms goes in one packet, which also repeats the two
 * packets before it (RFC 2198). What `next` leaves in the fields is the packet to send. The clock runs at 1000 Hz.
 */
export class TextSender {
  readonly payload = new Uint8Array(3 * largestBlock + 4 * generations + 1);
  length = 0;
  marker = false;
  timestamp = 0;
  readonly payloadType: number;
  readonly #format: TextFormat;
  readonly #firstTimestamp: number;
  readonly #encoder = new TextEncoder();
  #waiting = "\u{feff}"; // T.140 8.1: a session begins with a byte order mark
  #sent: readonly Block[] = [];
  #sentAt = -Infinity;
  #allowance = burstCharacters;
  #allowedAt: number | undefined;

  constructor(format: TextFormat, firstTimestamp: number) {
    this.#format = format;
    this.#firstTimestamp = firstTimestamp;
    this.payloadType = format.redPayloadType ?? format.payloadType;
  }

  /** True while something is to be sent or repeated. */
  get busy(): boolean {
    return this.#waiting.length > 0 || this.#sent.some((block) => block.octets.length > 0);
  }

  /** Queues text; "\b" erases at the reader's side, "\n" becomes a line separator. */
  type(text: string): void {
    this.#waiting += toT140(text);
  }

  /** To be called each frame. True: send the first `length` octets of `payload`. */
  next(now: number): boolean {
    if (!this.busy || now - this.#sentAt < bufferMs) return false;
    this.#sentAt = now;
    this.timestamp = (this.#firstTimestamp + Math.round(now)) >>> 0;
    this.marker = this.#sent.every((block) => block.octets.length === 0);
    const primary: Block = { octets: this.#take(now), timestamp: this.timestamp };
    this.length = 0;
    const redundant = this.#format.redPayloadType === undefined ? [] : this.#sent;
    if (this.#format.redPayloadType !== undefined) this.#writeHeaders(redundant);
    for (const block of [...redundant, primary]) {
      this.payload.set(block.octets, this.length);
      this.length += block.octets.length;
    }
    this.#sent =
      this.#format.redPayloadType === undefined ? [] : [...this.#sent, primary].slice(-generations);
    return this.length > 0;
  }

  /** RFC 2198 3: four octets for each repeated block, one for the new one. */
  #writeHeaders(redundant: readonly Block[]): void {
    for (const block of redundant) {
      const offset = Math.min(largestOffset, (this.timestamp - block.timestamp) >>> 0);
      this.payload[this.length++] = 0x80 | this.#format.payloadType;
      this.payload[this.length++] = offset >> 6;
      this.payload[this.length++] = ((offset & 0x3f) << 2) | (block.octets.length >> 8);
      this.payload[this.length++] = block.octets.length;
    }
    this.payload[this.length++] = this.#format.payloadType;
  }

  /** As many waiting characters as the reader's pace allows now. */
  #take(now: number): Uint8Array {
    const passedMs = now - (this.#allowedAt ?? now);
    this.#allowedAt = now;
    this.#allowance = Math.min(burstCharacters, this.#allowance + (passedMs * charactersPerSecond) / 1000);
    const characters = Array.from(this.#waiting.slice(0, 2 * burstCharacters));
    const count = Math.min(characters.length, Math.floor(this.#allowance), largestBlock >> 2);
    const text = characters.slice(0, count).join("");
    this.#waiting = this.#waiting.slice(text.length);
    this.#allowance -= count;
    return this.#encoder.encode(text);
  }
}
