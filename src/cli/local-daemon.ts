import { ensurePrivateDir, type Paths } from "#host";
import { spawn } from "node:child_process";
import { open, readFile } from "node:fs/promises";
import { CommandError } from "./command-error.ts";
import { pause, type Io } from "./io.ts";
import { objectInText, readJson } from "./json.ts";
import { bodyText, type Transport } from "./transport.ts";
import type { StatusView } from "#wire";

const pollMs = 50;
const startWithinMs = 15_000;
/** Exit code of an `outdiald` that found another one in its data directory. */
const anotherRuns = 75;

/** The daemon's status, or undefined when nothing answers on the socket. */
export async function probeDaemon(
  transport: Transport,
  signal?: AbortSignal,
): Promise<StatusView | undefined> {
  try {
    const reply = await transport.send({
      method: "GET",
      path: "/admin/status",
      headers: {},
      ...(signal === undefined ? {} : { signal }),
    });
    const text = await bodyText(reply);
    return reply.status === 200 ? readJson<StatusView>(text) : undefined;
  } catch {
    signal?.throwIfAborted();
    return undefined;
  }
}

export interface StartOrder {
  readonly io: Io;
  readonly paths: Paths;
  readonly transport: Transport;
  readonly signal: AbortSignal;
  /** Further arguments of `outdiald run`. */
  readonly args?: readonly string[];
}

/**
 * Starts the daemon detached and resolves when it answers. When two commands do this at once, the daemon's own
 * lock lets one of them live and both find it. Its early output goes to the log file; the end of it is in the error.
 */
export async function startDaemon(order: StartOrder): Promise<StatusView> {
  const { io, paths, transport, signal } = order;
  await ensurePrivateDir(paths.stateDir);
  const log = await open(paths.logFile, "a", 0o600);
  const sizeBefore = (await log.stat()).size;
  const child = { exit: undefined as number | undefined, error: undefined as Error | undefined };
  try {
    const [program = "", ...leading] = io.daemonCommand;
    const started = spawn(program, [...leading, "run", ...(order.args ?? [])], {
      detached: true,
      stdio: ["ignore", log.fd, log.fd],
      env: { ...io.env },
      cwd: "/",
    });
    started.on("error", (error) => (child.error = error));
    started.on("exit", (code) => (child.exit = code ?? 1));
    started.unref();
    const giveUpAt = io.steady.now() + startWithinMs;
    for (let afterExit = 0; afterExit < 20 && io.steady.now() < giveUpAt;) {
      const status = await probeDaemon(transport, signal);
      if (status !== undefined) return status;
      if (child.error !== undefined) break;
      // Another one won the race and is starting: it is waited for as long as our own would have been.
      if (child.exit !== undefined && child.exit !== anotherRuns) afterExit++;
      await pause(io.steady, pollMs, signal);
    }
  } finally {
    await log.close();
  }
  throw new CommandError("unreachable", "the daemon did not start", {
    why: child.error?.message ?? (await logSince(paths.logFile, sizeBefore)),
    fix: "outdial daemon run      (in the foreground, to see what it says)",
    ref: paths.logFile,
    code: "daemon-not-started",
  });
}

async function logSince(file: string, from: number): Promise<string> {
  const bytes = await readFile(file).catch(() => new Uint8Array());
  const lines = new TextDecoder()
    .decode(bytes.subarray(from))
    .trim()
    .split("\n")
    .filter((line) => line !== "");
  return lines.slice(-3).map(logMessage).join("\n");
}

/** The message of a JSON log line, or the line itself. */
function logMessage(line: string): string {
  const message = objectInText(line)?.["msg"];
  return typeof message === "string" ? message : line;
}
