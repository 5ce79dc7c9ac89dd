import type { ErrorShape } from "./route.ts";

export interface Failure {
  readonly status: number;
  /** Kebab-case, stable. */
  readonly code: string;
  /** One sentence for a person; never a stack, a path or SQL. */
  readonly message: string;
  readonly hint?: string;
  /** Whole seconds, of a 429 or 503. */
  readonly retryAfterS?: number;
  /** Where in a file or body, when known. */
  readonly where?: string;
  readonly line?: number;
  readonly column?: number;
}

/** The JSON value of an error in the shape its operation published. */
export function errorBody(shape: ErrorShape, failure: Failure): unknown {
  const { status, code, message } = failure;
  const later = failure.retryAfterS === undefined ? {} : { retry_after: failure.retryAfterS };
  switch (shape) {
    case "flag":
      return { error: true, message, ...later };
    case "text":
      return { error: message, ...later };
    case "list":
      return status === 403 || status >= 500 ? message : { error: message, ...later };
    case "envelope":
      return { success: false, error: { code, message }, ...later };
    case "admin":
      return { error: { code, message, ...details(failure) }, ...later };
  }
}

/** An error answer of any operation, read by a client. */
export function readErrorBody(status: number, body: unknown): Failure {
  const fallback = { status, code: `http-${status}`, message: `The server answered ${status}` };
  if (typeof body === "string") return { ...fallback, message: body || fallback.message };
  if (!isRecord(body)) return fallback;
  const retryAfterS = typeof body["retry_after"] === "number" ? { retryAfterS: body["retry_after"] } : {};
  const { error, message } = body;
  if (typeof error === "string") return { ...fallback, message: error, ...retryAfterS };
  if (error === true && typeof message === "string") return { ...fallback, message, ...retryAfterS };
  if (!isRecord(error)) return { ...fallback, ...retryAfterS };
  return {
    ...fallback,
    ...retryAfterS,
    ...texts(error, ["code", "message", "hint", "where"]),
    ...numbers(error, ["line", "column"]),
  };
}

function details(failure: Failure): Readonly<Record<string, unknown>> {
  const { hint, where, line, column } = failure;
  return {
    ...(hint === undefined ? {} : { hint }),
    ...(where ? { where } : {}),
    ...(line === undefined ? {} : { line }),
    ...(column === undefined ? {} : { column }),
  };
}

function texts(
  from: Readonly<Record<string, unknown>>,
  names: readonly string[],
): Readonly<Record<string, string>> {
  return Object.fromEntries(
    names.flatMap((name) => (typeof from[name] === "string" ? [[name, from[name]]] : [])),
  );
}

function numbers(
  from: Readonly<Record<string, unknown>>,
  names: readonly string[],
): Readonly<Record<string, number>> {
  return Object.fromEntries(
    names.flatMap((name) => (typeof from[name] === "number" ? [[name, from[name]]] : [])),
  );
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
