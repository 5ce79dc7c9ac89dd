import type { CommandSpec } from "./command-spec.ts";

const listen = {
  flags: "--listen <host:port>",
  summary: "address of the public API; default 127.0.0.1:8787",
  complete: "nothing",
} as const;

const daemonCommands: readonly CommandSpec[] = [
  {
    name: "daemon run",
    group: "Operating",
    summary: "Run the daemon in the foreground",
    options: [listen],
    examples: [{ run: "outdial daemon run --listen 127.0.0.1:8787", note: "what a service manager runs" }],
    exits: [6, 130, 143],
  },
  {
    name: "daemon start",
    group: "Operating",
    summary: "Start the daemon in the background",
    description: "Returns when it answers. Nothing happens when it runs already.",
    options: [listen],
    examples: [{ run: "outdial daemon start", note: "other commands do this by themselves when needed" }],
    view: "status",
    exits: [6],
  },
  {
    name: "daemon stop",
    group: "Operating",
    summary: "Stop the daemon; live calls may end first",
    options: [
      { flags: "--drain <time>", summary: "how long live calls may go on; default 60s", complete: "nothing" },
      { flags: "--now", summary: "end live calls at once" },
    ],
    examples: [{ run: "outdial daemon stop --drain 5m", note: "dial nobody more, let calls end" }],
    exits: [6, 8],
  },
  {
    name: "daemon status",
    group: "Operating",
    summary: "Show whether the daemon runs; exit 6 when not",
    examples: [{ run: "outdial daemon status --json", note: "for monitoring" }],
    view: "status",
    exits: [6],
  },
  {
    name: "daemon logs",
    group: "Operating",
    summary: "Print the daemon's log",
    options: [
      { flags: "-f, --follow", summary: "go on with what is written from now on" },
      { flags: "-n, --lines <n>", summary: "so many lines from the end; default 50", complete: "nothing" },
      {
        flags: "--level <level>",
        summary: "this level and above",
        choices: ["debug", "info", "warn", "error"],
      },
    ],
    examples: [{ run: "outdial daemon logs -f --level warn", note: "what goes wrong, as it goes wrong" }],
    formats: ["json"],
    exits: [5, 130],
  },
];

const accountCommands: readonly CommandSpec[] = [
  {
    name: "account create",
    group: "Operating",
    summary: "Create an account: playbooks, contacts, calls and tokens of its own",
    args: [{ name: "name", summary: "name of the account", complete: "nothing" }],
    options: [
      {
        flags: "--timezone <zone>",
        summary: "zone in which its dates are read; default Europe/Madrid",
        complete: "nothing",
      },
    ],
    examples: [
      { run: "outdial account create clinic --timezone Europe/Lisbon", note: "then --account clinic" },
    ],
    view: "account",
    exits: [6, 10],
  },
  {
    name: "account list",
    group: "Operating",
    summary: "List accounts",
    examples: [{ run: "outdial accounts list", note: "names and time zones" }],
    view: "account",
    exits: [6],
  },
  {
    name: "token create",
    group: "Operating",
    summary: "Create a token for the HTTP API; shown this once",
    description: "Standard output is the token and nothing else, so it can be piped into a secret store.",
    args: [{ name: "name", summary: "what it is for", complete: "nothing" }],
    options: [
      {
        flags: "--expires <period>",
        summary: "30d, 90d, 6m, 1y or never (4 years); default 90d",
        choices: ["30d", "90d", "6m", "1y", "never"],
      },
      { flags: "--out <file>", summary: "write it to an owner-only file instead", complete: "file" },
    ],
    examples: [
      {
        run: "outdial token create crm --expires 1y --out crm.token",
        note: "use it with Authorization: Bearer",
      },
    ],
    formats: ["json"],
    exits: [6, 10],
  },
  {
    name: "token list",
    group: "Operating",
    summary: "List tokens, masked",
    examples: [{ run: "outdial tokens list", note: "what is active, and until when" }],
    view: "token",
    exits: [6],
  },
  {
    name: "token revoke",
    group: "Operating",
    summary: "Revoke a token at once",
    args: [{ name: "name", summary: "name of the token, or its first 24 characters", complete: "token" }],
    examples: [{ run: "outdial token revoke crm", note: "asks first; --yes does not" }],
    exits: [3, 5, 6],
  },
];

const authCommands: readonly CommandSpec[] = [
  {
    name: "auth login",
    group: "Operating",
    summary: "Keep a token for a remote service with the public API",
    description:
      "Makes a profile: --profile names it (default: remote), --host is its address. The token comes from a prompt, standard input, a file or a command, never from an argument, is checked, and goes to the system's keychain, or, where there is none, to an owner-only file.",
    options: [
      { flags: "--token-stdin", summary: "read the token from standard input" },
      {
        flags: "--token-file <file>",
        summary: "read it from this file, now and each time",
        complete: "file",
      },
      {
        flags: "--token-command <command>",
        summary: "run this command for it, now and each time",
        complete: "nothing",
      },
    ],
    examples: [
      {
        run: "outdial auth login --host https://voice.example.com --profile prod",
        note: "asks for the token",
      },
      {
        run: "outdial auth login --host https://voice.example.com --token-stdin < prod.token",
        note: "from a script",
      },
    ],
    view: "profile",
    anywhere: true,
    exits: [4, 6],
  },
  {
    name: "auth logout",
    group: "Operating",
    summary: "Forget a profile and its token",
    examples: [
      { run: "outdial auth logout --profile prod", note: "the token itself stays valid until revoked" },
    ],
    anywhere: true,
    exits: [5],
  },
  {
    name: "auth status",
    group: "Operating",
    summary: "Show profiles and where their tokens are kept",
    examples: [{ run: "outdial auth status", note: "warns about tokens in plain text" }],
    view: "profile",
    anywhere: true,
  },
];

/** The rows of init, status, daemon, account, token and auth. */
export const operateCommands: readonly CommandSpec[] = [
  {
    name: "init",
    group: "Operating",
    summary: "Set up outdial on this machine and show what is there",
    description:
      "Starts the daemon, which makes the account default and the sandbox trunk at its first start, writes an example playbook if asked, and prints what to do next. Safe to repeat.",
    options: [
      {
        flags: "--example <file>",
        summary: "write an example playbook to this file and apply it",
        complete: "file",
      },
    ],
    examples: [
      { run: "outdial init", note: "first thing after installing" },
      { run: "outdial init --example welcome.md", note: "with a playbook to try" },
    ],
    view: "status",
    exits: [6],
  },
  {
    name: "status",
    group: "Operating",
    summary: "Daemon, trunks, live calls and running campaigns at a glance",
    examples: [{ run: "outdial status", note: "the same as outdial alone; exit 6 when the daemon is down" }],
    view: "status",
    exits: [6],
  },
  {
    name: "doctor",
    group: "Operating",
    summary: "Check what calls need on this machine; exit 9 when something is wrong",
    description:
      "Node, configuration, directories and their modes, room on the disk, the daemon and its ports, trunks, the built-in voice, the keychain, the clock. Changes nothing and starts nothing.",
    options: [
      {
        flags: "--report <file>",
        summary: "write all of it, with status and log, to show to others; numbers and secrets are masked",
        complete: "file",
      },
    ],
    examples: [
      { run: "outdial doctor", note: "when something does not work" },
      { run: "outdial doctor --report report.txt", note: "for a bug report" },
    ],
    view: "check",
    anywhere: true,
    brokenConfig: true,
    exits: [9],
  },
  ...daemonCommands,
  ...accountCommands,
  ...authCommands,
];
