import { spawn } from "node:child_process";
import { CommandError } from "./command-error.ts";
import type { Context, Input } from "./handler.ts";
import { shortSpan } from "./durations.ts";
import { exitCode } from "./exit-codes.ts";
import { pause } from "./io.ts";
import { probeDaemon, startDaemon } from "./local-daemon.ts";
import { createClient } from "./client.ts";
import { printStatus } from "./status.ts";

const drainDefaultMs = 60_000;

/** `outdial daemon run`: the daemon in the foreground; its exit code is ours. */
export async function runDaemon(context: Context, input: Input): Promise<number> {
  if ((await probeDaemon(context.socket, context.signal)) !== undefined) {
    throw new CommandError("conflict", "the daemon is running already", { fix: "outdial daemon stop" });
  }
  return runForeground(context, ["run", ...listenArgs(input)]);
}

/** `outdial daemon start`. Nothing happens when it runs already. */
export async function startDaemonCommand(context: Context, input: Input): Promise<void> {
  const { io, paths, socket, signal } = context;
  const running = await probeDaemon(socket, signal);
  if (running !== undefined) context.notes.say(`the daemon is running already (pid ${running.pid})`);
  const status =
    running ?? (await startDaemon({ io, paths, transport: socket, signal, args: listenArgs(input) }));
  if (running === undefined) context.notes.say(`started the daemon (pid ${status.pid})`);
  await printStatus(context, status);
}

/** `outdial daemon stop`: resolves when the daemon has gone. One that is not there is no failure. */
export async function stopDaemon(context: Context, input: Input): Promise<number> {
  const { io, socket, notes, signal } = context;
  const status = await probeDaemon(socket, signal);
  if (status === undefined) {
    notes.say("the daemon is not running");
    return 0;
  }
  const drainMs = input.flag("now") ? 0 : (input.durationMs("drain") ?? drainDefaultMs);
  const client = createClient(socket, {
    clock: io.steady,
    entropy: io.entropy,
    retryForMs: 0,
    signal,
    headers: {},
    onWait: () => undefined,
  });
  await client.post("/admin/stop", { drain_ms: drainMs });
  if (status.calls.live > 0 && drainMs > 0) {
    notes.say(
      `${status.calls.live} live calls may go on for up to ${shortSpan(drainMs)}; --now ends them at once`,
    );
  }
  // Some seconds more than it asked for: to end calls properly and to close the store.
  const giveUpAt = io.steady.now() + drainMs + 15_000;
  while (isAlive(status.pid)) {
    if (io.steady.now() > giveUpAt) {
      throw new CommandError("pending", `the daemon (pid ${status.pid}) is still there`, {
        fix: "outdial daemon stop --now",
      });
    }
    await pause(io.steady, 50, signal);
  }
  notes.say("stopped the daemon");
  return 0;
}

/** Runs `outdiald <args>` with our terminal; signals are passed on and its exit code is given back. */
export async function runForeground(context: Context, args: readonly string[]): Promise<number> {
  const { io } = context;
  const [program = "", ...leading] = io.daemonCommand;
  const child = spawn(program, [...leading, ...args], {
    stdio: "inherit",
    env: { ...io.env },
  });
  // Ctrl-C reaches the whole foreground group by itself; a signal to us alone has to be passed on.
  using _signals = io.onSignal((signal) => child.kill(signal));
  return await new Promise((resolve, reject) => {
    child.on("error", (cause) =>
      reject(new CommandError("unreachable", `cannot run ${program}`, { why: cause.message, cause })),
    );
    child.on("exit", (code, signal) =>
      resolve(code ?? exitCode(signal === "SIGINT" ? "interrupted" : "terminated")),
    );
  });
}

function listenArgs(input: Input): readonly string[] {
  const listen = input.text("listen");
  return listen === undefined ? [] : ["--listen", listen];
}

/** Signal 0 only asks. EPERM: it is there, but not ours. */
function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error instanceof Error && "code" in error && error.code === "EPERM";
  }
}
