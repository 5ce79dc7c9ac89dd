import { cleanText } from "./clean-text.ts";
import { CommandError, usageError } from "./command-error.ts";
import { clockText } from "./durations.ts";
import { fieldValue, plainValue, type Row } from "./fields.ts";
import type { Format } from "./global-options.ts";
import type { Output } from "./io.ts";
import { csvLine, tsvLine } from "./separated.ts";
import { layOut } from "./table.ts";
import { shortIds } from "./short-id.ts";
import { instantOf, relativeTime, zonedTime } from "./times.ts";
import type { Column, View } from "./views.ts";

export interface PrinterSettings {
  /** Undefined: a table on a terminal, tab-separated text in a pipe. */
  readonly format: Format | undefined;
  readonly fields: readonly string[];
  readonly header: boolean;
  readonly color: boolean;
  readonly zone: string | undefined;
  now(): number;
}

/** A part of a line, in a colour where colours may be (a parameter of SGR, ECMA-48 8.3.117). */
export interface Span {
  readonly text: string;
  readonly color?: number;
}

/** Writes a command's answer to standard output in the asked-for form, and nothing else. */
export interface Printer {
  readonly format: Format;
  readonly interactive: boolean;
  /** Records as a list: JSON array, table, CSV, ... */
  list(view: View, rows: readonly Row[]): Promise<void>;
  /** One record: JSON object, `name: value` lines, or a one-line list in csv, tsv and ids. */
  record(view: View, row: Row): Promise<void>;
  /** One event of a stream: a compact JSON line in machine formats, else `line`. */
  event(row: Row, line: string | readonly Span[]): Promise<void>;
  /** Text as it is, cleaned for a terminal; a line break is added when it has none. */
  text(text: string): Promise<void>;
  /** Bytes as they are. */
  bytes(chunk: Uint8Array): Promise<void>;
}

/** The printer for one run. */
export function createPrinter(stdout: Output, settings: PrinterSettings): Printer {
  const interactive = stdout.isTTY === true;
  const format = settings.format ?? (interactive ? "table" : "tsv");
  const write = (text: string | Uint8Array): Promise<void> => writeOut(stdout, text);
  const json = (value: unknown): Promise<void> =>
    write(jsonText(value, interactive && format === "json") + "\n");
  const safe = (text: string): string => (interactive ? cleanText(text) : text);

  return { format, interactive, list, record, event, text, bytes: write };

  async function list(view: View, rows: readonly Row[]): Promise<void> {
    const columns = chosenColumns(view, settings.fields, format);
    switch (format) {
      case "json":
        return json(rows.map((row) => chosenFields(row, columns, settings.fields)));
      case "jsonl":
        return write(
          rows.map((row) => jsonText(chosenFields(row, columns, settings.fields)) + "\n").join(""),
        );
      case "ids":
        return write(rows.map((row) => `${safe(plainValue(row[view.id]))}\n`).join(""));
      case "csv":
        return separated(columns, rows, (cells) => csvLine(cells));
      case "tsv":
        return separated(columns, rows, (cells) => tsvLine(cells));
      case "table":
      case "wide": {
        if (rows.length === 0) return;
        const values = rows.map((row) => columns.map((column) => cleanText(shown(column, row))));
        const cells = interactive && format === "table" ? shortened(columns, values) : values;
        const width = format === "wide" || !interactive ? undefined : stdout.columns;
        return write(layOut(columns, cells, { header: settings.header, color: settings.color, width }));
      }
    }
  }

  function separated(
    columns: readonly Column[],
    rows: readonly Row[],
    line: (cells: readonly string[]) => string,
  ): Promise<void> {
    const header = settings.header ? [line(columns.map((column) => column.field))] : [];
    const body = rows.map((row) => line(columns.map((column) => safe(exact(column, row)))));
    return write([...header, ...body].join(""));
  }

  async function record(view: View, row: Row): Promise<void> {
    const columns = chosenColumns(view, settings.fields, "wide");
    if (format === "json" || format === "jsonl") return json(chosenFields(row, columns, settings.fields));
    if (format === "ids" || format === "csv") return list(view, [row]);
    const lines = columns
      .map((column) => [column.field, interactive ? shown(column, row) : exact(column, row)] as const)
      .filter(([, value]) => value !== "" || settings.fields.length > 0);
    if (format === "tsv") return write(lines.map((cells) => tsvLine(cells.map(safe))).join(""));
    const width = Math.max(0, ...lines.map(([name]) => name.length));
    const dim = (name: string): string => (settings.color ? `\u001b[2m${name}\u001b[22m` : name);
    const body = lines.map(([name, value]) => `${dim(`${name}:`.padEnd(width + 2))}${cleanText(value)}\n`);
    return write(body.join(""));
  }

  async function event(row: Row, line: string | readonly Span[]): Promise<void> {
    const spans = typeof line === "string" ? [{ text: line }] : line;
    if (format === "table" || format === "wide") return write(`${spans.map(painted).join("")}\n`);
    return write(jsonText(row) + "\n");
  }

  function painted({ text, color }: Span): string {
    const clean = cleanText(text);
    return settings.color && color !== undefined ? `\u001b[${color}m${clean}\u001b[0m` : clean;
  }

  async function text(answer: string): Promise<void> {
    const lines = interactive ? answer.split("\n").map(cleanText).join("\n") : answer;
    return write(lines.endsWith("\n") ? lines : `${lines}\n`);
  }

  function exact(column: Column, row: Row): string {
    const value = fieldValue(row, column.path ?? column.field);
    const at = column.kind === "time" ? instantOf(value) : undefined;
    return at === undefined ? plainValue(value) : zonedTime(at, settings.zone);
  }

  function shown(column: Column, row: Row): string {
    const value = fieldValue(row, column.path ?? column.field);
    if (column.show !== undefined) return column.show(value, row);
    if (value === undefined || value === null || value === "") return "";
    if (column.kind === "duration" && typeof value === "number") return clockText(value);
    if (typeof value === "boolean") return value ? "yes" : "no";
    if (column.kind !== "time") return plainValue(value);
    const at = instantOf(value);
    if (at === undefined) return plainValue(value);
    return interactive && settings.zone === undefined
      ? relativeTime(at, settings.now())
      : zonedTime(at, settings.zone);
  }
}

/** Ids cut to what tells them apart within their column. */
function shortened(
  columns: readonly Column[],
  rows: readonly (readonly string[])[],
): readonly (readonly string[])[] {
  const ids = columns.map((column, at) =>
    column.kind === "id" ? shortIds(rows.map((row) => row[at] ?? "")) : undefined,
  );
  return rows.map((row, line) => row.map((cell, at) => ids[at]?.[line] ?? cell));
}

/** Writes and waits for room; rejects when the reader is gone. */
export function writeOut(stream: Output, chunk: string | Uint8Array): Promise<void> {
  if (chunk.length === 0) return Promise.resolve();
  return new Promise((resolve, reject) => {
    stream.write(chunk, (error) => (error ? reject(error) : resolve()));
  });
}

function chosenColumns(view: View, fields: readonly string[], format: Format): readonly Column[] {
  if (fields.length === 0) {
    return format === "table" ? view.columns.filter((column) => column.wide !== true) : view.columns;
  }
  return fields.map((field) => columnOf(view, field));
}

function columnOf(view: View, field: string): Column {
  const column = view.columns.find((one) => one.field === field);
  if (column !== undefined) return column;
  const head = field.split(".")[0] ?? field;
  const open = view.open.find((one) => one.prefix === head && field !== head);
  if (open !== undefined) {
    return { field, header: field.toUpperCase(), path: `${open.path}${field.slice(head.length)}` };
  }
  if (view.fields.includes(field)) return { field, header: field.toUpperCase() };
  const names = fieldNames(view).join(", ");
  throw usageError(`there is no field "${field}"`, `fields: ${names}`);
}

/** All names `--fields` accepts for a view; open ones end in `.*`. */
export function fieldNames(view: View): readonly string[] {
  const names = new Set([...view.columns.map((column) => column.field), ...view.fields]);
  return [...names, ...view.open.map((one) => `${one.prefix}.*`)];
}

/** Rejects an unknown field before any work is done. */
export function checkFields(view: View, fields: readonly string[]): void {
  for (const field of fields) columnOf(view, field);
}

function chosenFields(row: Row, columns: readonly Column[], fields: readonly string[]): Row {
  if (fields.length === 0) return row;
  return Object.fromEntries(
    columns.map((column) => [column.field, fieldValue(row, column.path ?? column.field) ?? null]),
  );
}

/** JSON that does no harm on a terminal: C1 controls and direction overrides are escaped like C0 ones. */
export function jsonText(value: unknown, pretty = false): string {
  const text = JSON.stringify(value, undefined, pretty ? 2 : undefined);
  if (text === undefined) throw new CommandError("unexpected", "there is nothing to print");
  return text.replace(
    /[\u007f-\u009f\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069]/g,
    (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}
