import { accept, reject, type Decoded, type Problem } from "#base";
import { LineCounter } from "yaml";
import type { PlaybookSettings, VoiceId } from "./playbook.ts";
import { readFrontMatter, type Field, type FieldReader } from "./playbook-front-matter.ts";
import { readScript } from "./script-file.ts";
import { malformedPlaceholder } from "./substitute.ts";

const fields = [
  "name",
  "language",
  "voice",
  "interrupt",
  "opening",
  "script",
  "voicemail",
  "output",
  "success",
  "rtt",
  "speakers",
  "silence",
  "goodbye",
  "max_minutes",
];
const voices: readonly VoiceId[] = ["1", "2", "3", "4", "5", "6", "7"];

/** A playbook file as far as it can be read. */
export interface PlaybookReading {
  /** Undefined: the file is none, or holds no readable YAML. */
  readonly settings: PlaybookSettings | undefined;
  /** All of them, in the order of the file. */
  readonly problems: readonly Problem[];
  /** Where the value at this path stands, or the nearest above it that the file names; 1-based. */
  readonly placeOf: (path: readonly string[]) => { readonly line: number; readonly column: number };
}

/**
 * Reads a playbook: Markdown (the prompt) under a YAML front matter. A problem carries its line and column and
 * says what would be accepted; of several, the first in the file is given.
 */
export function parsePlaybookFile(source: string): Decoded<PlaybookSettings> {
  const { settings, problems } = readPlaybookFile(source);
  const [problem] = problems;
  if (problem !== undefined) return { ok: false, problem };
  return settings === undefined ? reject("", "cannot be read") : accept(settings);
}

/** The same with every problem, and with the places of the values. */
export function readPlaybookFile(source: string): PlaybookReading {
  const parts = split(source);
  if (parts === undefined) {
    const message = "must begin with --- on a line of its own, the settings, and --- again";
    const start = { line: 1, column: 1 };
    return {
      settings: undefined,
      problems: [{ where: "", message, ...start }],
      placeOf: () => start,
    };
  }
  const lines = new LineCounter();
  lines.addNewLine(0);
  for (let at = source.indexOf("\n"); at !== -1; at = source.indexOf("\n", at + 1)) lines.addNewLine(at + 1);
  const reader = readFrontMatter(parts.yaml, parts.yamlOffset, lines);
  const placeOf = (path: readonly string[]): { line: number; column: number } => {
    const { line, col } = lines.linePos(nearestOffset(reader, path));
    return { line, column: col };
  };
  const broken = reader.problems();
  if (broken.length > 0) return { settings: undefined, problems: broken, placeOf }; // All else would follow from it.
  const settings = readSettings(reader, parts.body);
  const malformed = malformedPlaceholder(parts.body);
  if (malformed !== undefined)
    reader.refuseAt("prompt", malformed.message, parts.bodyOffset + malformed.offset);
  return { settings, problems: reader.problems(), placeOf };
}

function nearestOffset(reader: FieldReader, path: readonly string[]): number {
  let field = reader.root;
  for (const name of path) {
    const next = reader.entries(field).get(name);
    if (next === undefined) break;
    field = next;
  }
  return field === reader.root ? field.offset : field.keyOffset;
}

function split(
  source: string,
): { yaml: string; yamlOffset: number; body: string; bodyOffset: number } | undefined {
  const open = /^\uFEFF?---[ \t]*\r?\n/.exec(source);
  if (open === null) return undefined;
  const yamlOffset = open[0].length;
  const close = /^---[ \t]*(?:\r?\n|$)/m.exec(source.slice(yamlOffset));
  if (close === null) return undefined;
  const bodyOffset = yamlOffset + close.index + close[0].length;
  return {
    yaml: source.slice(yamlOffset, yamlOffset + close.index),
    yamlOffset,
    body: source.slice(bodyOffset),
    bodyOffset,
  };
}

function readSettings(reader: FieldReader, body: string): PlaybookSettings {
  const given = reader.entries(reader.root, fields);
  const script = given.get("script");
  const opening = given.get("opening");
  const prompt = body.trim() === "" ? undefined : body.trim();
  if (!given.has("name"))
    reader.refuse(reader.root, "lacks name; every playbook has one, e.g. name: welcome");
  if (given.has("name") && opening === undefined && script === undefined && prompt === undefined) {
    reader.refuse(
      reader.root,
      "has nothing to say; give it an opening, a script, or instructions under the front matter",
    );
  }
  return {
    name: reader.text(given.get("name")) ?? "",
    language: readLanguage(given.get("language"), reader),
    voice: readVoice(given.get("voice"), reader),
    interrupt: reader.flag(given.get("interrupt")),
    opening: reader.text(opening),
    script: script && readScript(script, reader),
    prompt,
    voicemail: readVoicemail(given.get("voicemail"), reader),
    output: readSchema(given.get("output"), reader),
    success: reader.text(given.get("success")),
    rtt: reader.flag(given.get("rtt")) ?? false,
    speakers: readSpeakers(given.get("speakers"), reader),
    silence: readSilence(given.get("silence"), reader),
    goodbye: reader.text(given.get("goodbye")),
    maxCallMs: Math.round((reader.number(given.get("max_minutes"), 0.1, 120) ?? 10) * 60_000),
  };
}

function readLanguage(field: Field | undefined, reader: FieldReader): string {
  if (field === undefined) return "es";
  const language = reader.text(field);
  if (language === undefined) return "es";
  if (!/^[a-z]{2,3}(-[a-z0-9]{2,8})*$/i.test(language)) {
    reader.refuse(
      field,
      `"${language}" is no language code; accepted: two or three letters, with a region if needed: es, en, pt-br`,
    );
  }
  return language.toLowerCase();
}

function readVoice(field: Field | undefined, reader: FieldReader): VoiceId | undefined {
  if (field === undefined) return undefined;
  const given = String(reader.data(field));
  const voice = voices.find((candidate) => candidate === given);
  if (voice === undefined) reader.refuse(field, `"${given}" is no voice; accepted: ${voices.join(", ")}`);
  return voice;
}

/** A text is a message to leave; a map says what to do. Without any: hang up. */
function readVoicemail(field: Field | undefined, reader: FieldReader): PlaybookSettings["voicemail"] {
  if (field === undefined) return { action: "hang-up", message: undefined };
  const whole = reader.data(field);
  if (typeof whole !== "object" || whole === null)
    return { action: "leave-message", message: reader.text(field) };
  const given = reader.entries(field, ["action", "message"]);
  const message = reader.text(given.get("message"));
  const actionField = given.get("action");
  const action = reader.text(actionField) ?? (message === undefined ? "hang-up" : "leave-message");
  if (action === "leave-message" && !given.has("message")) {
    reader.refuse(actionField ?? field, "wants a message to be left; add message with its words");
  }
  if (action === "hang-up" && message !== undefined) {
    reader.refuse(
      actionField ?? field,
      "is hang-up, so the message would never be heard; use leave-message or drop message",
    );
  }
  if (action !== "hang-up" && action !== "leave-message") {
    reader.refuse(actionField ?? field, `"${action}" is no action; accepted: hang-up, leave-message`);
  }
  return { action: action === "leave-message" ? action : "hang-up", message };
}

function readSchema(field: Field | undefined, reader: FieldReader): Record<string, unknown> | undefined {
  if (field === undefined) return undefined;
  const given = reader.entries(field);
  const type = given.get("type");
  if (type !== undefined && reader.data(type) !== "object") {
    reader.refuse(
      type,
      "must be object: the call's output is an object; describe its fields under properties",
    );
  }
  const schema = reader.data(field);
  return typeof schema === "object" && schema !== null ? { ...schema } : {};
}

function readSpeakers(field: Field | undefined, reader: FieldReader): PlaybookSettings["speakers"] {
  const given = field && reader.entries(field, ["agent", "callee"]);
  return {
    agent: reader.text(given?.get("agent")) ?? "Assistant",
    callee: reader.text(given?.get("callee")) ?? "Customer",
  };
}

function readSilence(field: Field | undefined, reader: FieldReader): PlaybookSettings["silence"] {
  const given = field && reader.entries(field, ["after_seconds", "max_prompts", "prompt"]);
  return {
    promptAfterMs: Math.round((reader.number(given?.get("after_seconds"), 1, 120) ?? 6) * 1000),
    maxPrompts: Math.trunc(reader.number(given?.get("max_prompts"), 0, 10) ?? 2),
    prompt: reader.text(given?.get("prompt")),
  };
}
