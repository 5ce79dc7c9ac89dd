import { OutdialError, type Clock } from "#base";
import { steadyClock } from "#host";
import { Agent } from "undici";

/** How a provider wants to be shown the key: a header and what stands before the key in it. */
export interface Credential {
  readonly header: string;
  readonly prefix: string;
  readonly secret: string;
}

export interface EndpointOptions {
  /** Of the provider, as people know it. */
  readonly name: string;
  /** `http:`, `https:`, `ws:` or `wss:`, with the path before the methods' own. */
  readonly baseUrl: string;
  readonly credential?: Credential;
  readonly headers?: Readonly<Record<string, string>>;
  /** PEM of the authorities to trust instead of the system's. */
  readonly ca?: string;
  readonly clock?: Clock;
}

/** A provider's address with its key and its open connections. Disposal closes them. */
export interface Endpoint extends AsyncDisposable {
  readonly name: string;
  readonly baseUrl: string;
  /** Host and port, for messages. */
  readonly host: string;
  /** With the key: never to be logged. */
  readonly headers: Readonly<Record<string, string>>;
  readonly dispatcher: Agent;
  readonly clock: Clock;
  /** A peer's words, fit for an error: without the key, in one line, of at most 200 characters. */
  quote(words: string): string;
}

const connectLimitMs = 5000;
/** A line is warmed while the phone rings, which may take this long. */
const idleConnectionMs = 60_000;
/** Larger messages are no answer to anything we ask. */
export const longestMessageBytes = 8 * 1024 * 1024;
const longestQuote = 200;

/** Opens nothing yet. Throws `secret-unusable` when the key cannot stand in a header. */
export function openEndpoint(options: EndpointOptions): Endpoint {
  const { name, baseUrl, credential, ca } = options;
  const dispatcher = new Agent({
    allowH2: false,
    keepAliveTimeout: idleConnectionMs,
    connect: { timeout: connectLimitMs, ...(ca === undefined ? {} : { ca }) },
    // How long to wait is decided request by request.
    headersTimeout: 0,
    bodyTimeout: 0,
    webSocket: { maxPayloadSize: longestMessageBytes },
  });
  return {
    name,
    baseUrl: baseUrl.replace(/\/+$/, ""),
    host: new URL(baseUrl).host,
    headers: { ...options.headers, ...credentialHeader(name, credential) },
    dispatcher,
    clock: options.clock ?? steadyClock,
    quote: (words) => quoted(words, credential?.secret),
    [Symbol.asyncDispose]: () => dispatcher.destroy(),
  };
}

/** The address of a method under the endpoint, with a query. */
export function addressOf(
  endpoint: Endpoint,
  path: string,
  query: readonly (readonly [string, string])[] = [],
): URL {
  const url = new URL(`${endpoint.baseUrl}${path}`);
  for (const [key, value] of query) url.searchParams.append(key, value);
  return url;
}

function credentialHeader(name: string, credential: Credential | undefined): Record<string, string> {
  if (credential === undefined) return {};
  const secret = credential.secret.trim();
  // Checked here, because whoever finds a bad header later may print its value.
  if (!/^[\u0021-\u007e]+$/.test(secret)) {
    throw new OutdialError("secret-unusable", `The key of ${name} is empty or has characters no key has`, {
      hint: `Look at where api_key of providers.${name} takes it from.`,
    });
  }
  return { [credential.header]: `${credential.prefix}${secret}` };
}

function quoted(words: string, secret: string | undefined): string {
  const key = secret?.trim() ?? "";
  const without = key === "" ? words : words.replaceAll(key, "[key]");
  const line = without.replaceAll(/[\s\p{Cc}\p{Cf}]+/gu, " ").trim();
  return line.length > longestQuote ? `${line.slice(0, longestQuote - 1)}…` : line;
}
