import { phrasesDe } from "./phrases-de.ts";
import { phrasesEn } from "./phrases-en.ts";
import { phrasesEs } from "./phrases-es.ts";
import { phrasesFr } from "./phrases-fr.ts";
import { phrasesIt } from "./phrases-it.ts";
import { phrasesPt } from "./phrases-pt.ts";

import type { Phrases } from "./phrases.ts";

const byLanguage: ReadonlyMap<string, Phrases> = new Map([
  ["es", phrasesEs],
  ["en", phrasesEn],
  ["fr", phrasesFr],
  ["de", phrasesDe],
  ["it", phrasesIt],
  ["pt", phrasesPt],
]);

/** Whether there are phrases of this language's own. */
export function hasPhrases(language: string): boolean {
  return byLanguage.has(language.toLowerCase().split(/[-_]/)[0] ?? "");
}

/** The phrases of a BCP-47-like code by its first part; English for a language without any. */
export function phrasesOf(language: string): Phrases {
  return byLanguage.get(language.toLowerCase().split(/[-_]/)[0] ?? "") ?? phrasesEn;
}
