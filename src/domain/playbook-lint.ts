import type { Problem } from "#base";
import { contactFieldNames } from "./contact.ts";
import { didYouMean } from "./did-you-mean.ts";
import type { PlaybookSettings } from "./playbook.ts";
import { readPlaybookFile } from "./playbook-file.ts";

/** Something that is wrong with a playbook, or may not be what was meant. */
export interface Finding extends Problem {
  /** An error keeps the playbook from being applied, or from doing what it says. */
  readonly severity: "error" | "warning";
}

export interface LintedPlaybook {
  /** In the order of the file. */
  readonly findings: readonly Finding[];
  /** Undefined: the file cannot be applied. */
  readonly settings: PlaybookSettings | undefined;
  readonly placeOf: (path: readonly string[]) => { readonly line: number; readonly column: number };
}

/** About so many characters are said in half a minute; nobody listens longer to a machine. */
const longestOpening = 450;
const longestPrompt = 20_000;

/** Everything that can be said about a playbook's file without a call. `given` names values that calls will bring. */
export function lintPlaybook(source: string, given: readonly string[] = []): LintedPlaybook {
  const { settings, problems, placeOf } = readPlaybookFile(source);
  const errors = problems.map((problem) => ({ severity: "error" as const, ...problem }));
  if (settings === undefined || errors.length > 0) return { findings: errors, settings: undefined, placeOf };
  const warn = (path: readonly string[], message: string): Finding => ({
    severity: "warning",
    where: path.join("."),
    message,
    ...placeOf(path),
  });
  const findings = [
    ...placeholderFindings(source, settings, new Set([...contactFieldNames, "phone", ...given])),
    ...settingFindings(settings, saysVoicemail(source), warn),
    ...outputFindings(settings, warn),
  ];
  return { findings: inOrder(findings), settings, placeOf };
}

function inOrder(findings: readonly Finding[]): readonly Finding[] {
  return findings.toSorted((a, b) => (a.line ?? 0) - (b.line ?? 0) || (a.column ?? 0) - (b.column ?? 0));
}

function* placeholderFindings(
  source: string,
  settings: PlaybookSettings,
  known: ReadonlySet<string>,
): Iterable<Finding> {
  const states = Object.keys(settings.script?.states ?? {});
  const seen = new Set<string>();
  for (const match of source.matchAll(/\{\{([^{}\n]*)\}\}/g)) {
    const name = match[1]?.trim() ?? "";
    if (name === "" || known.has(name) || seen.has(name)) continue;
    seen.add(name);
    const message = isAnswer(name)
      ? answerProblem(name, states)
      : `{{${name}}} is left empty unless the call brings it: --param ${name}=..., or a column or field of that name`;
    if (message === undefined) continue;
    yield { severity: "warning", where: `{{${name}}}`, message, ...positionIn(source, match.index) };
  }
}

function isAnswer(name: string): boolean {
  return name === "answer" || name.startsWith("answer.");
}

function answerProblem(name: string, states: readonly string[]): string | undefined {
  if (states.length === 0) return `{{${name}}} is always empty: only a script has answers`;
  const state = name.slice("answer.".length);
  if (name === "answer" || states.includes(state)) return undefined;
  const meant = didYouMean(state, states);
  return `{{${name}}} is always empty: the script has no state ${state}${meant === undefined ? "" : `; did you mean answer.${meant}?`}`;
}

function positionIn(source: string, offset: number): { line: number; column: number } {
  const before = source.slice(0, offset);
  return { line: before.split("\n").length, column: offset - before.lastIndexOf("\n") };
}

type Warn = (path: readonly string[], message: string) => Finding;

function* settingFindings(
  { language, opening, prompt, voicemail }: PlaybookSettings,
  speaksOfMailboxes: boolean,
  warn: Warn,
): Iterable<Finding> {
  if (!isLanguage(language))
    yield warn(["language"], `"${language}" is the code of no language; e.g. es, en, pt-br`);
  if (voicemail.action === "hang-up" && !speaksOfMailboxes)
    yield warn(
      [],
      "says nothing about mailboxes, so it hangs up on them; add voicemail with a message, or action: hang-up",
    );
  if (opening !== undefined && opening.length > longestOpening)
    yield warn(
      ["opening"],
      `is ${opening.length} characters long: more than half a minute before anybody else speaks`,
    );
  if (prompt !== undefined && prompt.length > longestPrompt)
    yield warn(
      ["prompt"],
      `is ${prompt.length} characters long; a model answers later and forgets more from ${longestPrompt}`,
    );
}

function saysVoicemail(source: string): boolean {
  return /^voicemail[ \t]*:/m.test(source);
}

/** By the names that the runtime's language data has for codes (CLDR). */
function isLanguage(code: string): boolean {
  try {
    return new Intl.DisplayNames("en", { type: "language", fallback: "none" }).of(code) !== undefined;
  } catch {
    return false;
  }
}

/** What a script ends with must be what the output's description promises. */
function* outputFindings({ script, output }: PlaybookSettings, warn: Warn): Iterable<Finding> {
  const properties = output?.["properties"];
  if (typeof properties !== "object" || properties === null) return;
  const names = Object.keys(properties);
  for (const [state, { end }] of Object.entries(script?.states ?? {})) {
    for (const name of Object.keys(end?.output ?? {})) {
      if (names.includes(name)) continue;
      const meant = didYouMean(name, names);
      const hint = meant === undefined ? "" : `; did you mean ${meant}?`;
      yield warn(["script", state, "end", "output", name], `"${name}" is no field of output${hint}`);
    }
  }
}
