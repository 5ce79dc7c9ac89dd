import type { ArgSpec, OptionSpec } from "./option-spec.ts";
import type { ViewName } from "./views.ts";

export interface Example {
  readonly run: string;
  readonly note: string;
}

export type Group = "Calling" | "Agents" | "Telephony" | "Operating" | "Scripting";

/** One row of the table that parser, help, completions and man pages are made of. */
export interface CommandSpec {
  /** Words after `outdial`: `call start`. */
  readonly name: string;
  readonly group: Group;
  readonly summary: string;
  /** More, in whole sentences. */
  readonly description?: string;
  readonly args?: readonly ArgSpec[];
  readonly options?: readonly OptionSpec[];
  readonly examples: readonly Example[];
  /** What it prints; gives the columns and the field names. */
  readonly view?: ViewName;
  /** Output formats beyond the common ones, or instead of them when there is no view. */
  readonly formats?: readonly string[];
  /** Works on a remote profile too (public API). */
  readonly remote?: true;
  /** Asks no server: a profile does not matter. */
  readonly anywhere?: true;
  /** Runs even when config.toml cannot be read. */
  readonly brokenConfig?: true;
  /** Exit codes beyond 0, 1 and 2. */
  readonly exits?: readonly number[];
  readonly hidden?: true;
}

/** A noun of the grammar: its plural is the same word to the parser. */
export interface NounSpec {
  readonly name: string;
  readonly plural?: string;
  readonly summary: string;
  readonly group: Group;
}
