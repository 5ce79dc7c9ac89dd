import { Agent, request } from "undici";
import type {
  AdminLaunchedCampaign,
  AppliedView,
  CallRecord,
  CampaignView,
  ListedCall,
  MintedTokenView,
} from "#wire";
import { startProgram } from "./built-program.ts";
import type { ChildProgram, Ended } from "./child-program.ts";
import { eventually } from "./eventually.ts";
import type { TempHome } from "./temp-home.ts";

export interface HttpReply<T = Record<string, unknown>> {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly text: string;
  /** What `text` holds, `{}` when it is no JSON. */
  readonly body: T;
}

export type HttpMethod = "GET" | "POST" | "DELETE";

/** The built daemon in a process of its own, asked over its admin socket. Leaving the scope ends it. */
export class DaemonProcess implements AsyncDisposable {
  readonly apiUrl: string;
  readonly home: TempHome;
  readonly #program: ChildProgram;
  readonly #socket: Agent;

  private constructor(home: TempHome, program: ChildProgram, apiUrl: string) {
    this.home = home;
    this.#program = program;
    this.apiUrl = apiUrl;
    this.#socket = new Agent({ connect: { socketPath: home.socketPath } });
  }

  /** Resolves when it answers on the socket. */
  static async start(home: TempHome): Promise<DaemonProcess> {
    const program = startProgram("outdiald", ["run"], home);
    try {
      const [, apiUrl = ""] = await program.shows(/API on (http:\S+)/);
      return new DaemonProcess(home, program, apiUrl);
    } catch (error) {
      await program[Symbol.asyncDispose]();
      throw error;
    }
  }

  get pid(): number {
    return this.#program.pid;
  }

  get isRunning(): boolean {
    return this.#program.isRunning;
  }

  /** Asks the admin API; rejects unless the status is one of a success. */
  async admin<T = Record<string, unknown>>(method: HttpMethod, path: string, body?: unknown): Promise<T> {
    const reply = await this.tryAdmin<T>(method, path, body);
    if (reply.status < 300) return reply.body;
    throw new Error(`${method} ${path}: ${reply.status} ${JSON.stringify(reply.body)}`);
  }

  /** The same without an opinion about the status. */
  async tryAdmin<T = Record<string, unknown>>(
    method: HttpMethod,
    path: string,
    body?: unknown,
  ): Promise<HttpReply<T>> {
    return ask<T>(`http://daemon${path}`, { method, body, dispatcher: this.#socket });
  }

  /** Asks the public API with a token. */
  api<T = Record<string, unknown>>(
    method: HttpMethod,
    path: string,
    options: {
      readonly token?: string;
      readonly body?: unknown;
      readonly headers?: Record<string, string>;
    } = {},
  ): Promise<HttpReply<T>> {
    const authorization = options.token === undefined ? {} : { authorization: `Bearer ${options.token}` };
    return ask<T>(`${this.apiUrl}${path}`, {
      method,
      body: options.body,
      headers: { ...authorization, ...options.headers },
    });
  }

  async applyPlaybook(source: string, message = "first"): Promise<AppliedView> {
    return this.admin<AppliedView>("POST", "/admin/playbooks/apply", { source, message });
  }

  async createToken(name: string): Promise<string> {
    const minted = await this.admin<MintedTokenView>("POST", "/admin/tokens", { name, expires: "30d" });
    return minted.token;
  }

  /** Starts a call and gives its id. */
  async startCall(order: Readonly<Record<string, unknown>>): Promise<string> {
    return (await this.admin<{ id: string }>("POST", "/admin/calls", order)).id;
  }

  launch(order: Readonly<Record<string, unknown>>): Promise<AdminLaunchedCampaign> {
    return this.admin<AdminLaunchedCampaign>("POST", "/admin/campaigns", order);
  }

  call(id: string): Promise<CallRecord> {
    return this.admin<CallRecord>("GET", `/admin/calls/${id}`);
  }

  calls(query = ""): Promise<readonly ListedCall[]> {
    return this.admin<readonly ListedCall[]>("GET", `/admin/calls${query}`);
  }

  campaign(id: string): Promise<CampaignView> {
    return this.admin<CampaignView>("GET", `/admin/campaigns/${id}`);
  }

  /** The record as soon as the call is in one of these exact states. */
  async callIn(id: string, states: readonly string[], withinMs = 20_000): Promise<CallRecord> {
    return eventually(
      `call ${id} is ${states.join(" or ")}`,
      async () => {
        const record = await this.call(id);
        return states.includes(record.outcome.state) ? record : `it is ${JSON.stringify(record.outcome)}`;
      },
      withinMs,
    );
  }

  signal(signal: NodeJS.Signals): void {
    this.#program.signal(signal);
  }

  /** Kills it as a crash would: nothing can be tidied up. */
  async crash(): Promise<void> {
    this.#program.signal("SIGKILL");
    await this.#program.ends();
  }

  /** Asks it to end as a service manager would. */
  async stop(withinMs = 20_000): Promise<Ended> {
    this.#program.signal("SIGTERM");
    return this.#program.ends(withinMs);
  }

  get stderr(): string {
    return this.#program.stderr;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#socket.destroy();
    if (!this.#program.isRunning) return;
    this.#program.signal("SIGCONT");
    this.#program.signal("SIGTERM"); // The second one ends it without waiting for calls.
    this.#program.signal("SIGTERM");
    await this.#program.ends(3_000).catch(() => undefined);
    await this.#program[Symbol.asyncDispose]();
  }
}

async function ask<T>(
  url: string,
  order: {
    readonly method: HttpMethod;
    readonly body?: unknown;
    readonly headers?: Record<string, string>;
    readonly dispatcher?: Agent;
  },
): Promise<HttpReply<T>> {
  const json = order.body === undefined ? {} : { "content-type": "application/json" };
  const reply = await request(url, {
    method: order.method,
    headers: { ...json, ...order.headers },
    ...(order.body === undefined
      ? {}
      : { body: typeof order.body === "string" ? order.body : JSON.stringify(order.body) }),
    ...(order.dispatcher === undefined ? {} : { dispatcher: order.dispatcher }),
  });
  const text = await reply.body.text();
  const headers = Object.fromEntries(
    Object.entries(reply.headers).map(([name, value]) => [
      name,
      Array.isArray(value) ? value.join(", ") : (value ?? ""),
    ]),
  );
  return { status: reply.statusCode, headers, text, body: read(text) as T };
}

function read(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return {};
  }
}
