import { phrasesOf } from "./phrase-book.ts";
import { plainWords } from "./phrases.ts";

/** Silence after speech whose words are not known, before it counts as said. */
const wordlessMs = 700;
const wordsMs = 300;
const afterPunctuationMs = 150;
const afterNumberMs = 600;
const afterHesitationMs = 1200;

/** How long a callee must be quiet before what they said is taken as said, by how it ends. */
export function endOfTurnMs(words: string, language: string): number {
  if (words === "") return wordlessMs;
  const plain = plainWords(words);
  if (phrasesOf(language).hesitations.some((word) => plain.endsWith(` ${word} `))) return afterHesitationMs;
  if (/\d\W*$/.test(words)) return afterNumberMs;
  return /[.!?…]["'”’»)]*$/.test(words) ? afterPunctuationMs : wordsMs;
}

/** Whether the words only show that the callee listens ("sí", "uh huh"). */
export function isListening(words: string, language: string): boolean {
  return phrasesOf(language).listening.includes(plainWords(words).trim());
}

/** Whether the words only ask for the floor ("wait", "perdone"). */
export function isInterrupting(words: string, language: string): boolean {
  return phrasesOf(language).interrupting.includes(plainWords(words).trim());
}
