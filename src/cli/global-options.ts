import type { OptionSpec } from "./option-spec.ts";

/** Formats every list and record can be printed in. */
export const commonFormats = ["table", "wide", "json", "jsonl", "csv", "tsv", "ids"] as const;
export type Format = (typeof commonFormats)[number];

/** Options understood by every command, before or after it. */
export const globalOptions: readonly OptionSpec[] = [
  { flags: "-o, --output <format>", summary: "table, wide, json, jsonl, csv, tsv or ids" },
  { flags: "--json [fields]", summary: "same as -o json, only these fields when given", complete: "field" },
  { flags: "-q, --quiet", summary: "print ids only" },
  { flags: "--fields <list>", summary: "columns to print, by name; help lists them", complete: "field" },
  { flags: "--no-header", summary: "leave out the header line" },
  { flags: "--no-color", summary: "no colours" },
  {
    flags: "--tz <zone>",
    summary: "time zone for times printed and given; default: this machine's",
    complete: "nothing",
  },
  { flags: "-y, --yes", summary: "do not ask" },
  { flags: "--no-input", summary: "never ask; fail with the flag to add" },
  { flags: "--account <name>", summary: "account to act for; default: default", complete: "account" },
  { flags: "--no-start", summary: "do not start the daemon when it is down" },
  { flags: "-p, --profile <name>", summary: "remote profile made with auth login", complete: "profile" },
  { flags: "--host <url>", summary: "address of a service with the public API", complete: "nothing" },
  {
    flags: "--retry-for <time>",
    summary: "how long to go on when rate limited; default 30s",
    complete: "nothing",
  },
  { flags: "--debug", summary: "show the stack of unexpected errors" },
];
