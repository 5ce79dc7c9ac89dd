import { startAdminApi, type AdminApi } from "#api";
import { silentLog } from "#host";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Client, type Dispatcher } from "undici";
import { MemoryService } from "./memory-service.ts";
import type { Reply } from "./public-api.ts";
import { VirtualClock } from "./virtual-clock.ts";

/** An admin API over a service in memory, on a Unix socket in a directory of its own, at a fixed virtual time. */
export class AdminApiRig implements AsyncDisposable {
  readonly service: MemoryService;
  readonly clock: VirtualClock;
  readonly directory: string;
  readonly socketPath: string;
  readonly #client: Client;
  readonly #api: AdminApi;

  static async start(at = "2026-11-21T10:00:00Z"): Promise<AdminApiRig> {
    const service = new MemoryService();
    const clock = new VirtualClock();
    clock.advance(Date.parse(at));
    service.now = clock.now();
    const directory = await mkdtemp(join(tmpdir(), "outdial-admin-"));
    const socketPath = join(directory, "run", "daemon.sock");
    const api = await startAdminApi({ service, socketPath, log: silentLog, clock });
    return new AdminApiRig({ service, clock, directory, socketPath, api });
  }

  private constructor(parts: {
    service: MemoryService;
    clock: VirtualClock;
    directory: string;
    socketPath: string;
    api: AdminApi;
  }) {
    this.service = parts.service;
    this.clock = parts.clock;
    this.directory = parts.directory;
    this.socketPath = parts.socketPath;
    this.#api = parts.api;
    this.#client = new Client("http://localhost", { socketPath: parts.socketPath });
  }

  /** One request as the CLI makes it. */
  async ask(
    method: string,
    path: string,
    body?: unknown,
    headers: Record<string, string> = {},
  ): Promise<Reply> {
    const response = await this.open(method, path, body, headers);
    const text = await response.body.text();
    const flat = Object.entries(response.headers).map(([name, value]) => [name, String(value)]);
    return { status: response.statusCode, headers: Object.fromEntries(flat), text, json: parsed(text) };
  }

  /** Likewise, with the answer's body still to be read. */
  async open(
    method: string,
    path: string,
    body?: unknown,
    headers: Record<string, string> = {},
  ): Promise<Dispatcher.ResponseData> {
    return this.#client.request({
      method,
      path,
      headers: { ...(body === undefined ? {} : { "content-type": "application/json" }), ...headers },
      ...(body === undefined ? {} : { body: typeof body === "string" ? body : JSON.stringify(body) }),
    });
  }

  /** Ends the server; its sockets and streams with it. */
  async stop(): Promise<void> {
    await this.#api.close();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#client.destroy();
    await this.#api.close();
    await rm(this.directory, { recursive: true });
  }
}

function parsed(text: string): Record<string, unknown> {
  try {
    return JSON.parse(text);
  } catch {
    return {};
  }
}
