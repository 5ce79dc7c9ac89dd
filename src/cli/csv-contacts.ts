import type { ContactBody } from "#wire";
import { usageError } from "./command-error.ts";
import { mapColumns, type Target } from "./csv-mapping.ts";
import { createPhoneReader, type PhoneReader } from "./csv-phone.ts";
import { csvRows, type CsvRow } from "./csv-rows.ts";
import type { CsvSource } from "./csv-source.ts";

export interface ReadOptions {
  /** `Column=field`, each. */
  readonly map: readonly string[];
  readonly country: string | undefined;
  /** At most so many contacts; the rest of the file is not read. */
  readonly limit: number;
}

/** What reading a file gives, row by row. */
export type RowResult =
  | { readonly type: "header"; readonly headings: readonly string[]; readonly targets: readonly Target[] }
  | { readonly type: "contact"; readonly row: CsvRow; readonly contact: ContactBody }
  | { readonly type: "duplicate"; readonly row: CsvRow }
  | { readonly type: "rejected"; readonly row: CsvRow; readonly reason: string };

/**
 * Reads contacts out of a CSV file. The header line says what the columns are; every number is checked and the
 * second row with the same number is a duplicate. Reading twice gives the same.
 */
export async function* readContacts(source: CsvSource, options: ReadOptions): AsyncIterable<RowResult> {
  const phones = await createPhoneReader(options.country);
  const seen = new Set<string>();
  let targets: readonly Target[] | undefined;
  let contacts = 0;
  for await (const row of csvRows(source)) {
    if (targets === undefined) {
      if (row.fault !== undefined) throw usageError(`line ${row.line}: ${row.fault}`);
      targets = mapColumns(row.cells, options.map);
      yield { type: "header", headings: row.cells, targets };
      continue;
    }
    if (contacts >= options.limit) return;
    const result = readRow(row, targets, phones);
    if (result.type === "contact") {
      if (seen.has(result.contact.phone)) {
        yield { type: "duplicate", row };
        continue;
      }
      seen.add(result.contact.phone);
      contacts++;
    }
    yield result;
  }
  if (targets === undefined) throw usageError("the file is empty", "its first line must name the columns");
}

function readRow(row: CsvRow, targets: readonly Target[], phones: PhoneReader): RowResult {
  const rejected = (reason: string): RowResult => ({ type: "rejected", row, reason });
  if (row.fault !== undefined) return rejected(row.fault);
  const surplus = row.cells.slice(targets.length).filter((cell) => cell.trim() !== "").length;
  if (surplus > 0) {
    return rejected(
      `the row has ${row.cells.length} columns, the header ${targets.length}; a cell with the separator in it must be quoted`,
    );
  }
  const fields: [string, string][] = [];
  const custom: [string, string][] = [];
  let phone = "";
  for (const [at, target] of targets.entries()) {
    const value = (row.cells[at] ?? "").trim();
    if (target.type === "field" && target.name === "phone") phone = value;
    else if (value === "" || target.type === "skip") continue;
    else (target.type === "field" ? fields : custom).push([target.name, value]);
  }
  const read = phones.read(phone);
  if (!read.ok) return rejected(read.problem.message);
  const contact = {
    phone: read.value,
    ...Object.fromEntries(fields),
    // fromEntries defines own properties: a column called __proto__ is data like any other.
    ...(custom.length === 0 ? {} : { custom_fields: Object.fromEntries(custom) }),
  };
  return { type: "contact", row, contact };
}
