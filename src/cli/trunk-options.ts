import type { OptionSpec } from "./option-spec.ts";
import { trunkPresets } from "./trunk-presets.ts";

const text = { complete: "nothing" } as const;

/** What `trunk add` and `trunk edit` both take. */
const settingOptions: readonly OptionSpec[] = [
  {
    flags: "--server <host[:port]>",
    summary: "address of the provider; without a port DNS says which",
    ...text,
  },
  { flags: "--username <name>", summary: "user name, when the provider wants a password", ...text },
  { flags: "--password-stdin", summary: "read the password from standard input" },
  {
    flags: "--password-file <file>",
    summary: "read the password from a file only you can read",
    complete: "file",
  },
  { flags: "--caller-id <number>", summary: "number shown to the called person", ...text },
  { flags: "--codecs <list>", summary: "of PCMA, PCMU and G722, in order of preference", ...text },
  { flags: "--max-calls <n>", summary: "calls at once", ...text },
  { flags: "--rate <n>", summary: "new calls a second", ...text },
  { flags: "--priority <n>", summary: "of several trunks the smallest is taken first; default 10", ...text },
  { flags: "--transport <name>", summary: "how to reach it; default udp", choices: ["udp", "tcp", "tls"] },
  {
    flags: "--domain <name>",
    summary: "name in SIP addresses and in the certificate, if not the server's",
    ...text,
  },
  { flags: "--proxy <host[:port]>", summary: "send everything through this server", ...text },
  { flags: "--register", summary: "tell the provider where we are, and go on telling it" },
  { flags: "--no-register", summary: "do not" },
  { flags: "--register-expires <time>", summary: "for how long to ask; default 10m", ...text },
  {
    flags: "--srtp <when>",
    summary: "encrypt the audio; needs --transport tls",
    choices: ["off", "required"],
  },
  { flags: "--from-user <name>", summary: "user in From, if not the caller id", ...text },
  {
    flags: "--number-format <format>",
    summary: "how numbers are dialled: +{e164} (default), 00{e164}, {national:FR}",
    ...text,
  },
  {
    flags: "--caller-id-header <name>",
    summary: "the header that says who calls",
    choices: ["from", "p-asserted-identity", "p-preferred-identity", "remote-party-id"],
  },
  { flags: "--display-name <text>", summary: "name shown with the number", ...text },
  { flags: "--privacy", summary: "do not show the number to the called person" },
  { flags: "--no-privacy", summary: "show it" },
  { flags: "--header <name=value>", summary: "a header for every call; again for more", many: true, ...text },
  {
    flags: "--ca-file <file>",
    summary: "certificate authority of a private exchange, PEM",
    complete: "file",
  },
];

/** Options of `outdial trunk add`. */
export const addTrunkOptions: readonly OptionSpec[] = [
  {
    flags: "--preset <name>",
    summary: "begin with what is known of a provider",
    choices: trunkPresets.map(({ name }) => name),
  },
  ...settingOptions,
  { flags: "--default", summary: "use it when no trunk is named" },
  {
    flags: "--sandbox",
    summary: 'a sandbox carrier instead of a provider: the one inside, or --server of "sandbox serve"',
  },
];

/** Options of `outdial trunk edit`. */
export const editTrunkOptions: readonly OptionSpec[] = [
  { flags: "--rename <name>", summary: "give it another name", ...text },
  ...settingOptions,
];
