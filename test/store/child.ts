import { spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";

/** A program of this folder in a process of its own, to be killed. */
export interface Child {
  /** The next line that it prints; undefined when it has ended. */
  line(): Promise<string | undefined>;
  tell(line: string): void;
  /** SIGKILL, and waits until it is dead; the lines it printed and nobody has read. */
  kill(): Promise<readonly string[]>;
  readonly pid: number;
}

/** Runs `script` in Node. `limit` puts a soft limit (KiB) on the size of its files. */
export function startChild(script: URL, args: readonly string[], limit?: number): Child {
  const command = [process.execPath, fileURLToPath(script), ...args];
  const program =
    limit === undefined ? command : ["bash", "-c", `ulimit -S -f ${limit}; exec "$@"`, "child", ...command];
  const [file = "", ...rest] = program;
  const child = spawn(file, rest, { stdio: ["pipe", "pipe", "inherit"] });
  const exited = once(child, "exit");
  const lines: string[] = [];
  const waiting: ((line: string | undefined) => void)[] = [];
  let begun = "";
  let isOver = false;
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    const parts = (begun + text).split("\n");
    begun = parts.pop() ?? "";
    for (const line of parts) (waiting.shift() ?? ((read) => lines.push(read ?? "")))(line);
  });
  child.stdout.on("close", () => {
    isOver = true;
    for (const tell of waiting.splice(0)) tell(undefined);
  });
  return {
    line: () =>
      lines.length > 0 || isOver ? Promise.resolve(lines.shift()) : new Promise((read) => waiting.push(read)),
    tell: (line) => child.stdin.write(`${line}\n`),
    async kill() {
      const drained = isOver ? Promise.resolve() : once(child.stdout, "close");
      child.kill("SIGKILL");
      await Promise.all([exited, drained]);
      return lines.splice(0);
    },
    pid: child.pid ?? 0,
  };
}

/** Waits for real: a process can only be killed in real time. */
export function forAWhile(fromMs: number, toMs: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, fromMs + Math.random() * (toMs - fromMs)));
}
