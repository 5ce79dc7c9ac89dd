import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";

export interface ChildOptions {
  readonly cwd?: string;
  /** The whole environment; default: ours without what belongs to our session. */
  readonly env?: NodeJS.ProcessEnv;
  /** Given on standard input, which then ends. */
  readonly input?: string;
}

export interface Ended {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

/** How a program ended and what it wrote. */
export interface Ran extends Ended {
  readonly stdout: string;
  readonly stderr: string;
  readonly tookMs: number;
}

/** A program that runs beside the test. Ends with it: leaving the scope ends it, by its id. */
export class ChildProgram implements AsyncDisposable {
  readonly name: string;
  readonly ended: Promise<Ended>;
  #stdout = "";
  #stderr = "";
  readonly #child: ChildProcess;
  readonly #listeners = new Set<() => void>();

  constructor(program: string, words: readonly string[], options: ChildOptions = {}) {
    this.name = [program, ...words].join(" ");
    const child = spawn(program, words, {
      ...(options.cwd === undefined ? {} : { cwd: options.cwd }),
      env: options.env ?? plainEnvironment(),
      stdio: ["pipe", "pipe", "pipe"],
    });
    this.#child = child;
    this.ended = once(child, "close").then(([code, signal]): Ended => ({ code, signal }));
    this.ended.catch(() => undefined); // A program that does not start is reported to whoever waits for it.
    child.stdin.on("error", () => undefined);
    if (options.input !== undefined) child.stdin.end(options.input);
    child.stdout.setEncoding("utf8").on("data", (text: string) => this.#heard(() => (this.#stdout += text)));
    child.stderr.setEncoding("utf8").on("data", (text: string) => this.#heard(() => (this.#stderr += text)));
    this.ended.then(
      () => this.#heard(() => undefined),
      () => this.#heard(() => undefined),
    );
  }

  get pid(): number {
    if (this.#child.pid === undefined) throw new Error(`${this.name} did not start`);
    return this.#child.pid;
  }

  get stdout(): string {
    return this.#stdout;
  }

  get stderr(): string {
    return this.#stderr;
  }

  get isRunning(): boolean {
    return this.#child.exitCode === null && this.#child.signalCode === null && this.#child.pid !== undefined;
  }

  write(text: string): void {
    this.#child.stdin?.write(text);
  }

  /** Resolves with the match as soon as either stream holds it; rejects when the program ends before, or time is up. */
  async shows(pattern: RegExp, withinMs = 10_000): Promise<RegExpExecArray> {
    const deadline = performance.now() + withinMs;
    for (;;) {
      const match = pattern.exec(this.#stdout) ?? pattern.exec(this.#stderr);
      if (match !== null) return match;
      const leftMs = deadline - performance.now();
      if (!this.isRunning || leftMs <= 0) throw new Error(this.#complaint(`did not show ${pattern}`));
      await this.#somethingOr(leftMs);
    }
  }

  /** Waits for the end; rejects when it takes longer. */
  async ends(withinMs = 10_000): Promise<Ended> {
    const deadline = performance.now() + withinMs;
    while (this.isRunning && performance.now() < deadline)
      await this.#somethingOr(deadline - performance.now());
    if (this.isRunning) throw new Error(this.#complaint(`still runs after ${withinMs} ms`));
    return this.ended;
  }

  signal(signal: NodeJS.Signals): void {
    this.#child.kill(signal);
  }

  /** Lets it end its own children first; one that does not listen is killed. */
  async [Symbol.asyncDispose](): Promise<void> {
    if (!this.isRunning) return;
    this.#child.kill("SIGTERM");
    await this.ends(5_000).catch(() => this.#child.kill("SIGKILL"));
    this.#child.stdout?.destroy();
    this.#child.stderr?.destroy();
    await this.ended;
  }

  #heard(take: () => void): void {
    take();
    for (const listener of this.#listeners) listener();
  }

  async #somethingOr(ms: number): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const timer = setTimeout(resolve, ms);
    this.#listeners.add(resolve);
    await promise;
    this.#listeners.delete(resolve);
    clearTimeout(timer);
  }

  #complaint(what: string): string {
    const tail = (text: string): string => text.slice(-2_000);
    return `${this.name} ${what}\n--- standard output\n${tail(this.#stdout)}\n--- standard error\n${tail(this.#stderr)}`;
  }
}

/** Runs a program to its end and gives what it wrote. Rejects when it takes longer than `withinMs`. */
export async function runToEnd(
  program: string,
  words: readonly string[],
  options: ChildOptions & { readonly withinMs?: number } = {},
): Promise<Ran> {
  const start = performance.now();
  await using child = new ChildProgram(program, words, { input: "", ...options });
  const ended = await child.ends(options.withinMs ?? 30_000);
  return { ...ended, stdout: child.stdout, stderr: child.stderr, tookMs: performance.now() - start };
}

/** What a program did, when it exited with 0; throws with its complaint otherwise. */
export function succeeded(ran: Ran, what = "the program"): Ran {
  if (ran.code === 0) return ran;
  throw new Error(`${what} exited with ${ran.code ?? ran.signal}\n${ran.stderr}${ran.stdout}`);
}

/** Our environment without what would tie a program to the session or the settings of whoever runs the tests. */
export function plainEnvironment(more: NodeJS.ProcessEnv = {}): NodeJS.ProcessEnv {
  const own = Object.entries(process.env).filter(
    ([name]) => !/^(OUTDIAL_|XDG_|DBUS_|VITEST|NODE_OPTIONS$|FORCE_COLOR$|DISPLAY$)/.test(name),
  );
  return { ...Object.fromEntries(own), NO_COLOR: "1", ...more };
}
