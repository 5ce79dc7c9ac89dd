import { endOfQuoted, endOfToken, skipSpace, trimSpace } from "./scan.ts";

/** One challenge of a WWW-Authenticate or Proxy-Authenticate header (RFC 7235 2.1). */
export interface Challenge {
  /** Lower case. */
  readonly scheme: string;
  /** Names in lower case. Values without their quotes but with escapes as they came: digests are made over that form. */
  readonly params: ReadonlyMap<string, string>;
}

/** Reads the challenges of one header value: one as SIP has it (RFC 3261 20.44), or several separated by commas. Reading stops at what is no challenge. */
export function parseChallenges(text: string): readonly Challenge[] {
  const challenges: { scheme: string; params: Map<string, string> }[] = [];
  let i = skipSeparators(text, 0);
  while (i < text.length) {
    const end = endOfToken(text, i);
    const after = skipSpace(text, end);
    if (end === i) break;
    if (text.charAt(after) !== "=") {
      challenges.push({ scheme: text.slice(i, end).toLowerCase(), params: new Map() });
      i = skipSeparators(text, after);
      continue;
    }
    const params = challenges.at(-1)?.params;
    const start = skipSpace(text, after + 1);
    const valueEnd = endOfValue(text, start);
    if (params === undefined || valueEnd === undefined) break;
    const name = text.slice(i, end).toLowerCase();
    const value = trimSpace(text.slice(start, valueEnd));
    if (!params.has(name)) params.set(name, value.startsWith('"') ? value.slice(1, -1) : value);
    i = skipSeparators(text, valueEnd);
  }
  return challenges;
}

function skipSeparators(text: string, at: number): number {
  let i = skipSpace(text, at);
  while (text.charAt(i) === ",") i = skipSpace(text, i + 1);
  return i;
}

function endOfValue(text: string, at: number): number | undefined {
  if (text.charAt(at) === '"') return endOfQuoted(text, at);
  const comma = text.indexOf(",", at);
  return comma < 0 ? text.length : comma;
}
