/** Character classes and small scanners over header text; every function is one forward pass without regular expressions. */

const TOKEN = classOf("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-.!%*_+`'~");

/** A look-up table of the ASCII characters given. */
export function classOf(characters: string): Uint8Array {
  const table = new Uint8Array(128);
  for (let i = 0; i < characters.length; i++) table[characters.charCodeAt(i)] = 1;
  return table;
}

/** Whether a character code is in the class; everything beyond ASCII is not. */
export function isIn(table: Uint8Array, code: number): boolean {
  return code < 128 && table[code] === 1;
}

/** RFC 3261 25.1 `token`: at least one character, all of the class. */
export function isToken(text: string): boolean {
  return text.length > 0 && endOfToken(text, 0) === text.length;
}

/** Index after the token that starts at `at`; `at` itself when there is none. */
export function endOfToken(text: string, at: number): number {
  let i = at;
  while (i < text.length && isIn(TOKEN, text.charCodeAt(i))) i++;
  return i;
}

export function isSpace(code: number): boolean {
  return code === 0x20 || code === 0x09;
}

/** Index of the first character at or after `at` that is no space or tab. */
export function skipSpace(text: string, at: number): number {
  let i = at;
  while (i < text.length && isSpace(text.charCodeAt(i))) i++;
  return i;
}

/** Without the spaces and tabs at both ends; unlike `String.trim` it leaves every other character alone. */
export function trimSpace(text: string): string {
  const start = skipSpace(text, 0);
  let end = text.length;
  while (end > start && isSpace(text.charCodeAt(end - 1))) end--;
  return text.slice(start, end);
}

/** Index after the closing quote of the quoted string that opens at `at`; undefined when it never closes. */
export function endOfQuoted(text: string, at: number): number | undefined {
  for (let i = at + 1; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (code === 0x5c) i++;
    else if (code === 0x22) return i + 1;
  }
  return undefined;
}

/** Content of a quoted string given with its quotes: `"a\"b"` is `a"b`. */
export function unquote(quoted: string): string {
  const inner = quoted.slice(1, -1);
  if (!inner.includes("\\")) return inner;
  let text = "";
  for (let i = 0; i < inner.length; i++) {
    if (inner.charCodeAt(i) === 0x5c && i + 1 < inner.length) i++;
    text += inner.charAt(i);
  }
  return text;
}

/** The text as a quoted string (RFC 3261 25.1); a line break, which cannot be quoted, becomes a space. */
export function quote(text: string): string {
  let quoted = '"';
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (code === 0x0a || code === 0x0d) quoted += " ";
    else if (code === 0x22 || code === 0x5c || code === 0x7f || (code < 0x20 && code !== 0x09))
      quoted += "\\" + text.charAt(i);
    else quoted += text.charAt(i);
  }
  return quoted + '"';
}

/** Splits at a separator that stands outside quoted strings and angle brackets; parts are trimmed, empty ones kept. An unclosed quote or bracket runs to the end. */
export function splitTopLevel(text: string, separator: number): string[] {
  const parts: string[] = [];
  let start = 0;
  let i = 0;
  while (i < text.length) {
    const code = text.charCodeAt(i);
    if (code === 0x22) i = endOfQuoted(text, i) ?? text.length;
    else if (code === 0x3c) i = endOfBracket(text, i);
    else {
      if (code === separator) {
        parts.push(trimSpace(text.slice(start, i)));
        start = i + 1;
      }
      i++;
    }
  }
  parts.push(trimSpace(text.slice(start)));
  return parts;
}

function endOfBracket(text: string, at: number): number {
  const close = text.indexOf(">", at);
  return close < 0 ? text.length : close + 1;
}

/** A run of decimal digits as a number; undefined when it is empty, has another character or exceeds `max`. */
export function readNumber(text: string, max: number): number | undefined {
  if (text.length === 0) return undefined;
  let value = 0;
  for (let i = 0; i < text.length; i++) {
    const digit = text.charCodeAt(i) - 0x30;
    if (digit < 0 || digit > 9) return undefined;
    value = value * 10 + digit;
    if (value > max) return undefined;
  }
  return value;
}
