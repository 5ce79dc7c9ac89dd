import type { TSchema } from "typebox";

export type Method = "GET" | "POST" | "DELETE";

/**
 * The body of an error, which the contract fixes per operation:
 * `flag` `{ error: true, message }`; `text` `{ error: "…" }`; `list` like `text`, but 403 and 5xx are a
 * plain JSON string; `envelope` `{ success: false, error: { code, message } }`; `admin` `{ error: { code, message, hint? } }`.
 */
export type ErrorShape = "flag" | "text" | "list" | "envelope" | "admin";

/** One operation of the HTTP interface, as data: the server, the client and the OpenAPI page read it. */
export interface Route {
  readonly method: Method;
  /** With `{name}` for parameters. */
  readonly path: string;
  readonly summary: string;
  /** `token`: public, Bearer. `open`: public, no header needed. `socket`: only on the owner's Unix socket. */
  readonly access: "token" | "open" | "socket";
  readonly errors: ErrorShape;
  readonly query?: TSchema;
  readonly body?: TSchema;
  /** What of the body is checked before ownership; absent: all of it. */
  readonly bodyShape?: TSchema;
  /** Longest body accepted; absent: no body. */
  readonly bodyLimitBytes?: number;
  /** Honours an `Idempotency-Key` header. */
  readonly idempotent?: boolean;
  readonly success: {
    readonly status: 200 | 201 | 202 | 204;
    readonly contentType?: "audio/wav" | "application/x-ndjson";
    readonly schema?: TSchema;
  };
  /** Statuses an error of this operation can have. */
  readonly failures: readonly number[];
}

export const mebibyte = 1024 * 1024;

/** The concrete path of a route: `fillPath("/call/{callId}", { callId })`; values are percent-encoded. */
export function fillPath(path: string, params: Readonly<Record<string, string>>): string {
  return path.replace(/\{(\w+)\}/g, (_, name: string) => {
    const value = params[name];
    if (value === undefined) throw new Error(`The path ${path} needs ${name}`);
    return encodeURIComponent(value);
  });
}
