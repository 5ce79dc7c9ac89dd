import { OutdialError } from "#base";

const fullText = /database or disk is full|ENOSPC|EDQUOT|EFBIG/;
const diskText =
  /disk I\/O error|malformed|file is not a database|unable to open database|readonly database|database is locked/;

/** Whether the disk, not the statement, is the cause: nothing of the transaction can be trusted to be stored. */
export function isDiskError(error: unknown): boolean {
  if (!(error instanceof Error) || error instanceof OutdialError) return false;
  return "syscall" in error || isFull(error) || diskText.test(error.message);
}

/** What SQLite says, as the error that a person can act on; a bug stays what it is. */
export function storeError(error: unknown): Error {
  if (!(error instanceof Error)) return new Error(String(error));
  if (error instanceof OutdialError) return error;
  if (isFull(error)) {
    return new OutdialError("store-full", "There is no space left for the store.", {
      hint: "Free space on the disk of the data directory; nothing needs to be restarted.",
      retryable: true,
      cause: error,
    });
  }
  return isDiskError(error) ? brokenStore(error) : error;
}

/** A constraint that a row would break, as SQLite names it: `accounts.name` or `tokens.account_id, tokens.name`. */
function uniqueConflict(error: unknown): string | undefined {
  const text = error instanceof Error ? error.message : "";
  return /^UNIQUE constraint failed: (.+)$/.exec(text)?.[1];
}

/** Runs `write`; a row that is there already becomes the OutdialError `code`. */
export async function refuseDouble<T>(code: string, message: string, write: () => Promise<T>): Promise<T> {
  try {
    return await write();
  } catch (error) {
    if (uniqueConflict(error) === undefined) throw error;
    throw new OutdialError(code, message, { cause: error });
  }
}

function isFull(error: Error): boolean {
  return fullText.test(error.message);
}

function brokenStore(cause: Error): OutdialError<"store-failed"> {
  return new OutdialError("store-failed", `The store cannot be read or written: ${cause.message}.`, {
    hint: "Check the disk (dmesg, free space, rights of the data directory), then restart the daemon.",
    cause,
  });
}
