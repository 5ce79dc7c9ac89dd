import type { PlaybookSettings } from "./playbook.ts";

const placeholder = /\{\{([^{}\n]*)\}\}/g;

/** Puts values in the place of `{{name}}`; a name without a value becomes nothing. Values are not read again. */
export function substitute(text: string, params: Readonly<Record<string, string>>): string {
  return text.replace(placeholder, (_whole, name: string) => {
    const key = name.trim();
    return Object.hasOwn(params, key) ? (params[key] ?? "") : "";
  });
}

/** Names used in the playbook's texts for which there is no value, in order of first use. */
export function missingParams(
  settings: PlaybookSettings,
  params: Readonly<Record<string, string>>,
): readonly string[] {
  const names = new Set(textsOf(settings).flatMap((text) => [...namesIn(text)]));
  return [...names].filter((name) => !isAnswer(name) && !Object.hasOwn(params, name));
}

/** What is wrong with the placeholders of a text, in one sentence, and where (offset); undefined when nothing is. */
export function malformedPlaceholder(text: string): { message: string; offset: number } | undefined {
  const stray = text.replace(placeholder, (whole, name: string) =>
    name.trim() === "" ? whole : " ".repeat(whole.length),
  );
  const offset = stray.search(/\{\{|\}\}/);
  if (offset === -1) return undefined;
  const found = text.slice(offset, offset + 24).split("\n")[0] ?? "";
  const wrong = stray.startsWith("}}", offset) ? "closes no placeholder" : "is no whole placeholder";
  return { message: `"${found}" ${wrong}; write {{name}} on one line`, offset };
}

/** `{{answer}}` and `{{answer.<state>}}` are filled by the dialog itself. */
function isAnswer(name: string): boolean {
  return name === "answer" || name.startsWith("answer.");
}

function* namesIn(text: string): Iterable<string> {
  for (const match of text.matchAll(placeholder)) {
    const name = match[1]?.trim();
    if (name !== undefined && name !== "") yield name;
  }
}

function textsOf(settings: PlaybookSettings): readonly string[] {
  const states = Object.values(settings.script?.states ?? {});
  return [
    settings.opening,
    ...states.flatMap((state) => [state.say, state.ask, ...stringsIn(state.end?.output), state.end?.summary]),
    settings.voicemail.message,
    settings.silence.prompt,
    settings.goodbye,
    settings.success,
    settings.prompt,
  ].filter((text) => text !== undefined);
}

function stringsIn(value: unknown): readonly string[] {
  if (typeof value === "string") return [value];
  if (typeof value === "object" && value !== null) return Object.values(value).flatMap(stringsIn);
  return [];
}
