import type { Codec } from "./codec.ts";

/** What is known of one direction of a call. */
interface Transmission {
  readonly codec: Codec;
  /** Packets lost or too late, 0 to 1. */
  readonly lossShare: number;
  /** Mouth to ear. */
  readonly delayMs: number;
}

/** R of an undisturbed narrow-band connection (ITU-T G.107, default values). */
const undisturbed = 93.2;
/** How well a codec with concealment stands random loss: G.711's of G.113 appendix I; G.722's an assumption, as its memory suffers beyond the gap itself. */
const robustness: Readonly<Record<Codec, number>> = { PCMU: 25.1, PCMA: 25.1, G722: 14 };

/**
 * The listening quality that the E-model of ITU-T G.107 foresees, as a mean opinion score from 1 to 4.41. Simplified:
 * no echo, random loss, the delay impairment of its usual approximation. All codecs are heard at 8 kHz here, so none
 * is better than G.711.
 */
export function estimateMos({ codec, lossShare, delayMs }: Transmission): number {
  const loss = 100 * Math.max(0, Math.min(1, lossShare));
  const delayImpairment = 0.024 * delayMs + 0.11 * Math.max(0, delayMs - 177.3);
  const lossImpairment = (95 * loss) / (loss + robustness[codec]);
  const r = Math.max(0, Math.min(100, undisturbed - delayImpairment - lossImpairment));
  return Math.max(1, 1 + 0.035 * r + r * (r - 60) * (100 - r) * 7e-6);
}
