import { exitCodes } from "./exit-codes.ts";
import { code, terms, text, type TopicText } from "./topic-text.ts";

export const exitCodesTopic: TopicText = [
  text("Treat a code that is not in this list as a failure."),
  terms(...exitCodes.map(({ code, meaning }) => [String(code), meaning] as const)),
  code(
    "outdial call start +9990000002 --playbook welcome --wait",
    "case $? in",
    "  0) echo reached ;;",
    "  21) echo voicemail ;;",
    "  22|23) echo later ;;",
    "esac",
  ),
];

export const formattingTopic: TopicText = [
  text(
    "Standard output holds the answer and nothing else; progress, hints and errors go to standard error. On a terminal a list is a table, in a pipe it is tab-separated text with a header.",
  ),
  terms(
    ["-o table", "for people; a long text column is cut to the terminal, ids to what tells them apart"],
    ["-o wide", "all columns, nothing cut"],
    ["-o json, --json", "one array for a list, one object for a record, one object a line for a stream"],
    ["-o jsonl", "one object a line"],
    [
      "-o csv",
      "RFC 4180 with header; text that a spreadsheet would run as a formula gets a leading apostrophe, phone numbers do not",
    ],
    ["-o tsv", "tab-separated text"],
    ["-o ids, -q", "ids only, one a line"],
    ["--fields a,b", "these fields, in this order; into objects with a dot: params.course"],
    ["--json=a,b", "the same, as JSON"],
    ["--fields help", "lists the fields of a command"],
    ["--no-header", "leaves the header line out"],
    ["--tz zone", "times in this zone, and absolute; without it a terminal shows how long ago"],
  ),
  text(
    "JSON keeps the names and values of the API, its published status included; status_label beside it says the exact state. Colours are off in a pipe, with NO_COLOR, with TERM=dumb and with --no-color.",
  ),
  text(
    "An error is a line and what to do about it; with any of json, jsonl, csv, tsv or ids it is one line of JSON on standard error instead.",
  ),
  code('{"error":{"code":"not-found","message":"there is no call 42","exit_code":5}}'),
];
