import type { CommandSpec } from "./command-spec.ts";
import type { OptionSpec } from "./option-spec.ts";
import { statusWords } from "./statuses.ts";

const waits = [20, 21, 22, 23, 24, 25, 26, 130] as const;

const startOptions: readonly OptionSpec[] = [
  {
    flags: "--playbook <name>",
    summary: "playbook to use, by name or id; default from the configuration",
    complete: "playbook",
  },
  {
    flags: "--version <id>",
    summary: "a version of it; default: the production version",
    complete: "version",
  },
  {
    flags: "--voice <1-7>",
    summary: "voice; default: the playbook's, else 6",
    choices: ["1", "2", "3", "4", "5", "6", "7"],
  },
  { flags: "--voice-model <model>", summary: "less delay, or the natural voice", choices: ["fast", "human"] },
  { flags: "--language <code>", summary: "language code such as ES, EN or pt-BR", complete: "nothing" },
  { flags: "--interrupt", summary: "let the called person interrupt the agent" },
  {
    flags: "--param <name=value>",
    summary: "a value for {{name}} in the playbook; may be repeated",
    many: true,
    complete: "nothing",
  },
  {
    flags: "--params-file <file>",
    summary: "JSON object of such values, - for standard input",
    complete: "file",
  },
  { flags: "--trunk <name>", summary: "trunk to dial through", complete: "trunk", localOnly: true },
  {
    flags: "--recall <list>",
    summary: 'minutes after which to try again: "[30,120]" or 30m,2h',
    complete: "nothing",
    localOnly: true,
  },
  {
    flags: "--at <time>",
    summary: 'not before: "2026-12-01 09:00", "09:00", "in 2h"',
    complete: "nothing",
    localOnly: true,
  },
  {
    flags: "--key <text>",
    summary: "the same key starts the same call only once in 24 h",
    complete: "nothing",
  },
  { flags: "--wait", summary: "wait for the end; the exit code says how it ended" },
  {
    flags: "--timeout <time>",
    summary: "with --wait or --follow: give up watching after this long (exit 8)",
    complete: "nothing",
  },
  {
    flags: "-f, --follow",
    summary: "show the conversation while it runs, and wait for the end",
    localOnly: true,
  },
  { flags: "--dry-run", summary: "check everything, call nobody", localOnly: true },
];

const sipOptions: readonly OptionSpec[] = [
  {
    flags: "--sip",
    summary: "with its SIP messages, as arrows between us and the provider",
    localOnly: true,
  },
  { flags: "--verbose", summary: "with --sip: the messages themselves", localOnly: true },
  {
    flags: "--pcap <file>",
    summary: "write its SIP messages to a capture, - for standard output",
    complete: "file",
    localOnly: true,
  },
];

const tailOptions: readonly OptionSpec[] = [
  { flags: "--campaign <id>", summary: "only calls of this campaign", complete: "campaign" },
  { flags: "--playbook <name>", summary: "only calls of this playbook", complete: "playbook" },
  {
    flags: "--status <words>",
    summary: "only while a call is, or ends, in one of these: ringing, closed, voicemail, ...",
    complete: "nothing",
  },
  { flags: "--speaker <who>", summary: "agent, callee or both", complete: "nothing" },
  {
    flags: "--grep <expression>",
    summary: "only lines whose text matches; letter case does not matter",
    complete: "nothing",
  },
  {
    flags: "--events <kinds>",
    summary: "of turn, status, verdict and dtmf; default: all",
    complete: "nothing",
  },
  { flags: "--since <time>", summary: "begin earlier: 10m, 2h or a moment", complete: "nothing" },
  { flags: "--no-follow", summary: "print what there is, then end" },
  { flags: "--partials", summary: "words in the making, too", localOnly: true },
];

const id = { name: "id", summary: "id of the call, or a unique beginning of it", complete: "call" } as const;

/** The rows of `outdial call ...`. */
export const callCommands: readonly CommandSpec[] = [
  {
    name: "call start",
    group: "Calling",
    summary: "Start one call",
    description:
      "Starts an outbound call with a playbook and prints its id. The call is stored before the command returns, so it is placed even if this terminal closes.",
    args: [{ name: "phone", summary: "number to call, with country prefix", complete: "number" }],
    options: startOptions,
    examples: [
      {
        run: "outdial call start +9990000001 --playbook welcome -f",
        note: "try a playbook in the sandbox and read along",
      },
      {
        run: "outdial call start +34600111222 --playbook renewals --param first_name=Ana",
        note: "with a value for {{first_name}}",
      },
      {
        run: "outdial call start +9990000002 --playbook welcome --wait; echo $?",
        note: "21 is voicemail (outdial help exit-codes)",
      },
    ],
    view: "call",
    remote: true,
    exits: [4, 5, 6, 8, 10, 11, 12, ...waits],
  },
  {
    name: "call list",
    group: "Calling",
    summary: "List calls, newest first",
    options: [
      {
        flags: "--status <word>",
        summary: `only calls in this status: ${statusWords.join(", ")}`,
        choices: statusWords,
      },
      { flags: "--playbook <name>", summary: "only calls of this playbook", complete: "playbook" },
      { flags: "--campaign <id>", summary: "only calls of this campaign", complete: "campaign" },
      { flags: "--phone <number>", summary: "only calls to this number", complete: "nothing" },
      {
        flags: "--since <time>",
        summary: "from: 2h, 7d, 2026-12-01 or a moment; at most 90 days back",
        complete: "nothing",
      },
      { flags: "--until <time>", summary: "up to; likewise", complete: "nothing" },
      { flags: "--limit <n>", summary: "at most so many; default 30", complete: "nothing" },
      { flags: "--all", summary: "all that match" },
    ],
    examples: [
      {
        run: "outdial calls list --since 1d --status voicemail",
        note: "who got a voicemail since yesterday",
      },
      {
        run: "outdial calls list --since 7d --all -o csv --fields to,status,duration,summary",
        note: "a week for a spreadsheet",
      },
      { run: "outdial calls list --json=id,to,params.course", note: "JSON with three fields" },
    ],
    view: "call",
    remote: true,
    exits: [4, 6, 11],
  },
  {
    name: "call view",
    group: "Calling",
    summary: "Show one call",
    args: [id],
    options: [{ flags: "--transcript", summary: "with the conversation" }, ...sipOptions],
    examples: [
      { run: "outdial call view 0197d4c2-7f3a", note: "by the beginning of its id" },
      { run: "outdial call view 0197d4c2-7f3a --json", note: "everything that is known about it" },
      { run: "outdial call view 0197d4c2-7f3a --sip", note: "what was on the wire, as arrows" },
      { run: "outdial call view 0197d4c2-7f3a --pcap call.pcap", note: "the same for Wireshark" },
    ],
    view: "callDetail",
    remote: true,
    exits: [4, 5, 6, 11],
  },
  {
    name: "call watch",
    group: "Calling",
    summary: "Follow a call: status and conversation until its end",
    args: [id],
    options: [
      {
        flags: "--timeout <time>",
        summary: "give up watching after this long (exit 8)",
        complete: "nothing",
      },
    ],
    examples: [{ run: "outdial call watch 0197d4c2-7f3a", note: "Ctrl-C stops watching, the call goes on" }],
    view: "call",
    exits: [5, 6, 8, ...waits],
  },
  {
    name: "call tail",
    group: "Calling",
    summary: "Follow all calls at once: live conversations and what becomes of them",
    description:
      "One line for each thing said, pressed or decided, in a colour for each call; in a pipe one JSON object a line. It goes on over a restart of the daemon, and says when events were lost. A remote service is asked every five seconds.",
    options: tailOptions,
    examples: [
      { run: "outdial call tail", note: "read along with everything" },
      {
        run: "outdial call tail --speaker callee --grep 'price|precio'",
        note: "who asks for the price",
      },
      {
        run: "outdial call tail --events status --status voicemail | jq -r .data.to",
        note: "in a pipe: numbers that end in a mailbox",
      },
    ],
    remote: true,
    exits: [4, 5, 6, 11, 130],
  },
  {
    name: "call transcript",
    group: "Calling",
    summary: "Print the conversation of a call",
    args: [id],
    options: [{ flags: "--out <file>", summary: "write to a file", complete: "file" }],
    examples: [
      { run: "outdial call transcript 0197d4c2-7f3a", note: "as text" },
      { run: "outdial call transcript 0197d4c2-7f3a -o json", note: "as a JSON array of speaker and text" },
    ],
    formats: ["text", "html", "json"],
    remote: true,
    exits: [4, 5, 6, 11],
  },
  {
    name: "call recording",
    group: "Calling",
    summary: "Fetch the recording of a call",
    args: [id],
    options: [
      { flags: "--out <file>", summary: "WAV file to write, - for standard output", complete: "file" },
    ],
    examples: [
      {
        run: "outdial call recording 0197d4c2-7f3a --out ana.wav",
        note: "stereo WAV: agent left, callee right",
      },
    ],
    exits: [5, 6],
  },
  {
    name: "call hangup",
    group: "Calling",
    summary: "End live calls, cancel waiting ones",
    args: [{ ...id, optional: true, many: true }],
    options: [{ flags: "--all-live", summary: "every call that is dialing, ringing or talking now" }],
    examples: [
      { run: "outdial call hangup 0197d4c2-7f3a", note: "end it now" },
      {
        run: "outdial call hangup --all-live --yes",
        note: "the emergency brake; campaign stop dials nobody more",
      },
    ],
    view: "call",
    exits: [3, 5, 6, 7, 10],
  },
  {
    name: "call resolve",
    group: "Calling",
    summary: "Decide a call that waits for a person (status wmat)",
    args: [id],
    options: [
      { flags: "--as <state>", summary: "how it ends", choices: ["closed", "failed"] },
      { flags: "--note <text>", summary: "why, kept with the call", complete: "nothing" },
    ],
    examples: [
      { run: 'outdial call resolve 0197d4c2-7f3a --as closed --note "she called back"', note: "settle it" },
    ],
    view: "call",
    exits: [5, 6, 10],
  },
];
