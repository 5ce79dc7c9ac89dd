import { endOfToken, endOfQuoted, isSpace, isToken, quote, skipSpace, unquote } from "./scan.ts";

/**
 * Reads `;name=value;flag` from `at` to the end of the text, white space allowed around each part (RFC 3261 25.1 `generic-param`).
 * Names come in lower case, quoted values without quotes, flags as ""; of a repeated name the first counts.
 * Undefined when anything else stands there, also for an empty parameter (`;;`) unless `emptyToo`.
 */
export function readParams(text: string, at: number, emptyToo = false): Map<string, string> | undefined {
  const params = new Map<string, string>();
  let i = skipSpace(text, at);
  while (i < text.length) {
    if (text.charCodeAt(i) !== SEMICOLON) return undefined;
    i = skipSpace(text, i + 1);
    const nameEnd = endOfToken(text, i);
    if (nameEnd === i) {
      if (!emptyToo) return undefined;
      continue;
    }
    const name = text.slice(i, nameEnd).toLowerCase();
    i = skipSpace(text, nameEnd);
    let value = "";
    if (text.charCodeAt(i) === EQUALS) {
      i = skipSpace(text, i + 1);
      const end = endOfValue(text, i);
      if (end === undefined) return undefined;
      value = text.charCodeAt(i) === QUOTE ? unquote(text.slice(i, end)) : text.slice(i, end);
      i = skipSpace(text, end);
    }
    if (!params.has(name)) params.set(name, value);
  }
  return params;
}

/** The parameters as `;name=value`, quoted where the value is neither token nor host. */
export function printParams(params: Iterable<readonly [string, string]>): string {
  let text = "";
  for (const [name, value] of params) text += `;${name}${value === "" ? "" : `=${printValue(value)}`}`;
  return text;
}

const SEMICOLON = 0x3b;
const EQUALS = 0x3d;
const QUOTE = 0x22;

function endOfValue(text: string, at: number): number | undefined {
  if (text.charCodeAt(at) === QUOTE) return endOfQuoted(text, at);
  let i = at;
  while (i < text.length && isPlain(text.charCodeAt(i))) i++;
  return i;
}

function isPlain(code: number): boolean {
  return (
    !isSpace(code) && code !== SEMICOLON && code !== QUOTE && code !== 0x2c && code !== 0x3c && code !== 0x3e
  );
}

function printValue(value: string): string {
  if (isToken(value)) return value;
  for (let i = 0; i < value.length; i++) {
    const code = value.charCodeAt(i);
    // gen-value also allows a host, whose brackets and colons are no token characters
    if (code !== 0x3a && code !== 0x5b && code !== 0x5d && endOfToken(value, i) === i) return quote(value);
  }
  return value;
}
