import type { CommandSpec } from "./command-spec.ts";
import { argLabel } from "./option-spec.ts";
import { commands, nouns } from "./commands.ts";
import { exitCodes } from "./exit-codes.ts";
import { globalOptions } from "./global-options.ts";
import { verbsOf } from "./find-command.ts";
import { helpTopics, type HelpTopic } from "./help-topics.ts";
import { usageOf } from "./help-text.ts";
import type { TopicText } from "./topic-text.ts";

/** What goes into the heading of every page. */
export interface Edition {
  readonly version: string;
  /** `2026-11-21`. */
  readonly date: string;
}

/** File names and contents of all pages: section 1 for commands and nouns, section 7 for topics. */
export async function manPages(edition: Edition): Promise<ReadonlyMap<string, string>> {
  const pages = new Map<string, string>([["outdial.1", rootPage(edition)]]);
  const prefixes = new Set(
    commands
      .filter((spec) => spec.hidden !== true)
      .flatMap((spec) => {
        const words = spec.name.split(" ");
        return words.slice(1).map((_, at) => words.slice(0, at + 1).join(" "));
      }),
  );
  for (const prefix of prefixes) pages.set(`${pageName(prefix)}.1`, nounPage(prefix, edition));
  for (const spec of commands) {
    if (spec.hidden !== true) pages.set(`${pageName(spec.name)}.1`, commandPage(spec, edition));
  }
  for (const topic of helpTopics)
    pages.set(`outdial-${topic.name}.7`, topicPage(topic, await topic.load(), edition));
  return pages;
}

function pageName(command: string): string {
  return `outdial-${command.replaceAll(" ", "-")}`;
}

function rootPage(edition: Edition): string {
  const visible = commands.filter((spec) => spec.hidden !== true);
  return page([
    heading("outdial", 1, edition),
    section("NAME", `outdial \\- ${escape("outbound AI phone calls from the terminal")}`),
    section("SYNOPSIS", ".B outdial\n.I noun verb\n[arguments] [options]"),
    section(
      "DESCRIPTION",
      escape(
        "Places calls with a playbook, one by one or from a list of contacts, through a daemon on this machine, and reads back what became of them. Alone it prints a short status.",
      ),
    ),
    section(
      "COMMANDS",
      visible
        .map((spec) => `.TP\n.BR ${escape(pageName(spec.name))} (1)\n${escape(spec.summary)}`)
        .join("\n"),
    ),
    section("OPTIONS", optionList(globalOptions)),
    section(
      "TOPICS",
      helpTopics
        .map(({ name, summary }) => `.TP\n.BR ${escape(`outdial-${name}`)} (7)\n${escape(summary)}`)
        .join("\n"),
    ),
    exitSection(),
  ]);
}

function nounPage(prefix: string, edition: Edition): string {
  const noun = prefix.split(" ").at(-1) ?? prefix;
  const summary = nouns.find((one) => one.name === noun)?.summary ?? noun;
  const verbs = verbsOf(prefix).map((verb) => {
    const name = `${prefix} ${verb}`;
    const about =
      commands.find((spec) => spec.name === name)?.summary ?? nouns.find((one) => one.name === verb)?.summary;
    return `.TP\n.BR ${escape(pageName(name))} (1)\n${escape(about ?? verb)}`;
  });
  return page([
    heading(pageName(prefix), 1, edition),
    section("NAME", `${escape(pageName(prefix))} \\- ${escape(lowerFirst(summary))}`),
    section("SYNOPSIS", `.B outdial ${escape(prefix)}\n.I verb\n[arguments] [options]`),
    section("COMMANDS", verbs.join("\n")),
    section("SEE ALSO", ".BR outdial (1)"),
  ]);
}

function commandPage(spec: CommandSpec, edition: Edition): string {
  const args = spec.args ?? [];
  const examples = spec.examples.map(({ run, note }) => `.TP\n${escape(note)}\n.B ${escape(run)}`);
  const codes = exitCodes.filter(({ code }) => [0, 1, 2, ...(spec.exits ?? [])].includes(code));
  const parent = spec.name.includes(" ") ? pageName(spec.name.split(" ").slice(0, -1).join(" ")) : undefined;
  return page([
    heading(pageName(spec.name), 1, edition),
    section("NAME", `${escape(pageName(spec.name))} \\- ${escape(lowerFirst(spec.summary))}`),
    section("SYNOPSIS", `.B outdial ${escape(usageOf(spec))}\n[options]`),
    section(
      "DESCRIPTION",
      escape(
        `${spec.description ?? `${spec.summary}.`}${spec.remote === true ? " Works on a remote profile too." : ""}`,
      ),
    ),
    ...(args.length === 0
      ? []
      : [
          section(
            "ARGUMENTS",
            args.map((arg) => `.TP\n.B ${escape(argLabel(arg))}\n${escape(arg.summary)}`).join("\n"),
          ),
        ]),
    ...(spec.options === undefined ? [] : [section("OPTIONS", optionList(spec.options))]),
    section("EXAMPLES", examples.join("\n")),
    section(
      "EXIT STATUS",
      codes.map(({ code, meaning }) => `.TP\n.B ${code}\n${escape(meaning)}`).join("\n"),
    ),
    section(
      "SEE ALSO",
      [".BR outdial (1)", ...(parent === undefined ? [] : [`.BR ${escape(parent)} (1)`])]
        .join(" ,\n")
        .replaceAll(") ,", "),"),
    ),
  ]);
}

function topicPage(topic: HelpTopic, parts: TopicText, edition: Edition): string {
  const body = parts.map((part) => {
    if (part.type === "text") return `.PP\n${escape(part.text)}`;
    if (part.type === "code") return `.PP\n.RS 4\n.nf\n${part.lines.map(escape).join("\n")}\n.fi\n.RE`;
    return part.terms.map(([term, meaning]) => `.TP\n.B ${escape(term)}\n${escape(meaning)}`).join("\n");
  });
  return page([
    heading(`outdial-${topic.name}`, 7, edition),
    section("NAME", `${escape(`outdial-${topic.name}`)} \\- ${escape(lowerFirst(topic.summary))}`),
    section("DESCRIPTION", body.join("\n").replace(/^\.PP\n/, "")),
    section("SEE ALSO", ".BR outdial (1)"),
  ]);
}

function exitSection(): string {
  return section(
    "EXIT STATUS",
    exitCodes.map(({ code, meaning }) => `.TP\n.B ${code}\n${escape(meaning)}`).join("\n"),
  );
}

function optionList(options: CommandSpec["options"] = []): string {
  return options.map((option) => `.TP\n.B ${escape(option.flags)}\n${escape(option.summary)}`).join("\n");
}

function page(parts: readonly string[]): string {
  return `.\\" Generated from the table of commands; do not edit.\n${parts.join("\n")}\n`;
}

function heading(name: string, number: number, { version, date }: Edition): string {
  return `.TH ${escape(name.toUpperCase())} ${number} ${date} "outdial ${version}" "Outdial Manual"`;
}

function section(title: string, body: string): string {
  return `.SH ${title}\n${body}`;
}

/** Text that roff prints as it is: no escapes, hyphens that can be copied, no line taken for a request. */
function escape(text: string): string {
  return text
    .replaceAll("\\", "\\e")
    .replaceAll("-", "\\-")
    .replaceAll('"', "\\(dq")
    .replace(/^([.'])/gm, "\\&$1")
    .replace(
      /[\u0080-\uffff]/g,
      (char) => `\\[u${char.charCodeAt(0).toString(16).toUpperCase().padStart(4, "0")}]`,
    );
}

function lowerFirst(text: string): string {
  return /^[A-Z][a-z]/.test(text) ? text.charAt(0).toLowerCase() + text.slice(1) : text;
}
