import { lintPlaybook, type Finding } from "#domain";
import { hasPhrases } from "#talk";
import { schemaFaults } from "./output-schema.ts";

export interface LintOrder {
  readonly source: string;
  /** Names of values that calls will bring. */
  readonly params?: readonly string[];
}

/** Everything that can be said about a playbook's file without a call, by its place in the file. */
export async function lintSource({ source, params }: LintOrder): Promise<readonly Finding[]> {
  const { findings, settings, placeOf } = lintPlaybook(source, params);
  if (settings === undefined) return findings;
  const more: Finding[] = [];
  if (!hasPhrases(settings.language)) {
    more.push({
      severity: "warning",
      where: "language",
      message: `in "${settings.language}" mailboxes, menus and "do not call me" are known by English words only`,
      ...placeOf(["language"]),
    });
  }
  for (const { severity, path, message } of await schemaFaults(settings.output ?? {})) {
    const full = ["output", ...path];
    more.push({ severity, where: full.join("."), message, ...placeOf(full) });
  }
  return [...findings, ...more].toSorted(
    (a, b) => (a.line ?? 0) - (b.line ?? 0) || (a.column ?? 0) - (b.column ?? 0),
  );
}
