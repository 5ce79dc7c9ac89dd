import { OutdialError, type Clock } from "#base";
import { ensurePrivateDir, hashes, wallClock, type Log } from "#host";
import { adminRoutes } from "#wire";
import { chmod, lstat, stat, unlink } from "node:fs/promises";
import { connect } from "node:net";
import { dirname } from "node:path";
import { callHandlers } from "./admin-calls.ts";
import { setupHandlers, type AdminCaller } from "./admin-setup.ts";
import { providerHandlers } from "./admin-providers.ts";
import { trunkHandlers } from "./admin-trunks.ts";
import { notFound } from "./failure.ts";
import { createHttp } from "./http.ts";
import { createOnce } from "./idempotency.ts";
import { closeGently } from "./server.ts";
import type { Account, Service } from "./service.ts";

export interface AdminApiOptions {
  readonly service: Service;
  readonly socketPath: string;
  readonly log: Log;
  /** The wall clock unless a test brings its own. */
  readonly clock?: Clock;
}

export interface AdminApi {
  /** Ends event streams, lets other requests end, removes the socket. */
  close(): Promise<void>;
}

/**
 * Serves the owner's interface on a Unix socket that nobody else can open: its directory is made private before the
 * socket exists. Rejects with OutdialError `socket-in-use` or `socket-unsafe`.
 */
export async function startAdminApi(options: AdminApiOptions): Promise<AdminApi> {
  const { service, socketPath, log, clock = wallClock } = options;
  const closing = new AbortController();
  const once = createOnce(service, hashes.sha256);
  const app = createHttp<AdminCaller>({
    routes: adminRoutes,
    handlers: {
      ...setupHandlers(service, clock),
      ...trunkHandlers(service),
      ...providerHandlers(service),
      ...callHandlers({ service, once, clock, log, closing: closing.signal }),
    },
    guard: () => undefined, // No browser can reach a Unix socket.
    admit: async (headers) => {
      const name = headers["outdial-account"];
      return {
        caller: { account: accountFinder(service, typeof name === "string" ? name : "default") },
        headers: {},
      };
    },
    fallbackErrors: "admin",
    log,
  });
  await prepareDirectory(dirname(socketPath));
  await removeStaleSocket(socketPath);
  await app.listen({ path: socketPath });
  await chmod(socketPath, 0o600);
  return {
    close: async () => {
      closing.abort();
      await closeGently(app, clock);
    },
  };
}

function accountFinder(service: Service, name: string): () => Promise<Account> {
  return async () => {
    const account = await service.findAccount(name);
    if (!account) throw notFound("account", name);
    return account;
  };
}

/** Makes the directory private, unless it is one that others share, such as `/tmp`. */
async function prepareDirectory(path: string): Promise<void> {
  const found = await stat(path).catch(() => undefined);
  const sticky = found !== undefined && (found.mode & 0o1000) !== 0;
  const foreign = found !== undefined && found.uid !== process.getuid?.();
  if (sticky || foreign) {
    throw new OutdialError("socket-unsafe", `The socket's directory ${path} belongs to others too`, {
      hint: "Set OUTDIAL_SOCKET to a path in a directory of your own.",
    });
  }
  await ensurePrivateDir(path);
}

/** A crash leaves its socket behind: nobody answers there any more. One that answers is another daemon's. */
async function removeStaleSocket(path: string): Promise<void> {
  const found = await lstat(path).catch(() => undefined);
  if (!found) return;
  if (!found.isSocket()) throw new OutdialError("socket-unsafe", `${path} is there already and is no socket`);
  const answer = await knock(path);
  if (answer === "nothing") return;
  if (answer === "alive") {
    throw new OutdialError("socket-in-use", `Another daemon answers on ${path}`, {
      hint: "Use the running one (outdial status), or stop it first (outdial daemon stop).",
    });
  }
  await unlink(path);
}

async function knock(path: string): Promise<"alive" | "stale" | "nothing"> {
  const { promise, resolve, reject } = Promise.withResolvers<"alive" | "stale" | "nothing">();
  const socket = connect(path, () => resolve("alive"));
  socket.on("error", (error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") resolve("nothing");
    else if (error.code === "ECONNREFUSED") resolve("stale");
    else reject(error);
  });
  try {
    return await promise;
  } finally {
    socket.destroy();
  }
}
