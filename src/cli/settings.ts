import type { CommandSpec } from "./command-spec.ts";
import { usageError } from "./command-error.ts";
import type { Config } from "./config.ts";
import { commonFormats, type Format } from "./global-options.ts";
import type { Input, Settings } from "./handler.ts";
import type { Io, Output } from "./io.ts";
import { isZone } from "./times.ts";

/** Variables that say a program, not a person, is at the keyboard. */
const unattended = ["CI", "CLAUDECODE", "CODEX_SANDBOX", "CURSOR_AGENT", "GEMINI_CLI", "OUTDIAL_NO_INPUT"];

/** Decides the shared settings; rejects formats, fields and zones that do not exist. */
export function decideSettings(spec: CommandSpec, input: Input, config: Config, io: Io): Settings {
  const { env } = io;
  const output = outputOf(spec, input, env["OUTDIAL_OUTPUT"] ?? config.output);
  const zone = input.text("tz") ?? env["OUTDIAL_TZ"] ?? config.tz;
  if (zone !== undefined && !isZone(zone)) {
    throw usageError(`"${zone}" is no time zone`, "use an IANA name such as Europe/Madrid or UTC");
  }
  const silent = unattended.some((name) => set(env[name]));
  const profile = input.text("profile") ?? env["OUTDIAL_PROFILE"];
  return {
    ...output,
    header: !input.flag("no-header"),
    zone,
    yes: input.flag("yes"),
    mayAsk: io.stdin.isTTY === true && io.stderr.isTTY === true && !input.flag("no-input") && !silent,
    account: input.text("account") ?? env["OUTDIAL_ACCOUNT"] ?? config.account,
    mayStart: !input.flag("no-start"),
    profile: profile === "local" ? undefined : profile,
    host: input.text("host") ?? env["OUTDIAL_HOST"],
    retryForMs: input.durationMs("retry-for") ?? 30_000,
  };
}

/** Whether colours may be written to this stream (no-color.org, then FORCE_COLOR, then the terminal). */
export function mayColor(stream: Output, env: Io["env"], forbidden: boolean): boolean {
  if (forbidden || set(env["NO_COLOR"])) return false;
  if (set(env["FORCE_COLOR"]) || set(env["CLICOLOR_FORCE"])) return true;
  return stream.isTTY === true && env["TERM"] !== "dumb";
}

/** Whether a program reads the answer: then errors are JSON too. */
export function isMachineFormat(format: string | undefined): boolean {
  return ["json", "jsonl", "csv", "tsv", "ids"].includes(format ?? "");
}

function outputOf(
  spec: CommandSpec,
  input: Input,
  preset: string | undefined,
): Pick<Settings, "format" | "ownFormat" | "fields"> {
  const json = input.text("json");
  const fields = [...split(input.text("fields")), ...split(json)];
  const chosen = input.given.includes("json") ? "json" : input.flag("quiet") ? "ids" : input.text("output");
  const name = chosen ?? preset;
  const own = spec.formats ?? [];
  if (name !== undefined && own.includes(name)) return { format: common(name), ownFormat: name, fields };
  const format = common(name);
  if (name !== undefined && format === undefined && chosen !== undefined) {
    const all = spec.view === undefined && own.length > 0 ? own : [...commonFormats, ...own];
    throw usageError(`there is no output format "${name}"`, `use one of ${[...new Set(all)].join(", ")}`);
  }
  return { format, ownFormat: undefined, fields };
}

function common(name: string | undefined): Format | undefined {
  return commonFormats.find((format) => format === name);
}

function split(list: string | undefined): readonly string[] {
  return (list ?? "")
    .split(",")
    .map((field) => field.trim())
    .filter((field) => field !== "");
}

function set(value: string | undefined): boolean {
  return value !== undefined && value !== "" && value !== "0" && value !== "false";
}
