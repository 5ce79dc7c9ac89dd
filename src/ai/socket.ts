import type { Duplex } from "node:stream";
import { WebSocket, type Dispatcher } from "undici";
import type { Endpoint } from "./endpoint.ts";
import { Patience } from "./patience.ts";
import { networkError, providerError, refusalError, type ProviderError } from "./provider-error.ts";

/** What a socket tells its owner. */
export interface SocketOwner {
  onText(text: string): void;
  /** The end, called once, whoever wanted it. */
  onClose(end: SocketEnd): void;
}

export interface SocketEnd {
  /** Close code (RFC 6455 7.4); 1006 when the connection broke. */
  readonly code: number;
  /** The peer's words, quoted. */
  readonly reason: string;
}

/** An open WebSocket. */
export interface Socket {
  /** Never waits; what the peer does not take is counted in `unsentBytes`. After the end it does nothing. */
  send(data: string | Uint8Array): void;
  readonly unsentBytes: number;
  /** Says goodbye; a peer that does not answer within a second is cut off. */
  close(): void;
}

interface Handshake {
  status: number;
  connection: Duplex | undefined;
}

const handshakeLimitMs = 5000;
const goodbyeLimitMs = 1000;

/**
 * Opens a WebSocket at an `http:` or `ws:` address (or the secure ones). Rejects with a `provider-…` error or the
 * signal's reason; once open, the signal closes it.
 */
export async function openSocket(
  endpoint: Endpoint,
  url: URL,
  owner: SocketOwner,
  signal: AbortSignal,
): Promise<Socket> {
  signal.throwIfAborted();
  const handshake: Handshake = { status: 0, connection: undefined };
  using patience = new Patience({
    clock: endpoint.clock,
    signal,
    firstMs: handshakeLimitMs,
    idleMs: handshakeLimitMs,
    tooLate: () => providerError("provider-timeout", `${endpoint.name} did not open the connection in time`),
  });
  const webSocket = new WebSocket(webSocketAddress(url), {
    headers: { ...endpoint.headers },
    dispatcher: endpoint.dispatcher.compose(watchHandshake(handshake)),
  });
  webSocket.binaryType = "arraybuffer";
  await opened(webSocket, patience, (cause) => handshakeError(endpoint, handshake, cause));
  return connected({ endpoint, webSocket, owner, signal, connection: handshake.connection });
}

async function opened(
  webSocket: WebSocket,
  patience: Patience,
  failure: (cause: unknown) => unknown,
): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  let cause: unknown;
  const stop = (): void => {
    reject(patience.signal.reason);
    webSocket.close();
  };
  patience.signal.addEventListener("abort", stop, { once: true });
  webSocket.addEventListener("open", () => resolve());
  webSocket.addEventListener("error", (event) => (cause = event.error));
  webSocket.addEventListener("close", () => reject(failure(cause)));
  try {
    await promise;
  } finally {
    patience.signal.removeEventListener("abort", stop);
  }
}

function connected(parts: {
  readonly endpoint: Endpoint;
  readonly webSocket: WebSocket;
  readonly owner: SocketOwner;
  readonly signal: AbortSignal;
  readonly connection: Duplex | undefined;
}): Socket {
  const { endpoint, webSocket, owner, signal, connection } = parts;
  let goodbye: Disposable | undefined;

  signal.addEventListener("abort", close, { once: true });
  webSocket.addEventListener("message", (event: { readonly data: unknown }) => {
    if (typeof event.data === "string") owner.onText(event.data);
  });
  webSocket.addEventListener("close", ({ code, reason }) => {
    signal.removeEventListener("abort", close);
    goodbye?.[Symbol.dispose]();
    owner.onClose({ code, reason: endpoint.quote(reason) });
  });
  if (signal.aborted) close();
  return {
    send(data) {
      if (webSocket.readyState === WebSocket.OPEN) webSocket.send(data);
    },
    get unsentBytes(): number {
      return webSocket.bufferedAmount;
    },
    close,
  };

  function close(): void {
    if (goodbye !== undefined || webSocket.readyState === WebSocket.CLOSED) return;
    goodbye = endpoint.clock.alarm(endpoint.clock.now() + goodbyeLimitMs, () => connection?.destroy());
    webSocket.close(1000);
  }
}

/** Looks at the answer to the upgrade, of which the WebSocket interface tells nothing. */
function watchHandshake(handshake: Handshake): Dispatcher.DispatcherComposeInterceptor {
  return (dispatch) => (options, handler) =>
    dispatch(options, {
      onRequestStart: (controller, context) => handler.onRequestStart?.(controller, context),
      onRequestUpgrade: (controller, status, headers, connection) => {
        handshake.status = status;
        handshake.connection = connection;
        handler.onRequestUpgrade?.(controller, status, headers, connection);
      },
      onResponseStart: (controller, status, headers, message) => {
        handshake.status = status;
        handler.onResponseStart?.(controller, status, headers, message);
      },
      onResponseData: (controller, chunk) => handler.onResponseData?.(controller, chunk),
      onResponseEnd: (controller, trailers) => handler.onResponseEnd?.(controller, trailers),
      onResponseError: (controller, error) => handler.onResponseError?.(controller, error),
    });
}

function handshakeError(endpoint: Endpoint, handshake: Handshake, cause: unknown): unknown {
  const { status } = handshake;
  if (status >= 300) return refusalError(endpoint, { status, words: "" });
  if (status > 0) return noWebSocket(endpoint);
  const error = networkError(endpoint, cause, "");
  if (error !== cause) return error;
  return providerError(
    "provider-unreachable",
    `${endpoint.name} (${endpoint.host}) cannot be reached`,
    cause === undefined ? {} : { cause },
  );
}

function noWebSocket(endpoint: Endpoint): ProviderError {
  return providerError("provider-bad-answer", `${endpoint.name} (${endpoint.host}) opened no WebSocket`, {
    hint: `Check base_url of providers.${endpoint.name}.`,
  });
}

function webSocketAddress(url: URL): URL {
  const address = new URL(url);
  address.protocol = url.protocol === "http:" || url.protocol === "ws:" ? "ws:" : "wss:";
  return address;
}
