import { endsSentence, sentencesOf } from "./sentence.ts";

/** The first piece may end at a comma after so many characters: the sooner it is spoken. */
const firstClauseChars = 25;

/** Cuts a text that is still being written into sentences, each given out as soon as it is sure to be one. */
export class SentenceCutter {
  readonly #language: string;
  #open = "";
  #given = false;

  constructor(language: string) {
    this.#language = language;
  }

  /** Sentences that are complete with this piece. */
  push(piece: string): readonly string[] {
    this.#open += piece;
    const done: string[] = [];
    for (let end = this.#endOfFirst(); end !== undefined; end = this.#endOfFirst()) {
      done.push(...sentencesOf(this.#open.slice(0, end), this.#language));
      this.#open = this.#open.slice(end).trimStart();
      this.#given ||= done.length > 0;
    }
    return done;
  }

  /** Nothing more comes: what is left. */
  flush(): readonly string[] {
    const rest = sentencesOf(this.#open, this.#language);
    this.#open = "";
    this.#given = false;
    return rest;
  }

  /** A word ends a sentence only when the beginning of the next one is known. */
  #endOfFirst(): number | undefined {
    const words = [...this.#open.matchAll(/\S+/g)];
    for (const [i, word] of words.slice(0, -1).entries()) {
      const next = words[i + 1]?.[0];
      const end = word.index + word[0].length;
      if (
        endsSentence(word[0], next, this.#language) ||
        /\n\s*\n/.test(this.#open.slice(end, words[i + 1]?.index))
      )
        return end;
      if (!this.#given && end >= firstClauseChars && /\p{L}[,;:]$/u.test(word[0])) return end;
    }
    return undefined;
  }
}
