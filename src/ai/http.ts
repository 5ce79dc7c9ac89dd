import { wallClock } from "#host";
import { request as undiciRequest, type FormData } from "undici";
import { addressOf, longestMessageBytes, type Endpoint } from "./endpoint.ts";
import { parseJson } from "./json-value.ts";
import { Patience, pause } from "./patience.ts";
import { networkError, providerError, refusalError, wordsOf, type ProviderError } from "./provider-error.ts";

export interface HttpRequest {
  readonly path: string;
  readonly query?: readonly (readonly [string, string])[];
  /** Sent as JSON. Without it and `form` the method is GET. */
  readonly json?: unknown;
  /** Sent as multipart/form-data. */
  readonly form?: FormData;
  readonly accept?: string;
  /** Until the answer has begun, all attempts together. */
  readonly firstMs: number;
  /** Statuses that are answers too. */
  readonly statuses?: readonly number[];
}

/** The head of an answer; the body must be read or left, and then the connection is free or closed. */
export interface HttpAnswer {
  readonly status: number;
  /** Lower case; empty when absent. */
  readonly contentType: string;
  /** Rejects with `provider-timeout`, `provider-unreachable` or the signal's reason. */
  readonly body: AsyncIterable<Uint8Array>;
  /** Tells that what came counts as the beginning of the answer. */
  progress(): void;
}

type Attempt =
  | { readonly type: "answer"; readonly answer: HttpAnswer }
  | { readonly type: "setback"; readonly error: ProviderError; readonly waitMs: number };

const attempts = 2;
const idleMs = 15_000;
const setbackPauseMs = 250;
const rateLimitPauseMs = 500;
const longestErrorBytes = 16_384;

/**
 * One request, made again once when the connection failed or the provider asked for a moment, never after an answer
 * has begun. Rejects with a `provider-…` error or the signal's reason.
 */
export async function send(
  endpoint: Endpoint,
  request: HttpRequest,
  signal: AbortSignal,
): Promise<HttpAnswer> {
  signal.throwIfAborted();
  const patience = new Patience({
    clock: endpoint.clock,
    signal,
    firstMs: request.firstMs,
    idleMs,
    tooLate: () => late(endpoint, request.firstMs),
  });
  try {
    for (let left = attempts - 1; ; left--) {
      const attempt = await tryOnce(endpoint, request, patience);
      if (attempt.type === "answer") return attempt.answer;
      if (left === 0 || attempt.waitMs >= patience.leftMs) throw attempt.error;
      patience.again();
      await pause(endpoint.clock, attempt.waitMs, patience.signal);
    }
  } catch (error) {
    patience[Symbol.dispose]();
    throw error;
  }
}

/** The whole body as JSON, of at most 8 MiB. Rejects with `provider-bad-answer` when it is none. */
export async function jsonOf(endpoint: Endpoint, answer: HttpAnswer): Promise<unknown> {
  answer.progress();
  const text = await textOf(answer, longestMessageBytes);
  const value = text === undefined ? undefined : parseJson(text);
  if (value !== undefined) return value;
  throw providerError("provider-bad-answer", `${endpoint.name} did not answer with JSON`, {
    hint: `Check base_url of providers.${endpoint.name}.`,
  });
}

/** Opens a connection and leaves it open. Rejects when the key is refused; any other answer is as good. */
export async function warmUp(endpoint: Endpoint, path: string, signal: AbortSignal): Promise<void> {
  const statuses = [400, 404, 405];
  const answer = await send(endpoint, { path, firstMs: 10_000, statuses }, signal);
  answer.progress();
  for await (const _ of answer.body);
}

async function tryOnce(endpoint: Endpoint, request: HttpRequest, patience: Patience): Promise<Attempt> {
  try {
    const response = await undiciRequest(addressOf(endpoint, request.path, request.query), {
      dispatcher: endpoint.dispatcher,
      signal: patience.signal,
      ...contentOf(endpoint, request),
    });
    const contentType = String(response.headers["content-type"] ?? "").toLowerCase();
    const status = response.statusCode;
    const answer: HttpAnswer = {
      status,
      contentType,
      body: patientBody(endpoint, response.body, patience),
      progress: () => patience.progress(),
    };
    if ((status >= 200 && status < 300) || request.statuses?.includes(status) === true)
      return { type: "answer", answer };
    const words = endpoint.quote(wordsOf((await textOf(answer, longestErrorBytes)) ?? ""));
    const retryAfterMs = retryAfter(response.headers);
    const error = refusalError(endpoint, { status, words, retryAfterMs });
    if (status === 429) return { type: "setback", error, waitMs: retryAfterMs ?? rateLimitPauseMs };
    if (status >= 500) return { type: "setback", error, waitMs: retryAfterMs ?? setbackPauseMs };
    throw error;
  } catch (error) {
    return setback(endpoint, error, patience);
  }
}

/** A connection that failed before the answer; everything else is thrown. */
function setback(endpoint: Endpoint, cause: unknown, patience: Patience): Attempt {
  if (patience.signal.aborted) throw patience.signal.reason;
  const error = networkError(endpoint, cause, "");
  if (isUnreachable(error) && error.cause === cause && error.retryable)
    return { type: "setback", error, waitMs: setbackPauseMs };
  throw error;
}

function isUnreachable(error: unknown): error is ProviderError {
  return error instanceof Error && "code" in error && error.code === "provider-unreachable";
}

function contentOf(
  endpoint: Endpoint,
  request: HttpRequest,
): { method: "GET" | "POST"; headers: Record<string, string>; body?: string | FormData } {
  const accept = request.accept === undefined ? {} : { accept: request.accept };
  const headers = { ...endpoint.headers, ...accept };
  if (request.form !== undefined) return { method: "POST", headers, body: request.form };
  if (request.json === undefined) return { method: "GET", headers };
  return {
    method: "POST",
    headers: { ...headers, "content-type": "application/json" },
    body: JSON.stringify(request.json),
  };
}

async function* patientBody(
  endpoint: Endpoint,
  body: AsyncIterable<Uint8Array>,
  patience: Patience,
): AsyncGenerator<Uint8Array, void, undefined> {
  try {
    patience.wait();
    for await (const chunk of body) {
      patience.rest();
      yield chunk;
      patience.wait();
    }
  } catch (error) {
    if (patience.signal.aborted) throw patience.signal.reason;
    throw networkError(endpoint, error, " any more: it closed the connection in the middle of its answer");
  } finally {
    patience[Symbol.dispose]();
  }
}

/** The whole body as text; undefined when it is longer than `limit` octets. */
export async function textOf(answer: HttpAnswer, limit: number): Promise<string | undefined> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of answer.body) {
    bytes += chunk.length;
    if (bytes > limit) return undefined;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString("utf8");
}

/** Milliseconds, from `retry-after-ms` or from `retry-after` in either form (RFC 9110 10.2.3). */
function retryAfter(headers: Readonly<Record<string, string | string[] | undefined>>): number | undefined {
  const exact = Number(headers["retry-after-ms"] ?? Number.NaN);
  if (exact >= 0) return exact;
  const text = String(headers["retry-after"] ?? "");
  if (/^\d+(\.\d+)?$/.test(text)) return Number(text) * 1000;
  const date = Date.parse(text);
  return Number.isNaN(date) ? undefined : Math.max(0, date - wallClock.now());
}

function late(endpoint: Endpoint, limitMs: number): ProviderError {
  return providerError("provider-timeout", `${endpoint.name} did not answer in time`, {
    hint: `It had ${limitMs} ms to begin, and 15 s from one piece to the next.`,
  });
}
