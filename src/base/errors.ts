/** A failure that a person can do something about. Everything else is a bug and stays a plain Error. */
export class OutdialError<Code extends string = string> extends Error {
  override readonly name = "OutdialError";
  /** Stable, kebab-case; scripts may rely on it. */
  readonly code: Code;
  /** What to do next, in one sentence. */
  readonly hint: string | undefined;
  /** Whether the same request may succeed later without a change. */
  readonly retryable: boolean;

  constructor(
    code: Code,
    message: string,
    options: { hint?: string; retryable?: boolean; cause?: unknown } = {},
  ) {
    super(message, { cause: options.cause });
    this.code = code;
    this.hint = options.hint;
    this.retryable = options.retryable ?? false;
  }
}
