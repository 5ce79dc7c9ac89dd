import { adminRoutes, matchRoute, publicRoutes, type Route } from "#wire";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { mkdir } from "node:fs/promises";
import { dirname } from "node:path";
import type { AddressInfo } from "node:net";
import { Value } from "typebox/value";

export interface Seen {
  readonly operation: string;
  readonly params: Readonly<Record<string, string>>;
  readonly query: URLSearchParams;
  readonly headers: IncomingMessage["headers"];
  readonly body: unknown;
}

export interface Answer {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: unknown;
  /** Lines or bytes sent instead of a JSON body; the answer ends when they do. */
  readonly stream?: AsyncIterable<string | Uint8Array>;
}

export type Answers = Readonly<Record<string, (seen: Seen) => Answer | Promise<Answer>>>;

/**
 * A server that speaks the admin (Unix socket) or the public API (TCP) by its route table: requests must match it
 * and bodies its schemas, or the test that sent them fails. It records all requests and answers what it was told.
 */
export class RecordingServer implements AsyncDisposable {
  readonly seen: Seen[] = [];
  readonly faults: string[] = [];
  readonly #server = createServer((request, response) => void this.#handle(request, response));
  readonly #answers: Answers;
  readonly #routes: Readonly<Record<string, Route>>;

  private constructor(routes: Readonly<Record<string, Route>>, answers: Answers) {
    this.#routes = routes;
    this.#answers = answers;
  }

  static async onSocket(path: string, answers: Answers): Promise<RecordingServer> {
    await mkdir(dirname(path), { recursive: true });
    const server = new RecordingServer(adminRoutes, { status: () => ({ body: statusBody }), ...answers });
    await new Promise<void>((resolve) => server.#server.listen(path, resolve));
    return server;
  }

  static async onPort(answers: Answers): Promise<RecordingServer> {
    const server = new RecordingServer(publicRoutes, answers);
    await new Promise<void>((resolve) => server.#server.listen(0, "127.0.0.1", resolve));
    return server;
  }

  get url(): string {
    const { port } = this.#server.address() as AddressInfo;
    return `http://127.0.0.1:${port}`;
  }

  of(operation: string): readonly Seen[] {
    return this.seen.filter((one) => one.operation === operation);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
    if (this.faults.length > 0) throw new Error(this.faults.join("\n"));
  }

  async #handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? "/", "http://outdial");
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const text = Buffer.concat(chunks).toString();
    const match = matchRoute(this.#routes, request.method ?? "", url.pathname);
    if (match.type !== "matched") {
      this.faults.push(`${request.method} ${url.pathname} is not in the route table`);
      response.writeHead(404).end();
      return;
    }
    const operation = Object.entries(this.#routes).find(([, route]) => route === match.route)?.[0] ?? "";
    const body: unknown = text === "" ? undefined : JSON.parse(text);
    const schema = match.route.body;
    if (schema !== undefined && !Value.Check(schema, body)) {
      this.faults.push(`${operation}: ${JSON.stringify([...Value.Errors(schema, body)].slice(0, 3))}`);
    }
    const params = Object.fromEntries(
      Object.entries(match.params).map(([name, value]) => [name, decodeURIComponent(value)]),
    );
    const seen: Seen = { operation, params, query: url.searchParams, headers: request.headers, body };
    this.seen.push(seen);
    const answer = await (this.#answers[operation]?.(seen) ?? { status: 404, body: notFoundBody(operation) });
    response.writeHead(answer.status ?? 200, { "content-type": "application/json", ...answer.headers });
    if (answer.stream !== undefined) {
      response.flushHeaders();
      for await (const part of answer.stream) response.write(part);
    }
    response.end(answer.body === undefined ? undefined : JSON.stringify(answer.body));
  }
}

function notFoundBody(operation: string): unknown {
  return { error: { code: `${operation}-not-found`, message: "There is none" } };
}

export const statusBody = {
  version: "0.1.0",
  pid: process.pid,
  started_at: "2026-11-21T08:00:00.000Z",
  state: "running",
  api: { address: "127.0.0.1", port: 8787, url: "http://127.0.0.1:8787" },
  data_dir: "/tmp",
  accounts: 1,
  calls: { live: 1, open: 3, due_now: 0, total: 42 },
  room: 99,
  next_due_at: null,
  trunks: [
    {
      account: "default",
      name: "sandbox",
      kind: "sandbox",
      default: true,
      live: 1,
      max_calls: 50,
      health: "ready",
      health_reason: null,
      retry_at: null,
      registration: null,
    },
  ],
};
