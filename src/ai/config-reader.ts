import { isObject, type JsonObject } from "./json-value.ts";
import { nearWord } from "./near-word.ts";

/** Something in the configuration is not accepted. The message never holds the value: it may be a secret. */
export class ConfigProblem extends Error {
  /** Path into the configuration, e.g. `providers.openai.kind`. */
  readonly where: string;

  constructor(where: string, message: string) {
    super(message);
    this.where = where;
  }
}

export function tableAt(value: unknown, where: string): JsonObject {
  if (value === undefined) return {};
  if (isObject(value)) return value;
  throw new ConfigProblem(where, `${where} is not accepted; it takes a table: [${where}]`);
}

/** Throws when the table has a field that is not known. */
export function onlyFields(table: JsonObject, where: string, known: readonly string[]): void {
  for (const field of Object.keys(table)) {
    if (known.includes(field)) continue;
    const path = `${where}.${field}`;
    const near = nearWord(field, known);
    const hint = near === undefined ? `it takes ${known.join(", ")}` : `did you mean ${near}?`;
    throw new ConfigProblem(path, `${path} is not known; ${hint}`);
  }
}

/** A text that is not empty. */
export function textIn(table: JsonObject, where: string, field: string): string | undefined {
  const value = table[field];
  if (value === undefined || (typeof value === "string" && value.trim() !== "")) return value?.trim();
  throw refused(`${where}.${field}`, "a text");
}

export function flagIn(table: JsonObject, where: string, field: string): boolean {
  const value = table[field] ?? false;
  if (typeof value === "boolean") return value;
  throw refused(`${where}.${field}`, "true or false");
}

export function wholeIn(
  table: JsonObject,
  where: string,
  range: { readonly field: string; readonly least: number; readonly most: number },
): number | undefined {
  const value = table[range.field];
  if (value === undefined) return undefined;
  if (typeof value === "number" && Number.isInteger(value) && value >= range.least && value <= range.most)
    return value;
  throw refused(`${where}.${range.field}`, `a whole number from ${range.least} to ${range.most}`);
}

/** One of some words. */
export function wordIn<Word extends string>(
  table: JsonObject,
  where: string,
  choice: { readonly field: string; readonly words: readonly Word[] },
): Word | undefined {
  const value = table[choice.field];
  if (value === undefined) return undefined;
  const found = choice.words.find((word) => word === value);
  if (found !== undefined) return found;
  const near = typeof value === "string" ? nearWord(value, choice.words) : undefined;
  const hint = near === undefined ? "" : `; did you mean ${near}?`;
  throw refused(`${where}.${choice.field}`, `${choice.words.join(", ")}${hint}`);
}

export function refused(where: string, accepted: string): ConfigProblem {
  return new ConfigProblem(where, `${where} is not accepted; it takes ${accepted}`);
}
