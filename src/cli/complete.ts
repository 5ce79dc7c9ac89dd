import { createClient, type Client } from "./client.ts";
import type { CommandSpec } from "./command-spec.ts";
import {
  optionName,
  optionShort,
  optionValue,
  type ArgSpec,
  type Completion,
  type OptionSpec,
} from "./option-spec.ts";
import { commands, nouns } from "./commands.ts";
import type { Context, Input } from "./handler.ts";
import { plainValue, type Row } from "./fields.ts";
import { canonical, commandAt } from "./find-command.ts";
import { commonFormats, globalOptions } from "./global-options.ts";
import { helpTopics } from "./help-topics.ts";
import { fieldNames } from "./printer.ts";
import { sandboxNumbers } from "./sandbox.ts";
import { views } from "./views.ts";

/** A value and what it is. */
type Candidate = readonly [value: string, description: string];

/** The daemon gets so long to answer; who presses Tab does not wait. */
const budgetMs = 250;

/** `outdial __complete -- <shell> <words...>`: the last word is the one under the cursor. Never fails. */
export async function complete(context: Context, input: Input): Promise<void> {
  const [, ...words] = input.args("words");
  const place = placeOf(words);
  const found = await candidatesAt(context, place).catch(() => []);
  const shown = found
    .filter(([value]) => value.startsWith(place.current))
    .map(([value, description]) => {
      const line = place.prefix + value;
      return description === "" ? line : `${line}\t${description.replace(/\s+/g, " ")}`;
    });
  const files = place.type === "value" && place.complete === "file";
  await context.print.text([files ? ":file" : ":nofile", ...shown].join("\n"));
}

type Place = {
  /** The part of the word that candidates are compared with. */
  readonly current: string;
  /** What stands before it in the same word: `--json=a,`. */
  readonly prefix: string;
} & (
  | { readonly type: "words"; readonly names: readonly string[] }
  | { readonly type: "option"; readonly spec: CommandSpec | undefined; readonly used: ReadonlySet<string> }
  | {
      readonly type: "value";
      readonly spec: CommandSpec | undefined;
      readonly choices: readonly string[] | undefined;
      readonly complete: Completion;
      /** Arguments before this one, for values that depend on them. */
      readonly before: readonly string[];
      readonly options: ReadonlyMap<string, string>;
    }
);

function placeOf(words: readonly string[]): Place {
  const current = words.at(-1) ?? "";
  const before = words.slice(0, -1);
  const named = operandsOf(before, globalOptions);
  const spec = commandAt(named.operands.map(canonical));
  const options = [...(spec?.options ?? []), ...globalOptions];
  const read = operandsOf(before, options);
  const operands = spec === undefined ? [] : read.operands.slice(spec.name.split(" ").length);
  const shared = { spec, before: operands, options: read.values };
  const equals = /^(--[a-z-]+)=(.*)$/.exec(current);
  const attached = equals === null ? undefined : optionOf(options, equals[1] ?? "");
  if (read.open !== undefined) return valuePlace(read.open, { current, prefix: "" }, shared);
  if (attached !== undefined && equals !== null) {
    return valuePlace(attached, { current: equals[2] ?? "", prefix: `${equals[1] ?? ""}=` }, shared);
  }
  if (current.startsWith("-") && !before.includes("--")) {
    return { type: "option", current, prefix: "", spec, used: read.used };
  }
  if (spec === undefined) return { type: "words", current, prefix: "", names: read.operands.map(canonical) };
  const arg = argAt(spec, operands.length);
  return {
    type: "value",
    current,
    prefix: "",
    choices: arg?.choices,
    complete: arg?.complete ?? "nothing",
    ...shared,
  };
}

interface Word {
  readonly current: string;
  readonly prefix: string;
}

interface Shared {
  readonly spec: CommandSpec | undefined;
  readonly before: readonly string[];
  readonly options: ReadonlyMap<string, string>;
}

function valuePlace(option: OptionSpec, word: Word, shared: Shared): Place {
  const name = optionName(option);
  const own = shared.spec?.formats ?? [];
  const choices = name === "output" ? [...new Set([...own, ...commonFormats])] : option.choices;
  // Lists: what is before the last comma is done.
  const comma = option.complete === "field" ? word.current.lastIndexOf(",") + 1 : 0;
  return {
    type: "value",
    current: word.current.slice(comma),
    prefix: word.prefix + word.current.slice(0, comma),
    choices,
    complete: option.complete ?? "nothing",
    ...shared,
  };
}

function argAt(spec: CommandSpec, position: number): ArgSpec | undefined {
  const args = spec.args ?? [];
  const last = args.at(-1);
  return args[position] ?? (last?.many === true ? last : undefined);
}

function optionOf(options: readonly OptionSpec[], word: string): OptionSpec | undefined {
  return options.find((option) => `--${optionName(option)}` === word || optionShort(option) === word);
}

/** Splits the words before the cursor; `open` is an option still waiting for its value. */
function operandsOf(
  words: readonly string[],
  options: readonly OptionSpec[],
): {
  readonly operands: readonly string[];
  readonly used: ReadonlySet<string>;
  readonly values: ReadonlyMap<string, string>;
  readonly open: OptionSpec | undefined;
} {
  const operands: string[] = [];
  const used = new Set<string>();
  const values = new Map<string, string>();
  let open: OptionSpec | undefined;
  for (const word of words) {
    if (open !== undefined) {
      values.set(optionName(open), word);
      open = undefined;
    } else if (word.startsWith("-") && word !== "-") {
      const [flag = "", value] = word.split("=", 2);
      const option = optionOf(options, flag);
      if (option === undefined) continue;
      used.add(optionName(option));
      if (value !== undefined) values.set(optionName(option), value);
      else if (optionValue(option) === "required") open = option;
    } else operands.push(word);
  }
  return { operands, used, values, open };
}

async function candidatesAt(context: Context, place: Place): Promise<readonly Candidate[]> {
  switch (place.type) {
    case "words":
      return wordCandidates(place.names);
    case "option":
      return [...(place.spec?.options ?? []), ...globalOptions]
        .filter((option) => option.many === true || !place.used.has(optionName(option)))
        .map((option) => [`--${optionName(option)}`, option.summary] as const);
    case "value":
      return place.choices?.map((choice) => [choice, ""] as const) ?? valueCandidates(context, place);
  }
}

function wordCandidates(names: readonly string[]): readonly Candidate[] {
  const visible = commands.filter((spec) => spec.hidden !== true);
  const prefix = names.map((name) => `${name} `).join("");
  const under = visible.filter((spec) => spec.name.startsWith(prefix));
  const words = new Map<string, string>();
  for (const spec of under) {
    const word = spec.name.slice(prefix.length).split(" ")[0] ?? "";
    const whole = `${prefix}${word}` === spec.name;
    const noun = names.length === 0 ? nouns.find((one) => one.name === word)?.summary : undefined;
    if (!words.has(word)) words.set(word, whole ? spec.summary : (noun ?? ""));
  }
  return [...words];
}

type ValuePlace = Extract<Place, { type: "value" }>;

async function valueCandidates(context: Context, place: ValuePlace): Promise<readonly Candidate[]> {
  switch (place.complete) {
    case "file":
    case "nothing":
      return [];
    case "field":
      return place.spec?.view === undefined
        ? []
        : fieldNames(views[place.spec.view]).map((name) => [name, ""]);
    case "number":
      return sandboxNumbers.map(({ number, behaviour }) => [number, behaviour]);
    case "topic":
      return [
        ...helpTopics.map(({ name, summary }) => [name, summary] as const),
        ...wordCandidates(place.before),
      ];
    case "profile":
      return Object.entries(context.config.profiles).map(([name, { host }]) => [name, host]);
    case "call":
    case "campaign":
    case "playbook":
    case "version":
    case "trunk":
    case "account":
    case "token":
      return daemonCandidates(context, place);
  }
}

/** Asks a running daemon; one that is down is not started for a Tab. */
async function daemonCandidates(context: Context, place: ValuePlace): Promise<readonly Candidate[]> {
  const signal = AbortSignal.any([context.signal, AbortSignal.timeout(budgetMs)]);
  const account = place.options.get("account") ?? context.settings.account;
  const client = createClient(context.socket, {
    clock: context.io.steady,
    entropy: context.io.entropy,
    retryForMs: 0,
    signal,
    headers: account === undefined ? {} : { "outdial-account": account },
    onWait: () => undefined,
  });
  const rows = await rowsFor(client, place);
  return rows.map(([value, ...description]) => [plainValue(value), description.map(plainValue).join(" ")]);
}

async function rowsFor(client: Client, place: ValuePlace): Promise<readonly (readonly unknown[])[]> {
  const list = async (path: string): Promise<readonly Row[]> => client.get<readonly Row[]>(path);
  switch (place.complete) {
    case "call":
      return (await list("/admin/calls?limit=50")).map((row) => [row["id"], row["to"], row["status"]]);
    case "campaign":
      return (await list("/admin/campaigns")).map((row) => [row["id"], row["name"], row["status"]]);
    case "playbook":
      return (await list("/admin/playbooks")).map((row) => [row["name"], row["language"]]);
    case "version": {
      const playbook = place.options.get("playbook") ?? place.before[0];
      if (playbook === undefined) return [];
      const path = `/admin/playbooks/${encodeURIComponent(playbook)}/versions`;
      return (await list(path)).map((row) => [row["id"], row["message"]]);
    }
    case "trunk":
      return (await list("/admin/trunks")).map((row) => [row["name"], row["kind"], row["host"]]);
    case "account":
      return (await list("/admin/accounts")).map((row) => [row["name"], row["timezone"]]);
    case "token":
      return (await list("/admin/tokens")).map((row) => [row["name"], row["status"]]);
    case "file":
    case "nothing":
    case "field":
    case "number":
    case "topic":
    case "profile":
      return [];
  }
}
