/** What makes the callees audible: text in, 8 kHz PCM out. Rejects when it cannot speak now. */
export interface Voice {
  say(text: string, language: string): Promise<Int16Array>;
}

const rateHz = 8_000;
const syllableMs = 160;

/**
 * Sound with the rhythm of speech, for machines without a synthesiser: one vowel-like burst a syllable, pauses at
 * punctuation. It carries no words and does not pretend to.
 */
export function murmur(text: string): Int16Array {
  const parts = text.split(/(?<=[.,;:!?¿¡])\s+/u);
  const samples: number[] = [];
  for (const [index, part] of parts.entries()) {
    const syllables = part.match(/[aeiouyáéíóúàèìòùâêîôûäöüãõ]+/giu) ?? [part];
    for (const [at, syllable] of syllables.entries()) pushVowel(samples, syllable.codePointAt(0) ?? 97, at);
    if (index < parts.length - 1) samples.push(...Array.from({ length: 0.25 * rateHz }, () => 0));
  }
  return Int16Array.from(samples);
}

/** Two formants over a gliding fundamental, with a soft start and end. */
function pushVowel(samples: number[], seed: number, at: number): void {
  const count = (syllableMs * rateHz) / 1000;
  const fundamentalHz = 120 + ((seed + at * 7) % 30);
  const formantsHz = [400 + (seed % 5) * 90, 1_100 + (seed % 7) * 160];
  for (let i = 0; i < count; i++) {
    const seconds = i / rateHz;
    const envelope = Math.min(1, i / 200, (count - i) / 300);
    let value = 0;
    for (let harmonic = 1; harmonic <= 16; harmonic++) {
      const hz = fundamentalHz * harmonic;
      const gain = Math.max(...formantsHz.map((formant) => 1 / (1 + ((hz - formant) / 120) ** 2)));
      value += gain * Math.sin(2 * Math.PI * hz * seconds);
    }
    samples.push(Math.round(3_000 * envelope * value));
  }
}
