import { OutdialError, type Clock } from "#base";
import type { Log } from "#host";
import { publicRoutes } from "#wire";
import type { FastifyInstance } from "fastify";
import type { AddressInfo } from "node:net";
import { authenticate, createRateLimiter } from "./authenticate.ts";
import { createGuard } from "./guard.ts";
import { createHttp } from "./http.ts";
import { createOnce } from "./idempotency.ts";
import { publicHandlers, type PublicCaller } from "./public-handlers.ts";
import type { Service } from "./service.ts";

export interface PublicApiOptions {
  readonly service: Service;
  readonly host: string;
  /** 0: any free port. */
  readonly port: number;
  /** Names, beside the loopback ones, under which this server may be asked. */
  readonly allowedHosts: readonly string[];
  readonly clock: Clock;
  readonly hashes: { readonly sha256: (data: string | Uint8Array) => string };
  /** Signs recording URLs; a new key ends the old URLs. */
  readonly signingKey: Uint8Array;
  /** How clients reach the server when a proxy stands before it, e.g. `https://calls.example.com`. */
  readonly publicUrl?: string;
  /** Of the program, for the OpenAPI page. */
  readonly version?: string;
  readonly log: Log;
}

export interface PublicApi {
  readonly address: string;
  readonly port: number;
  /** Takes no more connections, lets requests under way end, then closes. */
  close(): Promise<void>;
}

/** Serves the published interface. Rejects with OutdialError `address-in-use` or `address-unusable`. */
export async function startPublicApi(options: PublicApiOptions): Promise<PublicApi> {
  const { service, clock, hashes, log } = options;
  const limit = createRateLimiter();
  const app = createHttp<PublicCaller>({
    routes: publicRoutes,
    handlers: publicHandlers({
      service,
      clock,
      log,
      once: createOnce(service, hashes.sha256),
      signingKey: options.signingKey,
      version: options.version ?? "2.0.0",
      publicUrl: options.publicUrl,
    }),
    guard: createGuard([...options.allowedHosts, ...boundName(options.host)]),
    admit: async (headers, route) => {
      if (route.access !== "token") return { caller: { account: undefined }, headers: {} };
      const credential = await authenticate(headers.authorization, service, hashes.sha256, clock.now());
      const admission = limit(credential, clock.now());
      return { caller: { account: admission.account }, headers: admission.headers };
    },
    fallbackErrors: "envelope",
    log,
  });
  await listen(app, options);
  const { address, port } = boundTo(app);
  return { address, port, close: async () => closeGently(app, clock) };
}

/** A page cannot make a browser send the address of this machine as Host together with its own content. */
function boundName(host: string): readonly string[] {
  if (host === "0.0.0.0" || host === "::") return [];
  return [host.includes(":") ? `[${host}]` : host];
}

async function listen(app: FastifyInstance, { host, port }: PublicApiOptions): Promise<void> {
  try {
    await app.listen({ host, port });
  } catch (cause) {
    await app.close();
    const inUse = cause instanceof Error && "code" in cause && cause.code === "EADDRINUSE";
    const what = inUse ? "is in use by another program" : "cannot be listened on";
    throw new OutdialError(inUse ? "address-in-use" : "address-unusable", `${host}:${port} ${what}`, {
      hint: "Choose another address with --listen.",
      cause,
    });
  }
}

function boundTo(app: FastifyInstance): AddressInfo {
  const address = app.server.address();
  if (address === null || typeof address === "string") throw new Error("The public API has no port");
  return address;
}

const graceMs = 2_000;

/** Closes; what is still open after a grace period is cut. */
export async function closeGently(app: FastifyInstance, clock: Clock): Promise<void> {
  const cut = clock.alarm(clock.now() + graceMs, () => app.server.closeAllConnections());
  try {
    await app.close();
  } finally {
    cut[Symbol.dispose]();
  }
}
