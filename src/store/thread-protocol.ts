import { OutdialError } from "#base";
import type { StoreEngine } from "./open-file.ts";
import type { RequestName } from "./operations.ts";

/** What the store thread is started with. */
export interface ThreadData {
  readonly file: string;
  readonly engine: StoreEngine;
}

export type ToThread =
  | {
      readonly type: "request";
      readonly id: number;
      readonly name: RequestName;
      readonly args: readonly unknown[];
    }
  | { readonly type: "close"; readonly id: number };

export type FromThread =
  | { readonly type: "opened" }
  | { readonly type: "not-opened"; readonly error: SentError }
  | { readonly type: "answer"; readonly id: number; readonly value: unknown }
  | { readonly type: "refusal"; readonly id: number; readonly error: SentError };

/** An error as it crosses the thread: a code makes it an OutdialError, the others are bugs. */
interface SentError {
  readonly message: string;
  readonly stack: string | undefined;
  readonly code: string | undefined;
  readonly hint: string | undefined;
  readonly retryable: boolean;
}

export function toSent(error: Error): SentError {
  const known = error instanceof OutdialError ? error : undefined;
  return {
    message: error.message,
    stack: error.stack,
    code: known?.code,
    hint: known?.hint,
    retryable: known?.retryable ?? false,
  };
}

export function fromSent({ message, stack, code, hint, retryable }: SentError): Error {
  const cause = Object.assign(new Error(message), { stack });
  if (code === undefined) return cause;
  return new OutdialError(code, message, { retryable, cause, ...(hint === undefined ? {} : { hint }) });
}
