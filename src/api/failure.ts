import { OutdialError, type Decoded } from "#base";
import type { Failure, Route } from "#wire";

/** An answer that refuses a request; thrown by handlers, turned into the operation's own error shape. */
export class Refusal extends Error {
  override readonly name = "Refusal";
  readonly failure: Failure;
  readonly headers: Readonly<Record<string, string>>;

  constructor(failure: Failure, headers: Readonly<Record<string, string>> = {}) {
    super(failure.message);
    this.failure = failure;
    this.headers = headers;
  }
}

/** A refused request: the body or query is wrong. */
export function badRequest(message: string, where = ""): Refusal {
  return new Refusal({ status: 400, code: "bad-request", message, where });
}

/** Something of this kind is not there, or is not the caller's. */
export function notFound(kind: string, ref: string): Refusal {
  return new Refusal({
    status: 404,
    code: `${kind}-not-found`,
    message: `No ${kind} ${JSON.stringify(ref)} was found`,
  });
}

/** The value, or a 400 that says where it is wrong. */
export function orRefuse<T>(decoded: Decoded<T>): T {
  if (decoded.ok) return decoded.value;
  throw badRequest(decoded.problem.message, decoded.problem.where);
}

/** Any error of a request as what may be said about it outside. What is not foreseen is a plain 500. */
export function failureOf(error: unknown, route: Route | undefined): Failure {
  if (error instanceof Refusal) return error.failure;
  if (error instanceof OutdialError) return ofOutdialError(error, route);
  return ofHttpError(error) ?? { status: 500, code: "internal", message: "Internal server error" };
}

function ofOutdialError(error: OutdialError, route: Route | undefined): Failure {
  const status = statusOf(error.code, route);
  if (status === 500) return { status, code: error.code, message: "Internal server error" };
  return {
    status,
    code: error.code,
    message: error.message,
    ...(error.hint === undefined ? {} : { hint: error.hint }),
    ...(status === 503 ? { retryAfterS: 5 } : {}),
  };
}

/** Nothing can be stored or carried now; the same request may pass later. */
const unavailable = new Set(["store-full", "store-closed", "stopping", "lines-busy"]);
/** Bugs or broken disks: their words are for the log only. */
const internal = new Set(["store-failed"]);
/** The request is right, but a rule of the account forbids it. */
const policy = new Set(["suppressed", "forbidden-number", "sandbox-only", "no-trunk", "never-open"]);

function statusOf(code: string, route: Route | undefined): number {
  if (unavailable.has(code)) return 503;
  if (internal.has(code)) return 500;
  // Whether a write was done is unknown: nothing may invite a client to send it once more.
  if (code === "store-restarted") return route?.method === "GET" ? 503 : 500;
  if (route?.access !== "socket") {
    // The contract: a playbook that is not the caller's is 403 for a campaign; whatever keeps a call from starting is 400.
    return code === "playbook-not-found" && route?.errors === "text" ? 403 : 400;
  }
  if (code.endsWith("-not-found") || code === "provider-unknown") return 404;
  if (code.endsWith("-exists") || code === "wrong-state" || code === "ambiguous-id") return 409;
  return policy.has(code) ? 422 : 400;
}

/** Errors of the HTTP layer itself, by its own codes. */
function ofHttpError(error: unknown): Failure | undefined {
  if (!(error instanceof Error) || !("code" in error)) return undefined;
  switch (error.code) {
    case "FST_ERR_CTP_BODY_TOO_LARGE":
      return { status: 413, code: "too-large", message: "The request body is too large" };
    case "FST_ERR_CTP_INVALID_MEDIA_TYPE":
      return { status: 400, code: "bad-content-type", message: "Content-Type must be application/json" };
    case "FST_ERR_CTP_INVALID_CONTENT_LENGTH":
      return { status: 400, code: "bad-request", message: "The body is not as long as Content-Length says" };
    case "FST_ERR_BAD_URL":
    case "FST_ERR_MAX_PARAM_LENGTH":
      return { status: 404, code: "not-found", message: "The path is malformed" };
    default:
      return undefined;
  }
}
