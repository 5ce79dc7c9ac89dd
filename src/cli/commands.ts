import { callCommands } from "./call-commands.ts";
import { campaignCommands } from "./campaign-commands.ts";
import type { CommandSpec, NounSpec } from "./command-spec.ts";
import { helpTopics } from "./help-topics.ts";
import { operateCommands } from "./operate-commands.ts";
import { providerCommands } from "./provider-commands.ts";
import { setupCommands } from "./setup-commands.ts";

const scriptingCommands: readonly CommandSpec[] = [
  {
    name: "completion",
    group: "Scripting",
    summary: "Print the completion script of a shell",
    args: [{ name: "shell", summary: "bash, zsh or fish", choices: ["bash", "zsh", "fish"] }],
    examples: [
      { run: "source <(outdial completion bash)", note: "for this shell; put it into ~/.bashrc" },
      { run: "outdial completion fish > ~/.config/fish/completions/outdial.fish", note: "for good" },
    ],
    anywhere: true,
  },
  {
    name: "help",
    group: "Scripting",
    summary: "Explain a command or a topic",
    args: [
      { name: "topic", summary: "a command, or a topic", optional: true, many: true, complete: "topic" },
    ],
    examples: helpTopics
      .slice(0, 2)
      .map(({ name, summary }) => ({ run: `outdial help ${name}`, note: summary.toLowerCase() })),
    anywhere: true,
    exits: [5],
  },
  {
    name: "__complete",
    group: "Scripting",
    summary: "Candidates for the word under the cursor",
    args: [{ name: "words", summary: "the shell, then the words of the line", many: true }],
    examples: [],
    hidden: true,
    anywhere: true,
  },
  {
    name: "__keyring",
    group: "Scripting",
    summary: "One act on the system's keychain",
    args: [
      { name: "act", summary: "get, set or delete", choices: ["get", "set", "delete"] },
      { name: "name", summary: "name of the entry" },
    ],
    examples: [],
    hidden: true,
    anywhere: true,
  },
];

/** Every command: what the parser, help, completions and man pages are made of. */
export const commands: readonly CommandSpec[] = [
  ...callCommands,
  ...campaignCommands,
  ...setupCommands,
  ...providerCommands,
  ...operateCommands,
  ...scriptingCommands,
];

/** `outdial` by itself. */
export const overview: CommandSpec = {
  name: "",
  group: "Operating",
  summary: "Status and what to do next",
  examples: [],
  view: "status",
  hidden: true,
};

/** First words of commands with verbs. The plural is understood as the same word. */
export const nouns: readonly NounSpec[] = [
  { name: "call", plural: "calls", group: "Calling", summary: "Place calls and read what became of them" },
  { name: "campaign", plural: "campaigns", group: "Calling", summary: "Call lists of contacts" },
  { name: "playbook", plural: "playbooks", group: "Agents", summary: "What the agent says and does" },
  { name: "version", plural: "versions", group: "Agents", summary: "Versions of a playbook" },
  {
    name: "provider",
    plural: "providers",
    group: "Agents",
    summary: "Who hears, thinks and speaks for the agent",
  },
  { name: "trunk", plural: "trunks", group: "Telephony", summary: "SIP providers that carry the calls" },
  {
    name: "sandbox",
    plural: "sandboxes",
    group: "Telephony",
    summary: "A simulated carrier to try everything with",
  },
  {
    name: "daemon",
    plural: "daemons",
    group: "Operating",
    summary: "The background process that places the calls",
  },
  {
    name: "account",
    plural: "accounts",
    group: "Operating",
    summary: "Separate owners of playbooks and calls",
  },
  { name: "token", plural: "tokens", group: "Operating", summary: "Secrets for the HTTP API" },
  { name: "auth", group: "Operating", summary: "Remote services and their tokens" },
];
