/** What the machine itself says, writes and listens for in one language. Word lists are lower case, without accents. */
export interface Phrases {
  /** Asks a silent callee for a sign of life. */
  readonly stillThere: string;
  readonly goodbye: string;
  /** To someone who asked not to be called again. */
  readonly optedOut: string;
  /** When the agent cannot go on. */
  readonly trouble: string;
  /** While the agent's own answer takes too long. */
  readonly oneMoment: string;
  /** When words cannot be understood any more, only keys. */
  readonly cannotHear: string;
  /** In the transcript, for speech whose words nobody knows; `seconds` is already written in the language's way. */
  readonly unheard: (seconds: string) => string;
  /** The same, although there was a transcriber. */
  readonly notUnderstood: (seconds: string) => string;
  readonly decimalPoint: "." | ",";
  /** Anywhere in what the callee says: never call again. */
  readonly stop: readonly string[];
  /** As the last word: the callee is still thinking. */
  readonly hesitations: readonly string[];
  /** As the whole of it: the callee only shows that they listen. */
  readonly listening: readonly string[];
  /** As the whole of it, into the agent's words: the callee wants the floor. */
  readonly interrupting: readonly string[];
  /** Anywhere: a machine that takes messages. */
  readonly voicemail: readonly string[];
  /** Anywhere: a machine that offers choices. */
  readonly menu: readonly string[];
  /** Words that end in a full stop without ending the sentence. */
  readonly abbreviations: readonly string[];
  readonly summary: SummaryPhrases;
}

/** Parts of the one-line summary of a call, joined by semicolons. */
interface SummaryPhrases {
  readonly person: string;
  readonly voicemail: string;
  readonly menu: string;
  readonly fax: string;
  readonly silence: string;
  readonly unknown: string;
  readonly pressed: (digits: string) => string;
  readonly messageLeft: string;
  readonly messageNotLeft: string;
  readonly optedOut: string;
  readonly hungUp: (step: string | undefined) => string;
  readonly operator: (step: string | undefined) => string;
  readonly limit: (step: string | undefined) => string;
  readonly noReply: (step: string | undefined) => string;
  readonly trouble: string;
}

/** Lower case, without accents, everything but letters and digits a single space, a space at both ends. */
export function plainWords(text: string): string {
  const words = text
    .normalize("NFD")
    .replace(/\p{M}/gu, "")
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, " ");
  return ` ${words.trim()} `;
}

/** Whether one of the phrases stands in the text as whole words. */
export function holdsPhrase(text: string, phrases: readonly string[]): boolean {
  const plain = plainWords(text);
  return phrases.some((phrase) => plain.includes(plainWords(phrase)));
}

/** Milliseconds as seconds with one decimal, in the language's way of writing. */
export function secondsText(ms: number, phrases: Phrases): string {
  return (Math.max(100, ms) / 1000).toFixed(1).replace(".", phrases.decimalPoint);
}
