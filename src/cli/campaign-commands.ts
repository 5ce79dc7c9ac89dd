import type { CommandSpec } from "./command-spec.ts";
import type { ArgSpec, OptionSpec } from "./option-spec.ts";

const id: ArgSpec = {
  name: "id",
  summary: "id of the campaign, or a unique beginning of it",
  complete: "campaign",
};

const launchOptions: readonly OptionSpec[] = [
  {
    flags: "--playbook <name>",
    summary: "playbook to use, by name or id; default from the configuration",
    complete: "playbook",
  },
  {
    flags: "--name <text>",
    summary: "name of the campaign; default: the file's",
    complete: "nothing",
    localOnly: true,
  },
  { flags: "--at <time>", summary: 'launch then: "2026-12-01 09:00", "09:00", "in 2h"', complete: "nothing" },
  {
    flags: "--recall <list>",
    summary: 'minutes after which to try again: "[30,120]" or 30m,2h',
    complete: "nothing",
  },
  {
    flags: "--map <column=field>",
    summary: "what a column means; may be repeated",
    many: true,
    complete: "nothing",
  },
  {
    flags: "--country <code>",
    summary: "country of numbers without prefix: ES, US, ...",
    complete: "nothing",
  },
  { flags: "--encoding <name>", summary: "encoding of the file; default: found out", complete: "nothing" },
  { flags: "--delimiter <char>", summary: "column separator; default: found out", complete: "nothing" },
  { flags: "--rejects <file>", summary: "write rejected rows there, with line and reason", complete: "file" },
  { flags: "--limit <n>", summary: "only the first n contacts", complete: "nothing" },
  { flags: "--trunk <name>", summary: "trunk to dial through", complete: "trunk", localOnly: true },
  {
    flags: "--max-concurrent <n>",
    summary: "at most so many calls at once",
    complete: "nothing",
    localOnly: true,
  },
  {
    flags: "--key <text>",
    summary: "the same key launches the same campaign only once in 24 h",
    complete: "nothing",
  },
  { flags: "--dry-run", summary: "read and check everything, launch nothing", localOnly: true },
  { flags: "--wait", summary: "wait until all calls are over", localOnly: true },
  {
    flags: "--timeout <time>",
    summary: "with --wait or --follow: give up watching after this long (exit 8)",
    complete: "nothing",
  },
  { flags: "-f, --follow", summary: "watch it, like campaign watch", localOnly: true },
];

/** The rows of `outdial campaign ...`. */
export const campaignCommands: readonly CommandSpec[] = [
  {
    name: "campaign launch",
    group: "Calling",
    summary: "Call a list of contacts from a CSV file",
    description:
      "Reads a CSV file, finds out what its columns mean, checks every number and creates the calls. Rows that cannot be called are reported with line and reason; the others go on. More than 25 contacts need a confirmation, or --yes.",
    args: [{ name: "file", summary: "CSV file with a header line, - for standard input", complete: "file" }],
    options: launchOptions,
    examples: [
      {
        run: "outdial campaign launch leads.csv --playbook welcome --country ES --dry-run",
        note: "see the mapping and what would happen",
      },
      {
        run: 'outdial campaign launch leads.csv --playbook welcome --recall "[30,120]" -f',
        note: "try again after 30 and 120 minutes, and watch",
      },
      {
        run: 'outdial campaign launch due.csv --playbook dunning --key "dunning-$(date +%F)" --yes -q',
        note: "from cron: once a day",
      },
    ],
    view: "campaign",
    remote: true,
    exits: [3, 4, 5, 6, 7, 8, 10, 11, 12, 130],
  },
  {
    name: "campaign list",
    group: "Calling",
    summary: "List campaigns, newest first",
    options: [
      {
        flags: "--status <word>",
        summary: "only campaigns in this status",
        choices: ["scheduled", "running", "paused", "stopped", "done"],
      },
    ],
    examples: [{ run: "outdial campaigns list --status running", note: "what is going on" }],
    view: "campaign",
    exits: [6],
  },
  {
    name: "campaign view",
    group: "Calling",
    summary: "Show one campaign with its counts",
    args: [id],
    examples: [{ run: "outdial campaign view 0197d4c2-7f3a", note: "counts by outcome" }],
    view: "campaign",
    exits: [5, 6],
  },
  {
    name: "campaign watch",
    group: "Calling",
    summary: "Follow a campaign until its last call is over",
    description:
      "On a terminal a live view, elsewhere a line for every change. Ctrl-C stops watching; the campaign goes on.",
    args: [id],
    options: [
      {
        flags: "--timeout <time>",
        summary: "give up watching after this long (exit 8)",
        complete: "nothing",
      },
    ],
    examples: [{ run: "outdial campaign watch 0197d4c2-7f3a", note: "counts, rate and time left" }],
    view: "campaign",
    exits: [5, 6, 8, 130],
  },
  ...steer("pause", "Dial nobody more for now; calls under way go on"),
  ...steer("resume", "Go on dialling"),
  ...steer("stop", "End a campaign: calls not yet under way are cancelled"),
];

function steer(verb: "pause" | "resume" | "stop", summary: string): readonly CommandSpec[] {
  return [
    {
      name: `campaign ${verb}`,
      group: "Calling",
      summary,
      args: [id],
      examples: [{ run: `outdial campaign ${verb} 0197d4c2-7f3a`, note: summary.toLowerCase() }],
      view: "campaign",
      exits: verb === "stop" ? [3, 5, 6, 10] : [5, 6, 10],
    },
  ];
}
