import type { ContactBody } from "#wire";
import { readContacts, type ReadOptions } from "./csv-contacts.ts";
import type { CsvRow } from "./csv-rows.ts";
import type { CsvSource } from "./csv-source.ts";

/** As many contacts as one request takes. */
export interface Batch {
  readonly contacts: readonly ContactBody[];
  /** Rows they come from, in the same order. */
  readonly rows: readonly CsvRow[];
}

export interface BatchLimits {
  readonly contacts: number;
  readonly bytes: number;
}

/** What a server takes in one request; the size leaves room for the rest of the body. */
export const requestLimits: BatchLimits = { contacts: 100_000, bytes: 60 * 1024 * 1024 };

/** Cuts contacts into batches that keep both limits. */
export async function* contactBatches(
  source: CsvSource,
  options: ReadOptions,
  limits: BatchLimits = requestLimits,
): AsyncIterable<Batch> {
  let batch = emptyBatch();
  for await (const result of readContacts(source, options)) {
    if (result.type !== "contact") continue;
    const bytes = Buffer.byteLength(JSON.stringify(result.contact)) + 1;
    if (batch.contacts.length >= limits.contacts || batch.bytes + bytes > limits.bytes) {
      yield batch;
      batch = emptyBatch();
    }
    batch.contacts.push(result.contact);
    batch.rows.push(result.row);
    batch.bytes += bytes;
  }
  if (batch.contacts.length > 0) yield batch;
}

function emptyBatch(): { contacts: ContactBody[]; rows: CsvRow[]; bytes: number } {
  return { contacts: [], rows: [], bytes: 0 };
}
