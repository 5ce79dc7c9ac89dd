import type { RtpHeader } from "./rtp.ts";
import { fromT140, lossMark } from "./text.ts";
import type { TextFormat } from "./text-sender.ts";

/**
 * Reads T.140 text over RTP (RFC 4103): lost packets are recovered from the repetitions in the next one, what
 * cannot be recovered leaves one U+FFFD.
 */
export class TextReceiver {
  readonly #format: TextFormat;
  readonly #decoder = new TextDecoder("utf-8", { ignoreBOM: true });
  #ssrc: number | undefined;
  #expected = 0;

  constructor(format: TextFormat) {
    this.#format = format;
  }

  /** The text that this packet adds: "\n" is a new line, "\b" erases. Undefined: not a text packet of this session. */
  receive(packet: Uint8Array, header: RtpHeader): string | undefined {
    const blocks = this.#blocks(packet.subarray(header.offset, header.offset + header.length), header);
    if (blocks === undefined) return undefined;
    const begins = header.ssrc !== this.#ssrc;
    const missing = begins ? blocks.length - 1 : ((header.sequence - this.#expected) << 16) >> 16;
    if (missing < 0) return ""; // came twice, or after it was recovered
    this.#ssrc = header.ssrc;
    this.#expected = (header.sequence + 1) & 0xffff;
    const recovered = Math.min(missing, blocks.length - 1);
    const mark = missing > recovered ? lossMark : "";
    const texts = blocks.slice(blocks.length - 1 - recovered).map((block) => this.#decoder.decode(block));
    return mark + fromT140(texts.join(""));
  }

  /** The repeated blocks, oldest first, and the new one. */
  #blocks(payload: Uint8Array, header: RtpHeader): readonly Uint8Array[] | undefined {
    if (header.payloadType === this.#format.payloadType) return [payload];
    if (header.payloadType !== this.#format.redPayloadType) return undefined;
    const lengths: number[] = [];
    let at = 0;
    while (at < payload.length && ((payload[at] ?? 0) & 0x80) !== 0) {
      if (at + 4 > payload.length) return undefined;
      lengths.push((((payload[at + 2] ?? 0) & 3) << 8) | (payload[at + 3] ?? 0));
      at += 4;
    }
    if (at >= payload.length) return undefined;
    at++;
    const blocks: Uint8Array[] = [];
    for (const length of lengths) {
      if (at + length > payload.length) return undefined;
      blocks.push(payload.subarray(at, at + length));
      at += length;
    }
    blocks.push(payload.subarray(at));
    return blocks;
  }
}
