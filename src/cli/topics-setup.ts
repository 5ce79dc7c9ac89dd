import { code, terms, text, type TopicText } from "./topic-text.ts";

export const environmentTopic: TopicText = [
  text("A flag is stronger than a variable, a variable than ./outdial.toml, and that than config.toml."),
  terms(
    ["OUTDIAL_HOME", "one directory for everything: configuration, data, log, socket"],
    ["OUTDIAL_SOCKET", "path of the daemon's socket"],
    ["OUTDIAL_ACCOUNT", "account to act for, like --account"],
    ["OUTDIAL_PROFILE", "remote profile, like --profile; local means the daemon of this machine"],
    ["OUTDIAL_HOST", "address of a remote service, like --host"],
    ["OUTDIAL_TOKEN", "token for it; prefer the next two"],
    ["OUTDIAL_TOKEN_FILE", "file that holds the token, readable by you only"],
    ["OUTDIAL_TOKEN_COMMAND", "command that prints the token"],
    ["OUTDIAL_KEYRING", "auto (default), or off: tokens go to the file, not the keychain"],
    ["OUTDIAL_OUTPUT", "output format, like -o"],
    ["OUTDIAL_TZ", "time zone, like --tz"],
    ["OUTDIAL_NO_INPUT", "never ask, like --no-input"],
    ["OUTDIAL_DEBUG", "show the stack of unexpected errors"],
    ["NO_COLOR, FORCE_COLOR, TERM, CI", "as everywhere"],
    ["XDG_CONFIG_HOME, XDG_DATA_HOME, XDG_STATE_HOME, XDG_RUNTIME_DIR", "where the directories below are"],
  ),
  text("Files, without OUTDIAL_HOME:"),
  terms(
    ["~/.config/outdial/config.toml", "account, playbook, output, tz, country, confirm_above and [daemon]"],
    ["~/.config/outdial/profiles.toml", "remote profiles, written by auth login"],
    ["~/.config/outdial/tokens.json", "their tokens where there is no keychain; owner only"],
    ["./outdial.toml", "account, playbook, output, tz and country for one project"],
    ["~/.local/share/outdial", "database and recordings"],
    ["~/.local/state/outdial/daemon.log", "the daemon's log"],
    ["/run/user/<uid>/outdial/daemon.sock", "the daemon's socket"],
  ),
];

export const cronTopic: TopicText = [
  text(
    "The daemon is reached over a socket that only you can open: cron needs no token, no keychain and no session. A command that needs the daemon starts it.",
  ),
  text(
    "Nobody can be asked in cron, so a launch to more than 25 people needs --yes. With --key the same campaign is launched once, however often the line runs.",
  ),
  code(
    '0 9 * * 1-5  outdial campaign launch ~/due.csv --playbook dunning --key "dunning-$(date +\\%F)" --yes -q',
    "30 18 * * *  outdial calls list --since 1d --all -o csv > ~/calls-today.csv",
  ),
  text(
    "In crontab a percent sign has to be written \\%. Check the exit code: 7 means that some rows were rejected, the others are being called.",
  ),
];

export const securityTopic: TopicText = [
  text(
    "The daemon listens on a Unix socket in a directory of its own (mode 0700): whoever can open it owns everything, and nobody else on the machine can. Programs on other machines use the HTTP API with a token.",
  ),
  terms(
    [
      "tokens",
      "outdial token create shows a token once; the daemon keeps a hash of it. Revoking works at once",
    ],
    [
      "passwords of trunks",
      "come from a prompt, standard input or a file, never from an argument; kept by the daemon in an owner-only file",
    ],
    [
      "tokens of remote services",
      "in the system's keychain; where there is none, in an owner-only file, and every use says so",
    ],
    ["secret files", "are refused when others may read them"],
    ["remote services", "are only spoken to over https; plain http is for this machine"],
    [
      "what callees and files say",
      "is stripped of control characters before it reaches the terminal, and guarded against formulas in CSV",
    ],
    ["./outdial.toml", "cannot choose a host or a token"],
  ),
  text("Recordings and transcripts are personal data. They are in the data directory, readable by you only."),
];
