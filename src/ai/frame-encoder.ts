import type { HeardFrame } from "#talk";
import { encodeG711, Resampler } from "#media";

/** What a provider is sent: G.711 µ-law at 8 kHz, or 16-bit little-endian PCM. */
export type WireAudio =
  | { readonly encoding: "mulaw"; readonly rateHz: 8000 }
  | { readonly encoding: "linear16"; readonly rateHz: 8000 | 16_000 | 24_000 };

/** Frames as octets, one after the other: a resampler in it remembers. µ-law of the line passes untouched. */
export class FrameEncoder {
  readonly #audio: WireAudio;
  #resampler: { readonly fromHz: number; readonly run: Resampler } | undefined;

  constructor(audio: WireAudio) {
    this.#audio = audio;
  }

  encode(frame: HeardFrame): Uint8Array {
    const { encoding, rateHz } = this.#audio;
    if (encoding === "mulaw" && frame.g711?.law === "pcmu") return frame.g711.bytes.slice();
    const pcm = frame.rateHz === rateHz ? frame.pcm : this.#resampled(frame);
    return encoding === "mulaw" ? muLaw(pcm) : littleEndian(pcm);
  }

  #resampled(frame: HeardFrame): Int16Array {
    if (this.#resampler?.fromHz !== frame.rateHz) {
      this.#resampler = { fromHz: frame.rateHz, run: new Resampler(frame.rateHz, this.#audio.rateHz) };
    }
    return this.#resampler.run.push(frame.pcm);
  }
}

/** Octets of this audio in a millisecond. */
export function bytesPerMs(audio: WireAudio): number {
  return ((audio.encoding === "mulaw" ? 1 : 2) * audio.rateHz) / 1000;
}

/** 16-bit samples as octets. */
export function littleEndian(pcm: Int16Array): Uint8Array {
  const octets = new Uint8Array(pcm.length * 2);
  const view = new DataView(octets.buffer);
  for (let i = 0; i < pcm.length; i++) view.setInt16(2 * i, pcm[i] ?? 0, true);
  return octets;
}

function muLaw(pcm: Int16Array): Uint8Array {
  const octets = new Uint8Array(pcm.length);
  encodeG711("PCMU", pcm, octets);
  return octets;
}
