import { fileURLToPath } from "node:url";
import { ChildProgram, plainEnvironment, runToEnd, succeeded, type Ran } from "./child-program.ts";
import type { TempHome } from "./temp-home.ts";

/** Absolute path of a launcher in bin/. */
export function launcher(program: "outdial" | "outdiald"): string {
  return fileURLToPath(new URL(`../../bin/${program}`, import.meta.url));
}

export interface CommandOptions {
  readonly input?: string;
  readonly withinMs?: number;
  readonly env?: NodeJS.ProcessEnv;
  readonly cwd?: string;
}

/** Runs the built `outdial` in a home, without a terminal, to its end. */
export function outdial(
  home: TempHome,
  words: readonly string[],
  options: CommandOptions = {},
): Promise<Ran> {
  const { env, ...rest } = options;
  return runToEnd(process.execPath, [launcher("outdial"), ...words], {
    cwd: home.directory,
    ...rest,
    env: homeEnvironment(home, env),
  });
}

/** The same for a command that must succeed; gives its standard output. */
export async function outdialOk(
  home: TempHome,
  words: readonly string[],
  options: CommandOptions = {},
): Promise<string> {
  const ran = succeeded(await outdial(home, words, options), `outdial ${words.join(" ")}`);
  return ran.stdout;
}

/** The same, its output read as JSON. */
export async function outdialJson<T>(
  home: TempHome,
  words: readonly string[],
  options: CommandOptions = {},
): Promise<T> {
  return JSON.parse(await outdialOk(home, [...words, "--json"], options)) as T;
}

/** A built program that goes on running beside the test. */
export function startProgram(
  program: "outdial" | "outdiald",
  words: readonly string[],
  home: TempHome,
): ChildProgram {
  return new ChildProgram(process.execPath, [launcher(program), ...words], {
    cwd: home.directory,
    env: homeEnvironment(home),
  });
}

function homeEnvironment(home: TempHome, more: NodeJS.ProcessEnv = {}): NodeJS.ProcessEnv {
  return plainEnvironment({ OUTDIAL_HOME: home.directory, ...more });
}
