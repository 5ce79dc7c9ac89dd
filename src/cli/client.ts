import type { Clock, Entropy } from "#base";
import type { Failure } from "#wire";
import { CommandError } from "./command-error.ts";
import type { ExitName } from "./exit-codes.ts";
import type { Row } from "./fields.ts";
import { pause } from "./io.ts";
import { readJson } from "./json.ts";
import { bodyText, headerText, type Transport, type WireReply, type WireRequest } from "./transport.ts";

export interface ClientOptions {
  readonly clock: Clock;
  readonly entropy: Entropy;
  /** How long to go on after 429, all waits together. */
  readonly retryForMs: number;
  readonly signal: AbortSignal;
  /** Sent with every request: the account on the socket. */
  readonly headers: Readonly<Record<string, string>>;
  /** Told before each wait. */
  readonly onWait: (seconds: number) => void;
  /** Told when the answer is the one of an earlier request with the same key. */
  readonly onReplay?: () => void;
}

export type Query = Readonly<Record<string, string | number | boolean | undefined>>;

export interface Client {
  readonly address: string;
  /** `Answer` is what the route's schema promises; CLI and daemon come from one build. */
  get<Answer>(path: string, query?: Query): Promise<Answer>;
  post<Answer>(path: string, body?: unknown, headers?: Readonly<Record<string, string>>): Promise<Answer>;
  delete(path: string): Promise<void>;
  /** The reply itself, once it is a success; for pages, streams and files. */
  open(path: string, query?: Query, signal?: AbortSignal): Promise<WireReply>;
  /** JSON lines as they come; ends when the server ends. */
  lines(path: string, query?: Query, signal?: AbortSignal): AsyncIterable<Row>;
}

/** Requests with JSON bodies; an error answer rejects with a CommandError, 429 is waited out. */
export function createClient(transport: Transport, options: ClientOptions): Client {
  const exchange = async (request: WireRequest): Promise<WireReply> => {
    const giveUpAt = options.clock.now() + options.retryForMs;
    for (let attempt = 0; ; attempt++) {
      const reply = await sendOnce(transport, { signal: options.signal, ...request });
      if (reply.status < 400) {
        if (headerText(reply, "idempotency-replayed") === "true") options.onReplay?.();
        return reply;
      }
      const failure = await readFailure(reply);
      const waitMs = reply.status === 429 ? backOffMs(failure, attempt, options.entropy) : undefined;
      if (waitMs === undefined || options.clock.now() + waitMs > giveUpAt)
        throw failureError(failure, request);
      options.onWait(Math.ceil(waitMs / 1000));
      await pause(options.clock, waitMs, options.signal);
    }
  };
  const json = async <Answer>(request: WireRequest): Promise<Answer> =>
    parsed<Answer>(await bodyText(await exchange(request)));
  const requestOf = (
    method: WireRequest["method"],
    path: string,
    body?: unknown,
    headers: Readonly<Record<string, string>> = {},
  ): WireRequest => ({
    method,
    path,
    headers: {
      accept: "application/json",
      ...(body === undefined ? {} : { "content-type": "application/json" }),
      ...options.headers,
      ...headers,
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const open = (path: string, query?: Query, signal?: AbortSignal): Promise<WireReply> =>
    exchange({ ...requestOf("GET", withQuery(path, query)), ...(signal === undefined ? {} : { signal }) });
  return {
    address: transport.address,
    get: (path, query) => json(requestOf("GET", withQuery(path, query))),
    post: (path, body, headers) => json(requestOf("POST", path, body, headers)),
    delete: async (path) => {
      await bodyText(await exchange(requestOf("DELETE", path)));
    },
    open,
    lines: async function* (path, query, signal) {
      yield* jsonLines((await open(path, query, signal)).body);
    },
  };
}

/** Splits a stream of JSON lines (application/x-ndjson) into objects; empty lines (keep-alives) are skipped. */
async function* jsonLines(body: AsyncIterable<Uint8Array>): AsyncIterable<Row> {
  const decoder = new TextDecoder();
  let rest = "";
  for await (const chunk of body) {
    rest += decoder.decode(chunk, { stream: true });
    const lines = rest.split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) if (line.trim() !== "") yield parsed<Row>(line);
  }
  if (rest.trim() !== "") yield parsed<Row>(rest);
}

/** `/calls` and `{ status: "open" }` as `/calls?status=open`. */
function withQuery(path: string, query: Query = {}): string {
  const text = Object.entries(query)
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => `${encodeURIComponent(name)}=${encodeURIComponent(String(value))}`)
    .join("&");
  return text === "" ? path : `${path}?${text}`;
}

async function sendOnce(transport: Transport, request: WireRequest): Promise<WireReply> {
  try {
    return await transport.send(request);
  } catch (cause) {
    if (request.signal?.aborted === true) throw request.signal.reason;
    const why = cause instanceof Error ? systemCode(cause) : "";
    throw new CommandError("unreachable", `cannot reach ${transport.address}`, { why, cause });
  }
}

function systemCode(error: Error): string {
  const inner = error instanceof AggregateError ? (error.errors[0] as unknown) : error.cause;
  return error.message !== "" ? error.message : inner instanceof Error ? inner.message : error.name;
}

/** As the server says; without its word exponential from half a second, with jitter, at most 20 s. */
function backOffMs(failure: Failure, attempt: number, entropy: Entropy): number {
  const chance = (entropy.bytes(1)[0] ?? 0) / 255;
  if (failure.retryAfterS !== undefined) return failure.retryAfterS * 1000 + chance * 250;
  return Math.min(20_000, 500 * 2 ** attempt) * (0.5 + chance / 2);
}

async function readFailure(reply: WireReply): Promise<Failure> {
  const { readErrorBody } = await import("#wire");
  const text = await bodyText(reply);
  const failure = readErrorBody(reply.status, parsedOrText(text));
  const told = Number(headerText(reply, "retry-after"));
  return failure.retryAfterS === undefined && told > 0 ? { ...failure, retryAfterS: told } : failure;
}

function failureError(failure: Failure, request: WireRequest): CommandError {
  const { code, message, hint, where, line, column } = failure;
  const position = line === undefined ? "" : `, line ${line}${column === undefined ? "" : `:${column}`}`;
  const ref = where === undefined && position === "" ? undefined : `${where ?? "input"}${position}`;
  return new CommandError(exitOf(failure), message, {
    code: code.startsWith("http-") ? exitOf(failure) : code,
    fix: hint ?? fixFor(failure),
    ref,
    cause: new Error(`${request.method} ${request.path}: ${failure.status}`),
  });
}

/** Answers that keep a call from being placed by a rule, not by a mistake in the request. */
const refusals = new Set(["suppressed", "forbidden-number", "sandbox-only", "never-open"]);

function exitOf({ status, code }: Failure): ExitName {
  if (refusals.has(code)) return "refused";
  switch (status) {
    case 400:
    case 413:
    case 415:
    case 422:
      return "usage";
    case 401:
    case 403:
      return "auth";
    case 404:
    case 410:
      return "not-found";
    case 409:
      return code === "ambiguous-id" ? "usage" : "conflict";
    case 429:
      return "rate-limited";
    case 502:
    case 503:
    case 504:
      return "unreachable";
    default:
      return "unexpected";
  }
}

function fixFor({ status }: Failure): string | undefined {
  if (status === 401) return "outdial auth login --host <url>      (or give a valid OUTDIAL_TOKEN)";
  if (status === 429) return "wait, or allow more time with --retry-for 5m";
  return undefined;
}

// oxlint-disable-next-line typescript/no-unnecessary-type-parameters -- the caller names what was promised
function parsed<Value>(text: string): Value {
  try {
    return readJson<Value>(text);
  } catch (cause) {
    throw new CommandError("unexpected", "the server did not answer in JSON", {
      why: text.slice(0, 120),
      fix: "check that the address is that of an outdial service",
      cause,
    });
  }
}

function parsedOrText(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return text;
  }
}
