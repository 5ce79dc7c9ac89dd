/*
 * A model's text as it can be spoken: models write for screens, a voice reads everything out.
 */

/** Markup, pictures, addresses in brackets and control characters taken out; "" when nothing is left to say. */
export function speakable(text: string): string {
  const plain = text
    .replace(/```[a-z]*/gi, " ")
    .replace(/!?\[([^\]]*)\]\([^)]*\)/g, "$1")
    .replace(/<[^<>]{0,200}>/g, " ")
    .replace(/^\s*(?:#{1,6}|[-*•]|>)\s+/gm, "")
    .replace(/[*`~|]+|(?<![\p{L}\p{N}])_+|_+(?![\p{L}\p{N}])/gu, "")
    .replace(/[\p{Extended_Pictographic}\u{FE0F}\u{200D}]/gu, "")
    .replace(/[\p{Cc}\p{Cf}\p{Co}\p{Cn}]+/gu, " ")
    .replace(/\s+/g, " ")
    .trim();
  return /[\p{L}\p{N}]/u.test(plain) ? plain : "";
}

const opening = "<think>";
const closing = "</think>";

/** Takes out what some models think aloud before they answer (`<think>…</think>`), while it streams. */
export class ThoughtFilter {
  #held = "";
  #thinking = false;

  push(piece: string): string {
    this.#held += piece;
    let out = "";
    for (;;) {
      const mark = this.#thinking ? closing : opening;
      const at = this.#held.indexOf(mark);
      if (at < 0) break;
      if (!this.#thinking) out += this.#held.slice(0, at);
      this.#held = this.#held.slice(at + mark.length);
      this.#thinking = !this.#thinking;
    }
    const keep = beginningOf(this.#thinking ? closing : opening, this.#held);
    if (!this.#thinking) out += this.#held.slice(0, this.#held.length - keep);
    this.#held = this.#held.slice(this.#held.length - keep);
    return out;
  }

  /** Nothing more comes. */
  flush(): string {
    const rest = this.#thinking ? "" : this.#held;
    this.#held = "";
    return rest;
  }
}

/** How many characters at the end of a text may be the beginning of the mark. */
function beginningOf(mark: string, text: string): number {
  for (let n = Math.min(mark.length - 1, text.length); n > 0; n--)
    if (text.endsWith(mark.slice(0, n))) return n;
  return 0;
}
