import type { CommandSpec } from "./command-spec.ts";
import type { ArgSpec } from "./option-spec.ts";
import { addTrunkOptions, editTrunkOptions } from "./trunk-options.ts";

const playbook: ArgSpec = {
  name: "playbook",
  summary: "name, id, or a unique beginning of the id",
  complete: "playbook",
};
const trunk: ArgSpec = { name: "name", summary: "name of the trunk", complete: "trunk" };

const playbookCommands: readonly CommandSpec[] = [
  {
    name: "playbook apply",
    group: "Agents",
    summary: "Create or update a playbook from its file",
    description:
      "The file says everything about the playbook, its name included; applying the same file twice changes nothing. With -m a version is made; the first one becomes production.",
    args: [
      { name: "file", summary: "Markdown file with a YAML head, - for standard input", complete: "file" },
    ],
    options: [
      {
        flags: "-m, --message <text>",
        summary: "make a version, with this commit message",
        complete: "nothing",
      },
    ],
    examples: [
      { run: "outdial playbook apply welcome.md", note: "create or update it" },
      { run: 'outdial playbook apply welcome.md -m "shorter greeting"', note: "and make a version" },
    ],
    view: "playbook",
    exits: [6],
  },
  {
    name: "playbook lint",
    group: "Agents",
    summary: "Check a playbook without applying it; exit 9 when something is wrong",
    description:
      "Errors keep it from being applied; warnings are what may not be meant: values that no call may bring, mailboxes not spoken of, a language without phrases. Each has its line and column.",
    args: [
      { name: "playbook", summary: "file, - for standard input, or name of a playbook", complete: "file" },
    ],
    options: [
      {
        flags: "--param <name>",
        summary: "calls will bring this value: no warning about it; may be repeated",
        many: true,
        complete: "nothing",
      },
      { flags: "--strict", summary: "exit 9 for warnings, too" },
    ],
    examples: [
      { run: "outdial playbook lint welcome.md", note: "before it is applied" },
      { run: "outdial playbook lint welcome --param course --strict", note: "what is applied, in a build" },
    ],
    view: "finding",
    exits: [5, 6, 9],
  },
  {
    name: "playbook list",
    group: "Agents",
    summary: "List playbooks",
    examples: [{ run: "outdial playbooks list", note: "names, languages, production versions" }],
    view: "playbook",
    exits: [6],
  },
  {
    name: "playbook view",
    group: "Agents",
    summary: "Show a playbook",
    args: [playbook],
    options: [{ flags: "--source", summary: "print its file, as applied" }],
    examples: [{ run: "outdial playbook view welcome --source > welcome.md", note: "get the file back" }],
    view: "playbook",
    exits: [5, 6],
  },
  {
    name: "playbook version list",
    group: "Agents",
    summary: "List the versions of a playbook, newest first",
    args: [playbook],
    examples: [{ run: "outdial playbook version list welcome", note: "which one is production" }],
    view: "version",
    exits: [5, 6],
  },
  {
    name: "playbook version promote",
    group: "Agents",
    summary: "Make a version production",
    description:
      "Takes effect at once for new calls; calls already queued keep the version they were created with.",
    args: [
      playbook,
      { name: "version", summary: "id of the version, or a unique beginning of it", complete: "version" },
    ],
    examples: [{ run: "outdial playbook version promote welcome 0197d4c2-7f3a", note: "also the way back" }],
    view: "playbook",
    exits: [5, 6],
  },
];

const trunkCommands: readonly CommandSpec[] = [
  {
    name: "trunk add",
    group: "Telephony",
    summary: "Add a trunk: a SIP provider that carries the calls",
    description:
      "A password is read from standard input, a file or a prompt, never from an argument; the daemon keeps it in an owner-only file. --preset begins with what is known of a provider, and flags say otherwise. --sandbox adds the built-in simulated carrier.",
    args: [{ name: "name", summary: "name of the trunk", complete: "nothing" }],
    options: addTrunkOptions,
    examples: [
      {
        run: "outdial trunk add main --server sip.example.com --username 34910000000 --caller-id +34910000000 --default",
        note: "asks for the password",
      },
      {
        run: "outdial trunk add pbx --server 192.0.2.10:5060 --caller-id +34910000000",
        note: "known by its address, without password",
      },
      {
        run: "outdial trunk add fr --preset ovh --username 0033123456789 --caller-id +33123456789",
        note: "registers, and dials as in France",
      },
      {
        run: "outdial trunk add safe --preset twilio --server clinic.pstn.twilio.com --transport tls --srtp required --caller-id +34910000000",
        note: "signalling and audio encrypted",
      },
    ],
    view: "trunk",
    exits: [3, 6, 10],
  },
  {
    name: "trunk list",
    group: "Telephony",
    summary: "List trunks",
    examples: [{ run: "outdial trunks list", note: "and which one is the default" }],
    view: "trunk",
    exits: [6],
  },
  {
    name: "trunk view",
    group: "Telephony",
    summary: "Show a trunk",
    args: [trunk],
    examples: [{ run: "outdial trunk view main", note: "its settings, without the password" }],
    view: "trunk",
    exits: [5, 6],
  },
  {
    name: "trunk edit",
    group: "Telephony",
    summary: "Change a trunk",
    description:
      'What is not given stays as it is; an empty value takes a setting back: --domain "". Calls on the line go on as they are.',
    args: [trunk],
    options: editTrunkOptions,
    examples: [
      { run: "outdial trunk edit main --transport tls --srtp required", note: "encrypt from now on" },
      { run: "outdial trunk edit main --password-stdin < new-password", note: "another password" },
    ],
    view: "trunk",
    exits: [3, 5, 6, 10],
  },
  {
    name: "trunk test",
    group: "Telephony",
    summary: "Ask a trunk whether it works",
    description:
      "Looks up its name, sends OPTIONS, and looks at the certificate, at the registration and at where the provider sees us. A trunk that was held takes calls again when all is well.",
    args: [trunk],
    examples: [{ run: "outdial trunk test main", note: "exit code 9 when something is wrong" }],
    view: "trunkCheck",
    exits: [5, 6, 9],
  },
  {
    name: "trunk trace",
    group: "Telephony",
    summary: "Follow SIP messages as they pass, or show those of a call",
    description:
      "Passwords and keys of encrypted audio are left out. Without a name, all trunks; of a call that is over, what was kept of it.",
    args: [{ ...trunk, optional: true }],
    options: [
      { flags: "--call <id>", summary: "only messages of this call, from its beginning", complete: "call" },
      { flags: "--verbose", summary: "the messages themselves, not only their first lines" },
      {
        flags: "--pcap <file>",
        summary: "write a capture, too; - for standard output alone",
        complete: "file",
      },
    ],
    examples: [
      { run: "outdial trunk trace main", note: "registering, calls, refusals" },
      { run: "outdial trunk trace --call 0197d4c2-7f3a --verbose", note: "one call, word for word" },
      { run: "outdial trunk trace main --pcap - | wireshark -k -i -", note: "live in Wireshark" },
    ],
    exits: [5, 6, 130],
  },
  {
    name: "trunk remove",
    group: "Telephony",
    summary: "Remove a trunk",
    args: [trunk],
    examples: [{ run: "outdial trunk remove main", note: "asks first" }],
    exits: [3, 5, 6, 10],
  },
  {
    name: "trunk default",
    group: "Telephony",
    summary: "Use a trunk when none is named",
    args: [trunk],
    examples: [{ run: "outdial trunk default main", note: "from the sandbox to the real one" }],
    view: "trunk",
    exits: [5, 6],
  },
  {
    name: "sandbox serve",
    group: "Telephony",
    summary: "Run the simulated carrier by itself, in the foreground",
    description:
      "The daemon has one of its own; this one is for other SIP clients, or for a machine of its own.",
    options: [
      { flags: "--listen <host:port>", summary: "where; default 127.0.0.1:5070", complete: "nothing" },
    ],
    examples: [{ run: "outdial sandbox serve --listen 127.0.0.1:5070", note: "Ctrl-C ends it" }],
    anywhere: true,
    exits: [130],
  },
  {
    name: "sandbox numbers",
    group: "Telephony",
    summary: "List the numbers of the simulated carrier and what each does",
    examples: [{ run: "outdial sandbox numbers", note: "what +999 000 0nnn does" }],
    view: "sandboxNumber",
    anywhere: true,
  },
];

/** The rows of `outdial playbook ...`, `outdial trunk ...` and `outdial sandbox ...`. */
export const setupCommands: readonly CommandSpec[] = [...playbookCommands, ...trunkCommands];
