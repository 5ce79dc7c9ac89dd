import type { Problem } from "#base";
import { isMap, isScalar, parseDocument, visit, type Document, type LineCounter, type Node } from "yaml";
import { didYouMean } from "./did-you-mean.ts";
import { malformedPlaceholder } from "./substitute.ts";

/** One value of the front matter, where it stands and what it is called: `script.start.digits.1`. */
export interface Field {
  readonly where: string;
  readonly node: Node | null;
  /** Offset in the file. */
  readonly offset: number;
  /** Offset of its key, for problems with the name itself. */
  readonly keyOffset: number;
}

/** Reads typed values out of YAML. What is wrong is noted with its line and column, and reading goes on. */
export interface FieldReader {
  readonly root: Field;
  /** The fields of a map by name; with `known`, any other name is refused. */
  entries(field: Field, known?: readonly string[]): ReadonlyMap<string, Field>;
  text(field: Field | undefined): string | undefined;
  flag(field: Field | undefined): boolean | undefined;
  number(field: Field | undefined, least: number, most: number): number | undefined;
  /** Any YAML value as plain data. */
  data(field: Field): unknown;
  refuse(field: Field, message: string, at?: "key" | "value"): void;
  refuseAt(where: string, message: string, offset: number): void;
  /** In the order of the file. */
  problems(): readonly Problem[];
}

/** `yaml` begins at `offset` of the whole file, whose line starts `lines` counts. */
export function readFrontMatter(yaml: string, offset: number, lines: LineCounter): FieldReader {
  const found: { problem: Problem; offset: number }[] = [];
  const document = parseDocument(yaml, { prettyErrors: false, version: "1.2", customTags: [] });
  for (const error of document.errors) refuseAt("", tidy(error.message), offset + error.pos[0]);
  refuseLinks(document);
  const root: Field = { where: "", node: document.contents, offset, keyOffset: offset };
  return { root, entries, text, flag, number, data, refuse, refuseAt, problems };

  function refuseAt(where: string, message: string, at: number): void {
    const { line, col } = lines.linePos(at);
    found.push({ problem: { where, message, line, column: col }, offset: at });
  }

  function refuse(field: Field, message: string, at: "key" | "value" = "value"): void {
    refuseAt(field.where, message, at === "key" ? field.keyOffset : field.offset);
  }

  /** Anchors and aliases can blow a small file up to any size, and no playbook needs them. */
  function refuseLinks(doc: Document): void {
    visit(doc, {
      Alias: (_key, node) => {
        refuseAt(
          "",
          'begins a YAML alias here; put a text that starts with "*" in quotes',
          offset + (node.range?.[0] ?? 0),
        );
        return visit.BREAK;
      },
    });
  }

  function entries(field: Field, known?: readonly string[]): ReadonlyMap<string, Field> {
    const fields = new Map<string, Field>();
    if (!isMap<Node, Node | null>(field.node)) {
      refuse(field, `must be a map of names and values${known ? `: ${known.join(", ")}` : ""}`);
      return fields;
    }
    for (const { key, value } of field.node.items) {
      const name = isScalar(key) ? (key.source ?? String(key.value)) : "";
      const keyOffset = offset + (key.range?.[0] ?? 0);
      const entry: Field = {
        where: field.where === "" ? name : `${field.where}.${name}`,
        node: value,
        offset: value?.range === undefined || value.range === null ? keyOffset : offset + value.range[0],
        keyOffset,
      };
      if (name === "") refuse(entry, "has an empty or nested name here; a name is a plain word", "key");
      else if (known !== undefined && !known.includes(name)) refuse(entry, unknownField(name, known), "key");
      else fields.set(name, entry);
    }
    return fields;
  }

  function text(field: Field | undefined): string | undefined {
    if (field === undefined) return undefined;
    const value = isScalar(field.node) ? field.node.value : undefined;
    if (typeof value !== "string") {
      refuse(
        field,
        `must be a text${typeof value === "number" || typeof value === "boolean" ? "; put it in quotes" : ""}`,
      );
      return undefined;
    }
    if (value.trim() === "") {
      refuse(field, "is empty; give it a text or leave it out");
      return undefined;
    }
    const malformed = malformedPlaceholder(value);
    if (malformed !== undefined) refuse(field, malformed.message);
    return value.trim();
  }

  function flag(field: Field | undefined): boolean | undefined {
    if (field === undefined) return undefined;
    const value = isScalar(field.node) ? field.node.value : undefined;
    if (typeof value === "boolean") return value;
    refuse(field, "must be true or false");
    return undefined;
  }

  function number(field: Field | undefined, least: number, most: number): number | undefined {
    if (field === undefined) return undefined;
    const value = isScalar(field.node) ? field.node.value : undefined;
    if (typeof value === "number" && value >= least && value <= most) return value;
    refuse(field, `must be a number from ${least} to ${most}`);
    return undefined;
  }

  function data(field: Field): unknown {
    return field.node?.toJS(document);
  }

  function problems(): readonly Problem[] {
    return found.toSorted((a, b) => a.offset - b.offset).map(({ problem }) => problem);
  }
}

function unknownField(name: string, known: readonly string[]): string {
  const near = didYouMean(name, known);
  const hint = near === undefined ? "" : `did you mean ${near}? `;
  return `is no field here; ${hint}${hint === "" ? "a" : "A"}ccepted: ${known.join(", ")}`;
}

/** The YAML library's sentence without its trailing position and full stop. */
function tidy(message: string): string {
  return `is no readable YAML: ${(message.split("\n")[0] ?? "").replace(/ at line \d+.*$|[:.]$/, "")}`;
}
