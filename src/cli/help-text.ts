import type { CommandSpec } from "./command-spec.ts";
import { argLabel, type OptionSpec } from "./option-spec.ts";
import { commands, nouns } from "./commands.ts";
import { exitCodes } from "./exit-codes.ts";
import { globalOptions } from "./global-options.ts";
import { helpTopics } from "./help-topics.ts";
import type { TopicText } from "./topic-text.ts";

const width = 90;
const groups = ["Calling", "Agents", "Telephony", "Operating", "Scripting"] as const;

/** `outdial --help`: every command in its group, and the topics. */
export function generalHelp(): string {
  const sections = groups.map((group) => {
    const rows = commands
      .filter((spec) => spec.group === group && spec.hidden !== true)
      .map((spec) => [spec.name, spec.summary] as const);
    return `${group}\n${columns(rows)}`;
  });
  const topics = helpTopics.map(({ name, summary }) => [`help ${name}`, summary] as const);
  return (
    [
      "outdial: outbound AI phone calls from the terminal",
      "usage: outdial <noun> <verb> [arguments] [options]      (outdial <noun> <verb> --help)",
      ...sections,
      `Topics\n${columns(topics)}`,
      `Options of every command\n${columns(globalOptions.map(optionRow))}`,
      "",
    ]
      .join("\n\n")
      .trimEnd() + "\n"
  );
}

/** `outdial call --help`; undefined when there is no such noun. */
export function nounHelp(noun: string): string | undefined {
  const rows = commands
    .filter((spec) => spec.hidden !== true && spec.name.startsWith(`${noun} `))
    .map((spec) => [usageOf(spec), spec.summary] as const);
  if (rows.length === 0) return undefined;
  const summary = nouns.find((one) => one.name === noun)?.summary ?? noun;
  return `outdial ${noun}: ${summary}\n\n${columns(rows)}\n\noutdial ${noun} <verb> --help explains one.\n`;
}

/** `outdial call start --help`: examples first. */
export function commandHelp(spec: CommandSpec): string {
  const examples = spec.examples.map(({ run, note }) => `  ${run}\n      ${note}`).join("\n");
  const args = (spec.args ?? []).map((arg) => [argLabel(arg), arg.summary] as const);
  const options = (spec.options ?? []).map(optionRow);
  const exits = exitCodes
    .filter(({ code }) => [0, 1, 2, ...(spec.exits ?? [])].includes(code))
    .map(({ code, meaning }) => [String(code), meaning] as const);
  const remote = spec.remote === true ? "Works on a remote profile too." : "";
  return (
    [
      spec.summary,
      `usage: outdial ${usageOf(spec)}${options.length > 0 ? " [options]" : ""}`,
      ...(examples === "" ? [] : [`Examples\n${examples}`]),
      ...(spec.description === undefined ? [] : [wrapped(spec.description, 0)]),
      ...(args.length === 0 ? [] : [`Arguments\n${columns(args)}`]),
      ...(options.length === 0 ? [] : [`Options\n${columns(options)}`]),
      ...(spec.formats === undefined ? [] : [`Formats of -o: ${spec.formats.join(", ")}`]),
      `Exit codes\n${columns(exits)}`,
      [remote, "Options of every command: outdial --help"].filter((line) => line !== "").join("\n"),
    ].join("\n\n") + "\n"
  );
}

/** A topic for the terminal. */
export function topicHelp(name: string, summary: string, parts: TopicText): string {
  const body = parts.map((part) => {
    if (part.type === "text") return wrapped(part.text, 0);
    return part.type === "terms" ? columns(part.terms) : part.lines.map((line) => `  ${line}`).join("\n");
  });
  return `${[`${name}: ${summary}`, ...body].join("\n\n")}\n`;
}

/** `call start <phone>`. */
export function usageOf(spec: CommandSpec): string {
  return [spec.name, ...(spec.args ?? []).map(argLabel)].join(" ");
}

function optionRow(option: OptionSpec): readonly [string, string] {
  return [option.flags.startsWith("--") ? `    ${option.flags}` : option.flags, option.summary];
}

/** Two columns; a meaning that is too long goes on under itself, a term that is too long gets a line of its own. */
function columns(rows: readonly (readonly [string, string])[]): string {
  const left = Math.min(38, Math.max(0, ...rows.map(([term]) => term.length)));
  return rows
    .map(([term, meaning]) => {
      const text = wrapped(meaning, left + 5).trimStart();
      return term.length > left
        ? `  ${term}\n${" ".repeat(left + 5)}${text}`
        : `  ${term.padEnd(left)}   ${text}`;
    })
    .join("\n");
}

function wrapped(text: string, indent: number): string {
  const lines: string[] = [];
  let line = "";
  for (const word of text.split(" ")) {
    if (line !== "" && indent + line.length + 1 + word.length > width) {
      lines.push(line);
      line = word;
    } else line = line === "" ? word : `${line} ${word}`;
  }
  return [...lines, line].map((one) => " ".repeat(indent) + one).join("\n");
}
