import type { IncomingMessage } from "node:http";
import { CommandError } from "./command-error.ts";

export interface WireRequest {
  readonly method: "GET" | "POST" | "DELETE";
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
  readonly signal?: AbortSignal;
}

export interface WireReply {
  readonly status: number;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  readonly body: AsyncIterable<Uint8Array>;
}

/** Carries one request to a server. Rejects with a system error (`ECONNREFUSED`, ...) when it cannot. */
export interface Transport {
  /** For messages: a path or a URL. */
  readonly address: string;
  send(request: WireRequest): Promise<WireReply>;
}

/** HTTP over the daemon's Unix socket. */
export function socketTransport(socketPath: string): Transport {
  return {
    address: socketPath,
    send: async ({ method, path, headers, body, signal }) => {
      // Costs a tenth of what importing the client library would.
      const { request } = await import("node:http");
      const reply = await new Promise<IncomingMessage>((resolve, reject) => {
        const sent = request(
          { socketPath, method, path, headers, agent: false, ...(signal === undefined ? {} : { signal }) },
          resolve,
        );
        sent.on("error", reject);
        sent.end(body);
      });
      return { status: reply.statusCode ?? 0, headers: reply.headers, body: reply };
    },
  };
}

/** HTTP(S) to a service with the public API. Plain HTTP to another machine is refused: it would show the token. */
export function remoteTransport(host: string, token: string): Transport {
  const base = remoteUrl(host);
  return {
    address: base.origin,
    send: async ({ method, path, headers, body, signal }) => {
      const { request } = await import("undici");
      const url = `${base.origin}${base.pathname.replace(/\/$/, "")}${path}`;
      const reply = await request(url, {
        method,
        headers: { ...headers, authorization: `Bearer ${token}` },
        ...(body === undefined ? {} : { body }),
        ...(signal === undefined ? {} : { signal }),
        headersTimeout: 60_000,
        reset: true, // A connection kept for a next request would keep the process alive.
      });
      return { status: reply.statusCode, headers: reply.headers, body: reply.body };
    },
  };
}

/** The address of a remote service, checked. */
export function remoteUrl(host: string): URL {
  const url = URL.parse(/^https?:\/\//.test(host) ? host : `https://${host}`);
  if (url === null || url.username !== "" || url.search !== "") {
    throw new CommandError("usage", `"${host}" is no address of a service`, {
      fix: "write https://voice.example.com",
    });
  }
  const loopback = ["localhost", "127.0.0.1", "[::1]"].includes(url.hostname);
  if (url.protocol === "http:" && !loopback) {
    throw new CommandError(
      "usage",
      `${url.origin} is not encrypted: the token would be readable on the way`,
      {
        fix: `use https://${url.host}`,
      },
    );
  }
  return url;
}

/** All of a body as text. */
export async function bodyText(reply: WireReply): Promise<string> {
  const decoder = new TextDecoder();
  let text = "";
  for await (const chunk of reply.body) text += decoder.decode(chunk, { stream: true });
  return text + decoder.decode();
}

/** The value of a header that comes once. */
export function headerText(reply: WireReply, name: string): string | undefined {
  const value = reply.headers[name];
  return typeof value === "string" ? value : value?.[0];
}
