/** What can be completed at a place of the command line. */
export type Completion =
  | "call"
  | "campaign"
  | "playbook"
  | "version"
  | "trunk"
  | "account"
  | "token"
  | "profile"
  | "field"
  | "number"
  | "topic"
  | "file"
  | "nothing";

export interface ArgSpec {
  readonly name: string;
  readonly summary: string;
  readonly optional?: true;
  /** Takes all that follow. */
  readonly many?: true;
  readonly choices?: readonly string[];
  readonly complete?: Completion;
}

export interface OptionSpec {
  /** As commander reads them: `-f, --follow`, `--name <text>`, `--json [fields]`. */
  readonly flags: string;
  readonly summary: string;
  /** May be given several times; values are collected. */
  readonly many?: true;
  readonly choices?: readonly string[];
  readonly complete?: Completion;
  /** Needs the local daemon: refused on a remote profile. */
  readonly localOnly?: true;
}

/** `--param <k=v>` → `param`; `-f, --follow` → `follow`. */
export function optionName(option: OptionSpec): string {
  return /--([a-z][a-z-]*)/.exec(option.flags)?.[1] ?? option.flags;
}

/** `-f` of `-f, --follow`. */
export function optionShort(option: OptionSpec): string | undefined {
  return /^(-[a-zA-Z]),/.exec(option.flags)?.[1];
}

/** Whether a value must follow, may follow, or there is none. */
export function optionValue(option: OptionSpec): "required" | "optional" | "none" {
  if (option.flags.includes("<")) return "required";
  return option.flags.includes("[") ? "optional" : "none";
}

/** `<phone>`, `[file]`, `<id...>`. */
export function argLabel(arg: ArgSpec): string {
  const name = arg.many === true ? `${arg.name}...` : arg.name;
  return arg.optional === true ? `[${name}]` : `<${name}>`;
}
