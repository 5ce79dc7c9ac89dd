const e164 = /^\+[1-9]\d{5,14}$/;
const plainNumber = /^[+-]?\d+([.,]\d+)?$/;

/** One CSV cell (RFC 4180 2), guarded: text a spreadsheet would run as a formula gets a leading apostrophe. */
export function csvCell(text: string): string {
  const guarded =
    /^[=+\-@\t\r]/.test(text) && !e164.test(text) && !plainNumber.test(text) ? `'${text}` : text;
  return /[",\n\r]|^\s|\s$/.test(guarded) ? `"${guarded.replaceAll('"', '""')}"` : guarded;
}

/** One line of CSV with CRLF (RFC 4180 2). */
export function csvLine(cells: readonly string[]): string {
  return cells.map(csvCell).join(",") + "\r\n";
}

/** One line of tab-separated text: tabs and line breaks inside a cell become blanks. */
export function tsvLine(cells: readonly string[]): string {
  return cells.map((cell) => cell.replace(/[\t\n\r]+/g, " ")).join("\t") + "\n";
}
