import { createWriteStream, type WriteStream } from "node:fs";
import { once } from "node:events";
import { rejectColumns } from "./csv-mapping.ts";
import type { CsvRow } from "./csv-rows.ts";

/** Collects rejected rows in a CSV file that can be corrected and fed again. */
export interface RejectFile extends AsyncDisposable {
  add(row: CsvRow, reason: string): Promise<void>;
}

/**
 * Opens the file (owner-only, replaced when it exists). It has the original columns in their order, then the line
 * and the reason. Cells stay as they were: nothing is escaped for spreadsheets, or they could not be fed again.
 */
export async function openRejectFile(path: string, headings: readonly string[]): Promise<RejectFile> {
  const file = createWriteStream(path, { mode: 0o600 });
  await once(file, "open");
  const kept = headings.map((heading) => !rejectColumns.some((column) => column === heading.trim()));
  await write(file, rawLine([...headings.filter((_, at) => kept[at]), ...rejectColumns]));
  return {
    add: async (row, reason) => {
      const cells = headings.map((_, at) => row.cells[at] ?? "").filter((_, at) => kept[at]);
      const surplus = row.cells.slice(headings.length);
      // What did not fit under the header stays visible in the last cell.
      const last = cells.length - 1;
      const original =
        surplus.length === 0 ? cells : [...cells.slice(0, last), [cells[last], ...surplus].join(",")];
      await write(file, rawLine([...original, String(row.line), reason]));
    },
    [Symbol.asyncDispose]: async () => {
      file.end();
      await once(file, "close");
    },
  };
}

async function write(file: WriteStream, line: string): Promise<void> {
  if (!file.write(line)) await once(file, "drain");
}

function rawLine(cells: readonly string[]): string {
  return `${cells.map((cell) => (/[",;\n\r\t]|^\s|\s$/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell)).join(",")}\r\n`;
}
