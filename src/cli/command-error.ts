import { OutdialError } from "#base";
import { exitCode, type ExitName } from "./exit-codes.ts";

export interface ErrorDetails {
  /** What the other side said, or what led here. */
  readonly why?: string | undefined;
  /** The command or the change that helps. */
  readonly fix?: string | undefined;
  /** What it is about: an id, a file, a help topic. */
  readonly ref?: string | undefined;
  /** Stable code for scripts; the exit code's name when absent. */
  readonly code?: string | undefined;
  readonly cause?: unknown;
}

/** A failure of a command, ready to be shown: what, why, what to do, and with which code to exit. */
export class CommandError extends OutdialError {
  readonly exit: number;
  readonly why: string | undefined;
  readonly ref: string | undefined;

  constructor(exit: ExitName, message: string, details: ErrorDetails = {}) {
    super(details.code ?? exit, message, {
      ...(details.fix === undefined ? {} : { hint: details.fix }),
      cause: details.cause,
    });
    this.exit = exitCode(exit);
    this.why = details.why;
    this.ref = details.ref;
  }
}

/** A wrong flag, argument or file: exit code 2. */
export function usageError(message: string, fix?: string, ref?: string): CommandError {
  return new CommandError("usage", message, { fix, ref });
}
