import { usageError } from "./command-error.ts";
import type { CommandSpec } from "./command-spec.ts";
import { commands, nouns } from "./commands.ts";
import { globalOptions } from "./global-options.ts";
import { takesNextWord } from "./parse.ts";

/** What a command line asks for. */
export type Request =
  | { readonly type: "command"; readonly spec: CommandSpec; readonly words: readonly string[] }
  | { readonly type: "help"; readonly topic: readonly string[] }
  | { readonly type: "version" }
  /** A noun without its verb. */
  | { readonly type: "incomplete"; readonly noun: string }
  | { readonly type: "overview"; readonly words: readonly string[] };

/** Finds the command of a line; global options may stand anywhere in it. */
export function findRequest(argv: readonly string[]): Request {
  const end = argv.indexOf("--");
  const before = end < 0 ? argv : argv.slice(0, end);
  const operands = operandsOf(before);
  const names = operands.map((at) => canonical(argv[at] ?? ""));
  const spec = commandAt(names);
  if (before.includes("-h") || before.includes("--help")) {
    return { type: "help", topic: spec === undefined ? nounOf(names).split(" ") : spec.name.split(" ") };
  }
  if (spec === undefined && before.includes("--version")) return { type: "version" };
  if (spec !== undefined) {
    const taken = new Set(operands.slice(0, spec.name.split(" ").length));
    return { type: "command", spec, words: argv.filter((_, at) => !taken.has(at)) };
  }
  const [first] = names;
  if (first === undefined) return { type: "overview", words: argv };
  const noun = nounOf(names) || first;
  if (!commands.some((one) => one.name.startsWith(`${noun} `)))
    throw unknownWord(noun, "command", topLevel());
  const given = argv[operands[noun.split(" ").length] ?? -1];
  if (given === undefined) return { type: "incomplete", noun };
  throw unknownWord(given, `${noun} command`, verbsOf(noun), noun);
}

/** The command of these words: the longest name that they begin with. */
export function commandAt(names: readonly string[]): CommandSpec | undefined {
  for (const length of [3, 2, 1]) {
    if (names.length < length) continue;
    const name = names.slice(0, length).join(" ");
    const spec = commands.find((one) => one.name === name);
    if (spec !== undefined) return spec;
  }
  return undefined;
}

/** The longest beginning of the words that has verbs under it: `playbook version`. */
function nounOf(names: readonly string[]): string {
  const prefixes = names.map((_, at) => names.slice(0, at + 1).join(" "));
  return prefixes.findLast((prefix) => verbsOf(prefix).length > 0) ?? names[0] ?? "";
}

/** `calls` → `call`. */
export function canonical(word: string): string {
  return nouns.find((noun) => noun.plural === word)?.name ?? word;
}

/** The next words after a noun: `playbook` → `apply`, `list`, `version`, ... */
export function verbsOf(prefix: string): readonly string[] {
  const length = prefix.split(" ").length;
  const verbs = commands
    .filter((one) => one.hidden !== true && one.name.startsWith(`${prefix} `))
    .map((one) => one.name.split(" ")[length] ?? "");
  return [...new Set(verbs)];
}

/** The first words of all commands. */
function topLevel(): readonly string[] {
  const words = commands.filter((one) => one.hidden !== true).map((one) => one.name.split(" ")[0] ?? "");
  return [...new Set(words)];
}

/** Positions of words that are neither options nor values of global options. */
function operandsOf(argv: readonly string[]): readonly number[] {
  const positions: number[] = [];
  for (let at = 0; at < argv.length; at++) {
    const word = argv[at] ?? "";
    if (word.startsWith("-") && word !== "-") {
      if (takesNextWord(globalOptions, word)) at++;
    } else positions.push(at);
  }
  return positions;
}

function unknownWord(word: string, what: string, known: readonly string[], noun?: string): Error {
  const near = known.toSorted((a, b) => distance(word, a) - distance(word, b))[0];
  const guess = near !== undefined && distance(word, near) <= 2 ? `did you mean ${near}?` : undefined;
  return usageError(
    `there is no ${what} "${word}"`,
    `${guess ?? known.join(", ")}      (outdial ${noun ?? ""}${noun === undefined ? "" : " "}--help)`,
  );
}

/** Edit distance with transpositions (optimal string alignment). */
function distance(a: string, b: string): number {
  const width = b.length + 1;
  const table = new Uint8Array((a.length + 1) * width);
  const cell = (i: number, j: number): number => table[i * width + j] ?? 0;
  for (let i = 0; i <= a.length; i++) {
    for (let j = 0; j <= b.length; j++) {
      const cost = a[i - 1] === b[j - 1] ? 0 : 1;
      const best = Math.min(cell(i - 1, j) + 1, cell(i, j - 1) + 1, cell(i - 1, j - 1) + cost);
      const swapped = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
      table[i * width + j] =
        i === 0 || j === 0 ? i + j : swapped ? Math.min(best, cell(i - 2, j - 2) + 1) : best;
    }
  }
  return cell(a.length, b.length);
}
