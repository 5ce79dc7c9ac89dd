import { main, type Io } from "#cli";
import { wallClock, steadyClock } from "#host";
import { Readable, Writable } from "node:stream";

export interface CliOptions {
  /** OUTDIAL_HOME. */
  readonly home: string;
  readonly stdin?: string | Uint8Array;
  /** Standard streams are terminals of so many columns. */
  readonly columns?: number;
  readonly env?: Readonly<Record<string, string>>;
  readonly io?: Partial<Io>;
  /** Called with every piece of output; may send a signal. */
  readonly onOutput?: (text: string, signal: (name: "SIGINT" | "SIGTERM") => void) => void;
}

export interface CliResult {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs one command line inside this process, with streams, environment and signals of its own. */
export async function runCli(argv: readonly string[], options: CliOptions): Promise<CliResult> {
  const handlers = new Set<(signal: "SIGINT" | "SIGTERM") => void>();
  const signal = (name: "SIGINT" | "SIGTERM"): void => handlers.forEach((handler) => handler(name));
  const out = sink((text) => options.onOutput?.(text, signal), options.columns);
  const err = sink((text) => options.onOutput?.(text, signal), options.columns);
  const stdin = Object.assign(
    Readable.from(options.stdin === undefined ? [] : [Buffer.from(options.stdin as string)]),
    options.columns === undefined ? {} : { isTTY: true },
  );
  const code = await main(argv, {
    stdin,
    stdout: out.stream,
    stderr: err.stream,
    env: { PATH: process.env["PATH"], OUTDIAL_HOME: options.home, OUTDIAL_KEYRING: "off", ...options.env },
    cwd: options.home,
    clock: wallClock,
    steady: steadyClock,
    entropy: { bytes: (length) => new Uint8Array(length) },
    daemonCommand: ["/nonexistent/outdiald"],
    selfCommand: ["/nonexistent/outdial"],
    exit: () => undefined,
    onSignal: (handler) => {
      handlers.add(handler);
      return { [Symbol.dispose]: () => void handlers.delete(handler) };
    },
    ...options.io,
  });
  return { code, stdout: out.text(), stderr: err.text() };
}

/** Removes what colours and moves the cursor. */
export function withoutEscapes(text: string): string {
  // oxlint-disable-next-line no-control-regex -- escape sequences are what is removed
  return text.replace(/\u001b\[[0-?]*[ -/]*[@-~]/g, "");
}

function sink(onText: (text: string) => void, columns: number | undefined) {
  const chunks: Buffer[] = [];
  const stream = new Writable({
    write: (chunk: Buffer, _encoding, done) => {
      chunks.push(Buffer.from(chunk));
      onText(chunk.toString());
      done();
    },
  });
  const terminal = columns === undefined ? {} : { isTTY: true, columns, rows: 40 };
  return { stream: Object.assign(stream, terminal), text: () => Buffer.concat(chunks).toString() };
}
