import type { Clock, Entropy } from "#base";
import { programFile, steadyClock, systemEntropy, wallClock } from "#host";
import { accessSync, constants } from "node:fs";
import { fileURLToPath } from "node:url";

type Terminal = { readonly isTTY?: boolean; readonly columns?: number; readonly rows?: number };
export type Output = NodeJS.WritableStream & Terminal;

/** The world a command runs in. Tests bring their own. */
export interface Io {
  readonly stdin: NodeJS.ReadableStream & Terminal;
  readonly stdout: Output;
  readonly stderr: Output;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
  /** Calendar time, for what is shown and asked. */
  readonly clock: Clock;
  /** Never jumps, for waiting. */
  readonly steady: Clock;
  readonly entropy: Entropy;
  /** Program and leading arguments that run `outdiald`. */
  readonly daemonCommand: readonly string[];
  /** Program and leading arguments that run this CLI again. */
  readonly selfCommand: readonly string[];
  /** Ends the process at once; for a second Ctrl-C. */
  exit(code: number): void;
  /** Calls `handler` at every SIGINT and SIGTERM until disposed. */
  onSignal(handler: (signal: "SIGINT" | "SIGTERM") => void): Disposable;
}

/** The real terminal, environment and clock. */
export function processIo(): Io {
  return {
    stdin: process.stdin,
    stdout: process.stdout,
    stderr: process.stderr,
    env: process.env,
    cwd: process.cwd(),
    clock: wallClock,
    steady: steadyClock,
    entropy: systemEntropy,
    daemonCommand: [process.execPath, daemonProgram()],
    selfCommand: [process.execPath, process.argv[1] ?? ""],
    exit: (code) => process.exit(code),
    onSignal: (handler) => {
      const interrupt = (): void => handler("SIGINT");
      const terminate = (): void => handler("SIGTERM");
      process.on("SIGINT", interrupt);
      process.on("SIGTERM", terminate);
      return {
        [Symbol.dispose]: () => {
          process.off("SIGINT", interrupt);
          process.off("SIGTERM", terminate);
        },
      };
    },
  };
}

/** Resolves after `ms`, or rejects with the signal's reason when it is aborted before. */
export function pause(clock: Clock, ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted === true) {
      reject(reasonOf(signal));
      return;
    }
    const abort = (): void => {
      alarm[Symbol.dispose]();
      reject(reasonOf(signal));
    };
    const alarm = clock.alarm(clock.now() + ms, () => {
      signal?.removeEventListener("abort", abort);
      resolve();
    });
    signal?.addEventListener("abort", abort, { once: true });
  });
}

function reasonOf(signal: AbortSignal | undefined): Error {
  const reason: unknown = signal?.reason;
  return reason instanceof Error ? reason : new Error("aborted");
}

/** `bin/outdiald` of this installation, seen from the source tree or from the bundle. */
function daemonProgram(): string {
  const here = programFile("cli/main");
  const candidates = ["../bin/outdiald", "../../bin/outdiald"].map((path) =>
    fileURLToPath(new URL(path, here)),
  );
  return candidates.find(readable) ?? candidates[0] ?? "outdiald";
}

function readable(path: string): boolean {
  try {
    accessSync(path, constants.R_OK);
    return true;
  } catch {
    return false;
  }
}
