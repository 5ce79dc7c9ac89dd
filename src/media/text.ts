/** T.140's mark for a place where text was lost (ITU-T T.140 Amendment 1). */
export const lossMark = "\u{fffd}";

/** Text as T.140 wants it: U+2028 for a new line, no control characters but backspace. */
export function toT140(text: string): string {
  return keepPrintable(text.replaceAll(/\r\n|\r|\n/g, "\u2028"));
}

/** T.140 as text: "\n" for a new line, "\b" kept, byte order marks, bells and formatting left out. */
export function fromT140(text: string): string {
  const plain = text
    .replaceAll(/\r\n|\r|\n|\u2028|\u2029/g, "\u2028")
    .replaceAll(/\u0098[^\u009c]*\u009c/g, "") // private control strings, T.140 8.4
    .replaceAll(/\p{Cc}\[[0-9;]*m|\u009b[0-9;]*m/gu, ""); // ESC [ … m: colours and the like
  return keepPrintable(plain).replaceAll("\u2028", "\n");
}

function keepPrintable(text: string): string {
  return text.replaceAll(/\p{Cc}|\u{feff}/gu, (character) => (character === "\b" ? character : ""));
}
