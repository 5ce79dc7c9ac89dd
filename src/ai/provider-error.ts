import { OutdialError } from "#base";
import type { Endpoint } from "./endpoint.ts";
import { at, parseJson, textAt } from "./json-value.ts";

/**
 * What goes wrong with a provider. `provider-unreachable`, `provider-rate-limited` and `provider-timeout` may pass;
 * `provider-refused` needs a person; `provider-bad-answer` means the peer does not speak the protocol.
 */
export type ProviderErrorCode =
  | "provider-unreachable"
  | "provider-refused"
  | "provider-rate-limited"
  | "provider-bad-answer"
  | "provider-timeout";

export type ProviderError = OutdialError<ProviderErrorCode>;

/** An answer that was not what was asked for. `words` are the peer's, already quoted. */
export interface Refusal {
  readonly status: number;
  readonly words: string;
  readonly retryAfterMs?: number | undefined;
}

const passing: readonly ProviderErrorCode[] = [
  "provider-unreachable",
  "provider-rate-limited",
  "provider-timeout",
];

export function providerError(
  code: ProviderErrorCode,
  message: string,
  options: { hint?: string; cause?: unknown; retryable?: boolean } = {},
): ProviderError {
  return new OutdialError(code, message, { retryable: passing.includes(code), ...options });
}

/** The error for an HTTP status that is no success. */
export function refusalError(endpoint: Endpoint, refusal: Refusal): ProviderError {
  const { status, words, retryAfterMs } = refusal;
  const said = words === "" ? "" : `: ${words}`;
  const { name } = endpoint;
  if (status === 401 || status === 403) {
    return providerError("provider-refused", `${name} refused the key (${status})${said}`, {
      hint: `Check api_key of providers.${name}: is it of this provider, still valid and allowed to use this model?`,
    });
  }
  if (status === 429) {
    const wait = retryAfterMs === undefined ? "later" : `in ${Math.ceil(retryAfterMs / 1000)} s`;
    return providerError("provider-rate-limited", `${name} takes no more requests now (429)${said}`, {
      hint: `Try again ${wait}; if it stays so, the account has reached its limit or has no credit.`,
    });
  }
  if (status >= 500) {
    return providerError("provider-unreachable", `${name} is out of order (${status})${said}`);
  }
  const hint = hintFor(endpoint, status);
  return providerError("provider-refused", `${name} refused the request (${status})${said}`, { hint });
}

/** The provider's own words in a body of one of the usual forms; the body itself when it is none. */
export function wordsOf(body: string): string {
  const json = parseJson(body);
  const found =
    textAt(json, "error", "message") ??
    textAt(json, "error") ??
    textAt(json, "detail", "message") ??
    textAt(json, "detail") ??
    textAt(json, "err_msg") ??
    textAt(json, "message");
  return found ?? (at(json) === undefined && !/<html/i.test(body) ? body : "");
}

/** What a failure of the network means. Our own errors and the reasons of signals pass untouched. */
export function networkError(endpoint: Endpoint, error: unknown, doing: string): unknown {
  if (error instanceof OutdialError || !(error instanceof Error)) return error;
  const code = codeOf(error);
  const { name, host } = endpoint;
  // An argument undici does not accept is a mistake of ours.
  if (code === undefined || code.startsWith("UND_ERR_INVALID")) return error;
  if (code.startsWith("HPE_") || code === "UND_ERR_HEADERS_OVERFLOW") {
    return providerError("provider-bad-answer", `${name} (${host}) does not speak HTTP as expected`, {
      hint: `Check base_url of providers.${name}.`,
      cause: error,
    });
  }
  const hint = unreachableHint(name, code);
  return providerError("provider-unreachable", `${name} (${host}) cannot be reached${doing} (${code})`, {
    cause: error,
    ...(hint === undefined ? {} : { hint }),
    retryable: !isCertificate(code),
  });
}

function hintFor(endpoint: Endpoint, status: number): string {
  const { name } = endpoint;
  if (status === 402) return "The account has no credit left.";
  if (status === 404)
    return `Check the model's name, and base_url of providers.${name}: ${endpoint.baseUrl}.`;
  if (status >= 300 && status < 400) return `Put the address it moved to into base_url of providers.${name}.`;
  return `Check the model's name and what it can do.`;
}

function codeOf(error: Error): string | undefined {
  if ("code" in error && typeof error.code === "string") return error.code;
  return error.cause instanceof Error ? codeOf(error.cause) : undefined;
}

function isCertificate(code: string): boolean {
  return /CERT|SELF_SIGNED|UNABLE_TO_|ERR_TLS/.test(code);
}

function unreachableHint(name: string, code: string): string | undefined {
  if (isCertificate(code)) {
    return `Its certificate is not trusted; for a private authority set ca_file of providers.${name}.`;
  }
  if (code === "ENOTFOUND" || code === "EAI_AGAIN") return "No such host, or no network here.";
  if (code === "ECONNREFUSED") return "Nothing listens there: is the server running?";
  return undefined;
}
