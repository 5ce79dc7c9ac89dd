import type { CsvSource } from "./csv-source.ts";

/** One row as it stands in the file. */
export interface CsvRow {
  /** 1-based line on which it begins. */
  readonly line: number;
  readonly cells: readonly string[];
  /** Present when the row is not well-formed: what is wrong. */
  readonly fault?: string;
}

/** A row longer than this is a quote that was never closed, and would take the rest of the file into itself. */
const longestRow = 4 * 1024 * 1024;

interface Parsed {
  readonly data: readonly (readonly string[])[];
  readonly errors: readonly { readonly row?: number; readonly code: string }[];
  readonly meta: { readonly cursor: number };
}

/**
 * All rows but empty ones. The parser is driven by hand, over text that was decoded as one stream: its own
 * streaming breaks characters at chunk borders and ignores back-pressure.
 */
export async function* csvRows(source: CsvSource): AsyncIterable<CsvRow> {
  const { default: Papa } = await import("papaparse");
  const { delimiter, newline, hasSepLine } = source.dialect;
  const parser = new Papa.Parser({ delimiter, newline, quoteChar: '"' });
  const decoder = new TextDecoder(source.encoding);
  const counter = { line: 1, newline };
  let rest = "";
  let skip = hasSepLine;
  const take = function* (last: boolean): Iterable<CsvRow> {
    const parsed: Parsed = parser.parse(rest, 0, !last);
    for (const row of rowsOf(parsed, counter)) {
      if (skip) skip = false;
      else yield row;
    }
    rest = rest.slice(parsed.meta.cursor);
  };
  for await (const chunk of source.chunks()) {
    rest += decoder.decode(chunk, { stream: true });
    yield* take(false);
    if (rest.length > longestRow) {
      yield {
        line: counter.line,
        cells: [rest.slice(0, 200)],
        fault: "a quote is opened here and never closed",
      };
      return;
    }
  }
  rest += decoder.decode();
  if (rest !== "") yield* take(true);
}

function* rowsOf(parsed: Parsed, counter: { line: number; newline: string }): Iterable<CsvRow> {
  const faults = new Map<number, string>();
  for (const { row, code } of parsed.errors) {
    if (row !== undefined) faults.set(row, faultText(code));
  }
  for (const [at, raw] of parsed.data.entries()) {
    const { line } = counter;
    counter.line += 1 + raw.reduce((sum, cell) => sum + count(cell, counter.newline), 0);
    const last = raw.length - 1;
    const cells = raw[last]?.endsWith("\r") === true ? [...raw.slice(0, last), raw[last].slice(0, -1)] : raw;
    if (cells.every((cell) => cell.trim() === "")) continue;
    const fault = faults.get(at);
    yield fault === undefined ? { line, cells } : { line, cells, fault };
  }
}

function faultText(code: string): string {
  return code === "MissingQuotes"
    ? "a quote is opened and never closed"
    : "a quote stands in the middle of a quoted cell; it must be doubled";
}

function count(text: string, char: string): number {
  let found = 0;
  for (let at = text.indexOf(char); at >= 0; at = text.indexOf(char, at + 1)) found++;
  return found;
}
