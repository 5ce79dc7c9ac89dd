import { OutdialError } from "#base";
import { version } from "#host";
import { CommandError, usageError } from "./command-error.ts";
import type { CommandSpec } from "./command-spec.ts";
import { commands, overview } from "./commands.ts";
import { createContext } from "./context.ts";
import { exitCode } from "./exit-codes.ts";
import { findRequest } from "./find-command.ts";
import { handlers } from "./handlers.ts";
import { commandHelp, generalHelp, nounHelp } from "./help-text.ts";
import { Interrupted } from "./interrupted.ts";
import { processIo, type Io } from "./io.ts";
import { createNotes } from "./notes.ts";
import { parseCommand } from "./parse.ts";
import { fieldNames, writeOut } from "./printer.ts";
import { isMachineFormat, mayColor } from "./settings.ts";
import { views } from "./views.ts";

/**
 * Runs one command line (without program name) and resolves with its exit code. Never rejects and never ends
 * the process, but for a second Ctrl-C. A reader of standard output that goes away is no error.
 */
export async function main(argv: readonly string[], io: Io = processIo()): Promise<number> {
  const stop = new AbortController();
  using _signals = io.onSignal((signal) => {
    if (stop.signal.aborted) io.exit(exitCode("interrupted"));
    stop.abort(new Interrupted(signal));
  });
  // A failed write is reported to who wrote; the event of the same name has to be taken, too.
  const ignore = (): void => undefined;
  io.stdout.on("error", ignore);
  io.stderr.on("error", ignore);
  try {
    return await run(argv, io, stop.signal);
  } catch (error) {
    return report(error, argv, io);
  } finally {
    io.stdout.off("error", ignore);
    io.stderr.off("error", ignore);
  }
}

async function run(argv: readonly string[], io: Io, signal: AbortSignal): Promise<number> {
  const request = findRequest(argv);
  switch (request.type) {
    case "version":
      await writeOut(io.stdout, `outdial ${version}\n`);
      return 0;
    case "help":
      await writeOut(io.stdout, helpFor(request.topic));
      return 0;
    case "incomplete":
      await writeOut(io.stderr, nounHelp(request.noun) ?? generalHelp());
      return exitCode("usage");
    case "overview":
      return runCommand(overview, request.words, io, signal);
    case "command":
      return runCommand(request.spec, request.words, io, signal);
  }
}

async function runCommand(
  spec: CommandSpec,
  words: readonly string[],
  io: Io,
  signal: AbortSignal,
): Promise<number> {
  const input = parseCommand(spec, words);
  if (spec.view !== undefined && input.text("fields") === "help") {
    await writeOut(io.stdout, `${fieldNames(views[spec.view]).join("\n")}\n`);
    return 0;
  }
  const context = await createContext(spec, input, io, signal);
  const handler = await handlers[spec.name]?.();
  if (handler === undefined) throw new Error(`${spec.name} does nothing`);
  return (await handler(context, input)) ?? 0;
}

function helpFor(topic: readonly string[]): string {
  const name = topic.join(" ");
  const spec = commands.find((one) => one.name === name);
  if (spec !== undefined) return commandHelp(spec);
  return name === "" ? generalHelp() : (nounHelp(name) ?? generalHelp());
}

function report(error: unknown, argv: readonly string[], io: Io): number {
  if (isBrokenPipe(error)) return 0;
  if (error instanceof Interrupted) return error.exit;
  const known = asCommandError(error);
  const debug = argv.includes("--debug") || (io.env["OUTDIAL_DEBUG"] ?? "") !== "";
  const notes = createNotes(
    io.stderr,
    wantsMachine(argv, io.env),
    mayColor(io.stderr, io.env, argv.includes("--no-color")),
  );
  notes.error(known);
  if (debug && error instanceof Error) io.stderr.write(`${error.stack ?? ""}\n`);
  return known.exit;
}

function asCommandError(error: unknown): CommandError {
  if (error instanceof CommandError) return error;
  if (error instanceof OutdialError) {
    return new CommandError("unexpected", error.message, { fix: error.hint, code: error.code, cause: error });
  }
  const system = systemError(error);
  if (system !== undefined) return system;
  return new CommandError("unexpected", error instanceof Error ? error.message : String(error), {
    fix: "run it again with --debug, and report what it prints",
    cause: error,
  });
}

/** A file that is missing, forbidden or no file: the user's business, not a bug. */
function systemError(error: unknown): CommandError | undefined {
  if (!(error instanceof Error) || !("code" in error) || !("path" in error)) return undefined;
  const words: Readonly<Record<string, string>> = {
    ENOENT: "there is no file",
    EACCES: "not allowed to open",
    EISDIR: "this is a directory:",
    ENOSPC: "no space left for",
    ENOTDIR: "not a directory:",
  };
  const found = words[String(error.code)];
  return found === undefined ? undefined : usageError(`${found} ${String(error.path)}`);
}

function isBrokenPipe(error: unknown): boolean {
  return (
    error instanceof Error &&
    "code" in error &&
    (error.code === "EPIPE" || error.code === "ERR_STREAM_DESTROYED")
  );
}

/** Whether errors should be JSON, for lines that were not even parsed. */
function wantsMachine(argv: readonly string[], env: Io["env"]): boolean {
  if (isMachineFormat(env["OUTDIAL_OUTPUT"])) return true;
  return argv.some((word, at) => {
    if (word === "--json" || word.startsWith("--json=") || word === "-q" || word === "--quiet") return true;
    const format = /^(?:--output=|-o=?)(.+)$/.exec(word)?.[1];
    const next = word === "-o" || word === "--output" ? argv[at + 1] : undefined;
    return isMachineFormat(format ?? next);
  });
}
