import type { Input } from "./handler.ts";
import type { CommandSpec } from "./command-spec.ts";
import { optionName } from "./option-spec.ts";
import { globalOptions } from "./global-options.ts";
import { usageError } from "./command-error.ts";
import { parseDuration } from "./durations.ts";

/** Reads what commander parsed, under the names of the table. */
export function createInput(
  spec: CommandSpec,
  values: Readonly<Record<string, unknown>>,
  operands: readonly string[],
): Input {
  const known = new Set([...globalOptions, ...(spec.options ?? [])].map(optionName));
  const raw = (name: string): unknown => {
    if (!known.has(name)) throw new Error(`${spec.name} has no option --${name}`);
    return values[name];
  };
  const text = (name: string): string | undefined => {
    const value = raw(name);
    return typeof value === "string" ? value : undefined;
  };
  const position = (name: string): number => {
    const at = (spec.args ?? []).findIndex((arg) => arg.name === name);
    if (at < 0) throw new Error(`${spec.name} has no argument ${name}`);
    return at;
  };
  return {
    arg: (name) => operands[position(name)] ?? "",
    optionalArg: (name) => operands[position(name)],
    args: (name) => operands.slice(position(name)),
    text,
    choice: (name, words) => {
      const value = text(name);
      const word = words.find((one) => one === value);
      if (value !== undefined && word === undefined) {
        throw usageError(`--${name} does not take "${value}"`, `use one of ${words.join(", ")}`);
      }
      return word;
    },
    flag: (name) => raw(name) === true,
    list: (name) => {
      const value = raw(name);
      return Array.isArray(value) ? value.filter((item) => typeof item === "string") : [];
    },
    whole: (name, least = 0) => {
      const value = text(name);
      if (value === undefined) return undefined;
      const number = Number(value);
      if (!/^\d+$/.test(value) || number < least || !Number.isSafeInteger(number)) {
        throw usageError(`--${name} takes a whole number of at least ${least}, not "${value}"`);
      }
      return number;
    },
    durationMs: (name) => {
      const value = text(name);
      if (value === undefined) return undefined;
      const ms = parseDuration(value);
      if (ms === undefined) throw usageError(`--${name} takes a time like 30s, 10m or 2h, not "${value}"`);
      return ms;
    },
    given: Object.keys(values).filter((name) => values[name] !== undefined && known.has(name)),
  };
}
