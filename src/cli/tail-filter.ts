import { eventText, eventTypes, kindOf, speakerOf, stateOf, type EventKind } from "./call-events.ts";
import { usageError } from "./command-error.ts";
import { plainValue, fieldValue, type Row } from "./fields.ts";
import type { Input } from "./handler.ts";
import { isStatus, statusFilter } from "./statuses.ts";
import { instantOf } from "./times.ts";

/** Which events of which calls are shown. */
export interface TailFilter {
  readonly kinds: ReadonlySet<EventKind>;
  /** Only turns and keys of these; empty: of both. */
  readonly speakers: readonly string[];
  /** Words of `--status`; empty: all. */
  readonly statuses: readonly string[];
  readonly grep: RegExp | undefined;
  readonly playbookId: string | undefined;
  /** Epoch milliseconds. */
  readonly since: number | undefined;
}

const kindWords = ["turn", "status", "verdict", "dtmf"] as const;

/** Reads the options; a word that is none, or a broken expression, is a usage error. */
export function readTailFilter(
  input: Input,
  found: { readonly playbookId: string | undefined; readonly since: number | undefined },
): TailFilter {
  const kinds = new Set<EventKind>(wordList(input, "events", kindWords) ?? kindWords);
  if (input.flag("partials")) kinds.add("partial");
  const statuses = commaList(input.text("status"));
  for (const word of statuses) statusFilter(word);
  return {
    kinds,
    speakers: wordList(input, "speaker", ["agent", "callee"] as const) ?? [],
    statuses,
    grep: expression(input.text("grep")),
    ...found,
  };
}

/** Whether the event is one to show. */
export function passes(filter: TailFilter, event: Row): boolean {
  const kind = kindOf(event);
  if (kind === undefined || !filter.kinds.has(kind)) return false;
  const speaker = speakerOf(event);
  if (speaker !== undefined && filter.speakers.length > 0 && !filter.speakers.includes(speaker)) return false;
  if (filter.since !== undefined && (instantOf(event["at"]) ?? 0) < filter.since) return false;
  const playbook = plainValue(fieldValue(event, "data.playbook_id"));
  if (filter.playbookId !== undefined && playbook !== filter.playbookId) return false;
  const state = stateOf(event);
  if (filter.statuses.length > 0 && !filter.statuses.some((word) => isStatus(state, word))) return false;
  return filter.grep === undefined || filter.grep.test(eventText(event));
}

/** What to ask the daemon for. */
export function wantedTypes(filter: TailFilter): string {
  return eventTypes(filter.kinds).join(",");
}

function wordList<Word extends string>(
  input: Input,
  name: string,
  words: readonly Word[],
): readonly Word[] | undefined {
  const text = input.text(name);
  if (text === undefined) return undefined;
  return commaList(text).map((given) => {
    const word = words.find((one) => one === given);
    if (word === undefined)
      throw usageError(`--${name} does not take "${given}"`, `use one or several of ${words.join(",")}`);
    return word;
  });
}

function commaList(text: string | undefined): readonly string[] {
  return (text ?? "")
    .split(",")
    .map((word) => word.trim())
    .filter((word) => word !== "");
}

function expression(text: string | undefined): RegExp | undefined {
  if (text === undefined) return undefined;
  try {
    return new RegExp(text, "iu");
  } catch (error) {
    throw usageError(`--grep is no regular expression: ${error instanceof Error ? error.message : ""}`);
  }
}
