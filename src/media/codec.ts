import { decodeG711, encodeG711, type G711Codec, type OctetRun } from "./g711.ts";
import { G722Decoder, G722Encoder } from "./g722.ts";
import { Resampler } from "./resample.ts";

/** What a telephone may speak, by RTP names (RFC 3551). All have an RTP clock of 8000 and 160 octets in 20 ms. */
export type Codec = G711Codec | "G722";

/** 8 kHz sound to octets, in one stream; G.722's upper band stays empty, and its sound comes 2.5 ms late. */
export class AudioEncoder {
  #wide: WideEncoder | undefined;

  /** Encodes all of `pcm` into `octets` from `at` on; answers the position after the last octet. */
  encode(codec: Codec, pcm: Int16Array, octets: Uint8Array, at: number): number {
    if (codec !== "G722") return encodeG711(codec, pcm, octets, at);
    this.#wide ??= new WideEncoder();
    return this.#wide.encode(pcm, octets, at);
  }
}

/** Octets of one stream to 8 kHz sound. G.722 wants its packets in order: one out of place is heard as a short crackle. */
export class AudioDecoder {
  #wide: WideDecoder | undefined;

  /** Decodes `run` of `octets` to the start of `pcm`; answers how many samples, one for each octet, never more than fit. */
  decode(codec: Codec, octets: Uint8Array, pcm: Int16Array, run: OctetRun): number {
    if (codec !== "G722") return decodeG711(codec, octets, pcm, run);
    this.#wide ??= new WideDecoder();
    return this.#wide.decode(octets, pcm, run);
  }

  /** Forgets the stream: the next octets are of another. */
  reset(): void {
    this.#wide = undefined;
  }
}

class WideEncoder {
  readonly #codec = new G722Encoder();
  readonly #resampler = new Resampler(8000, 16_000, { steady: true });
  #wide = new Int16Array(0);

  encode(pcm: Int16Array, octets: Uint8Array, at: number): number {
    if (this.#wide.length !== 2 * pcm.length) this.#wide = new Int16Array(2 * pcm.length);
    this.#resampler.into(pcm, this.#wide);
    return this.#codec.encode(this.#wide, octets, at);
  }
}

class WideDecoder {
  readonly #codec = new G722Decoder();
  readonly #resampler = new Resampler(16_000, 8000, { steady: true });
  #wide = new Int16Array(0);

  decode(octets: Uint8Array, pcm: Int16Array, run: OctetRun): number {
    const samples = 2 * Math.min(run.length, pcm.length);
    if (this.#wide.length !== samples) this.#wide = new Int16Array(samples);
    this.#codec.decode(octets, this.#wide, run);
    return this.#resampler.into(this.#wide, pcm);
  }
}
