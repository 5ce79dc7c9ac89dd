import { phrasesOf } from "./phrase-book.ts";
import { plainWords } from "./phrases.ts";

/** Longer pieces delay the first sound and are cut less exactly when interrupted. */
const maxChars = 280;

/**
 * Cuts a text into what is spoken at one go: sentences, and pieces of very long ones. Abbreviations of the language,
 * initials, numbers (`3.5`, `10:30`, German `3. Mai`) do not end a sentence. Joined by spaces they are the text again.
 */
export function sentencesOf(text: string, language: string): readonly string[] {
  const words = text
    .trim()
    .split(/\s+/)
    .filter((word) => word !== "");
  const sentences: string[] = [];
  let open: string[] = [];
  words.forEach((word, i) => {
    open.push(word);
    if (!endsSentence(word, words[i + 1], language)) return;
    sentences.push(open.join(" "));
    open = [];
  });
  if (open.length > 0) sentences.push(open.join(" "));
  return sentences.flatMap(shorten);
}

/** Whether a word is the last of a sentence, `next` being the one after it. */
export function endsSentence(word: string, next: string | undefined, language: string): boolean {
  if (next === undefined) return true;
  const bare = word.replace(/["'”’»)\]]+$/, "");
  if (/[!?…。！？]$/.test(bare)) return !/^\p{Ll}/u.test(next);
  if (!bare.endsWith(".")) return false;
  if (/\p{Ll}/u.test(next[0] ?? "")) return false;
  if (isAbbreviation(bare.slice(0, -1), language)) return false;
  return !/^\d{1,2}\.$/.test(bare) || !ordinalDot(language) || /^\p{P}*\d/u.test(next);
}

function isAbbreviation(word: string, language: string): boolean {
  const last = plainWords(word).trim().split(" ").at(-1) ?? "";
  if (/^\p{Lu}$/u.test(word.replace(/^\P{L}+/u, ""))) return true; // An initial: J. Pérez.
  return phrasesOf(language).abbreviations.includes(last);
}

/** German writes "am 3. Mai"; elsewhere a number and a full stop end a sentence. */
function ordinalDot(language: string): boolean {
  return language.toLowerCase().startsWith("de");
}

function shorten(sentence: string): readonly string[] {
  const pieces: string[] = [];
  let rest = sentence;
  while (rest.length > maxChars) {
    const window = rest.slice(0, maxChars);
    const comma = Math.max(window.lastIndexOf(", "), window.lastIndexOf("; "), window.lastIndexOf(": "));
    const space = window.lastIndexOf(" ");
    const at = comma > maxChars / 4 ? comma + 1 : space > 0 ? space : maxChars;
    pieces.push(rest.slice(0, at).trim());
    rest = rest.slice(at).trim();
  }
  return rest === "" ? pieces : [...pieces, rest];
}
