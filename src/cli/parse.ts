import { Command, CommanderError, Option } from "commander";
import { usageError, type CommandError } from "./command-error.ts";
import type { CommandSpec } from "./command-spec.ts";
import { argLabel, optionName, optionShort, optionValue, type OptionSpec } from "./option-spec.ts";
import { globalOptions } from "./global-options.ts";
import type { Input } from "./handler.ts";
import { createInput } from "./input.ts";
import { fieldNames } from "./printer.ts";
import { views } from "./views.ts";

/** Reads the words after the command's own into its arguments and options. Wrong ones are usage errors. */
export function parseCommand(spec: CommandSpec, words: readonly string[]): Input {
  const command = new Command(spec.name)
    .exitOverride()
    .configureOutput({ writeErr: () => undefined, writeOut: () => undefined })
    .helpOption(false)
    .allowExcessArguments(false);
  for (const arg of spec.args ?? []) command.argument(argLabel(arg), arg.summary);
  const options = [...(spec.options ?? []), ...globalOptions];
  for (const option of options) command.addOption(commanderOption(option));
  try {
    command.parse(rewriteArgv(spec, words), { from: "user" });
  } catch (error) {
    if (error instanceof CommanderError) throw translated(spec, error);
    throw error;
  }
  const parsed = command.opts<Record<string, unknown>>();
  const values = Object.fromEntries(options.map((option) => [optionName(option), valueOf(option, parsed)]));
  checkChoices(spec, command.args);
  return createInput(spec, values, command.args);
}

/**
 * Takes out two traps of the parser: `--json +34600…` would swallow the phone as a list of fields, so a bare
 * `--json` becomes `--json=`, unless the next word is made of known field names only.
 */
function rewriteArgv(spec: CommandSpec, words: readonly string[]): string[] {
  const known = spec.view === undefined ? [] : fieldNames(views[spec.view]);
  const isField = (name: string): boolean =>
    known.includes(name) ||
    known.some((field) => field.endsWith(".*") && name.startsWith(field.slice(0, -1)));
  const result: string[] = [];
  for (let at = 0; at < words.length; at++) {
    const word = words[at] ?? "";
    if (word === "--") return [...result, ...words.slice(at)];
    if (word !== "--json") {
      result.push(word);
      continue;
    }
    const next = words[at + 1];
    const takesNext = next !== undefined && next.split(",").every(isField);
    result.push(takesNext ? `--json=${next}` : "--json=");
    if (takesNext) at++;
  }
  return result;
}

function commanderOption(spec: OptionSpec): Option {
  const option = new Option(spec.flags, spec.summary);
  if (spec.choices !== undefined) option.choices([...spec.choices]); // Not together with `many`: one parser only.
  if (spec.many === true) {
    // Collected one by one: a variadic option would take the arguments that follow it.
    option.argParser((value: string, earlier: readonly string[] | undefined) => {
      return [...(earlier ?? []), value];
    });
  }
  return option;
}

function valueOf(option: OptionSpec, parsed: Readonly<Record<string, unknown>>): unknown {
  const name = optionName(option);
  if (name.startsWith("no-") && optionValue(option) === "none") {
    return parsed[camel(name.slice(3))] === false ? true : undefined;
  }
  return parsed[camel(name)];
}

function camel(name: string): string {
  return name.replace(/-([a-z])/g, (_, letter: string) => letter.toUpperCase());
}

function checkChoices(spec: CommandSpec, operands: readonly string[]): void {
  for (const [at, arg] of (spec.args ?? []).entries()) {
    const value = operands[at];
    if (arg.choices !== undefined && value !== undefined && !arg.choices.includes(value)) {
      throw usageError(`"${value}" is no ${arg.name}`, `use one of ${arg.choices.join(", ")}`);
    }
  }
}

function translated(spec: CommandSpec, error: CommanderError): CommandError {
  const text = error.message.replace(/^error: /, "");
  const [message = text, ...more] = text.split("\n");
  const guess = more.join(" ").replace(/^\(|\)$/g, "");
  const fix =
    guess === "" ? `outdial ${spec.name} --help` : `${guess}      (outdial ${spec.name} --help lists all)`;
  return usageError(message, fix);
}

/** Whether a word is an option that takes the next word as its value. */
export function takesNextWord(options: readonly OptionSpec[], word: string): boolean {
  if (!word.startsWith("-") || word.includes("=")) return false;
  const option = options.find((one) => `--${optionName(one)}` === word || optionShort(one) === word);
  return option !== undefined && optionValue(option) === "required";
}
