import { startPublicApi, type PublicApi } from "#api";
import { mintToken } from "#domain";
import { hashes, silentLog, systemEntropy } from "#host";
import { Agent, request } from "undici";
import { accountA, accountB, MemoryService } from "./memory-service.ts";
import { VirtualClock } from "./virtual-clock.ts";

export interface Reply {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly text: string;
  /** What `text` holds, empty when it is no JSON. */
  readonly json: Record<string, unknown>;
}

/** A public API over a service in memory, on a free port, at a fixed virtual time, with a token for each of two accounts. */
export class PublicApiRig implements AsyncDisposable {
  readonly service: MemoryService;
  readonly clock: VirtualClock;
  readonly token: string;
  readonly otherToken: string;
  readonly #agent = new Agent();
  readonly #api: PublicApi;

  static async start(at = "2026-11-21T10:00:00Z"): Promise<PublicApiRig> {
    const parts = { service: new MemoryService(), clock: new VirtualClock() };
    parts.clock.advance(Date.parse(at));
    parts.service.now = parts.clock.now();
    const api = await startPublicApi({
      ...parts,
      host: "127.0.0.1",
      port: 0,
      allowedHosts: ["calls.test"],
      hashes,
      signingKey: new Uint8Array(32).fill(7),
      log: silentLog,
    });
    return new PublicApiRig(parts.service, parts.clock, api);
  }

  constructor(service: MemoryService, clock: VirtualClock, api: PublicApi) {
    this.service = service;
    this.clock = clock;
    this.#api = api;
    this.token = this.grant("A", Number.MAX_SAFE_INTEGER);
    this.otherToken = this.grant("B", Number.MAX_SAFE_INTEGER);
  }

  get origin(): string {
    return `http://127.0.0.1:${this.#api.port}`;
  }

  get port(): number {
    return this.#api.port;
  }

  /** Makes a token of account A or B that ends at `expiresAt`. */
  grant(owner: "A" | "B", expiresAt: number): string {
    const parts = mintToken(systemEntropy);
    this.service.credentials.set(parts.prefix, {
      id: parts.prefix,
      account: owner === "A" ? accountA : accountB,
      secretHash: hashes.sha256(parts.secret),
      expiresAt,
    });
    return parts.prefix + parts.secret;
  }

  /** One request; `body` is sent as JSON unless it is text or octets. The token is account A's unless `headers` say otherwise. */
  async ask(
    method: string,
    path: string,
    body?: unknown,
    headers: Record<string, string> = {},
  ): Promise<Reply> {
    const raw = body === undefined || typeof body === "string" || body instanceof Uint8Array;
    const payload = raw ? body : JSON.stringify(body);
    const response = await request(this.origin + path, {
      dispatcher: this.#agent,
      method,
      headers: {
        authorization: `Bearer ${this.token}`,
        ...(payload === undefined ? {} : { "content-type": "application/json" }),
        ...headers,
      },
      ...(payload === undefined ? {} : { body: payload }),
    });
    const text = await response.body.text();
    const flat = Object.entries(response.headers).map(([name, value]) => [name, String(value)]);
    return { status: response.statusCode, headers: Object.fromEntries(flat), text, json: parsed(text) };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#agent.destroy();
    await this.#api.close();
  }
}

function parsed(text: string): Record<string, unknown> {
  try {
    return JSON.parse(text);
  } catch {
    return {};
  }
}
