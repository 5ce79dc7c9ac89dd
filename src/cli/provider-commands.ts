import type { CommandSpec } from "./command-spec.ts";
import type { ArgSpec } from "./option-spec.ts";

const provider: ArgSpec = {
  name: "name",
  summary: "name of the provider in config.toml",
  complete: "nothing",
};

export const providerCommands: readonly CommandSpec[] = [
  {
    name: "provider list",
    group: "Agents",
    summary: "List AI providers and what each does",
    description:
      "Providers are configured in config.toml: [providers.NAME] with kind, base_url and api_key, and [voice_models.fast] or [voice_models.human] with ears, brain and mouth as NAME/MODEL. Without any, the built-in script and voice are used.",
    examples: [{ run: "outdial provider list", note: "who gets audio or text of calls" }],
    view: "provider",
    exits: [6],
  },
  {
    name: "provider set",
    group: "Agents",
    summary: "Put a provider's key into the keychain",
    description:
      "The key is read from a prompt, standard input or a file, never from an argument, and kept by the system's keychain only. Where there is none, let config.toml name an environment variable, a file of yours or a command instead.",
    args: [provider],
    options: [
      { flags: "--key-stdin", summary: "read the key from standard input" },
      { flags: "--key-file <file>", summary: "read the key from a file only you can read", complete: "file" },
    ],
    examples: [
      {
        run: "outdial provider set openai",
        note: 'asks for the key; then api_key = { keychain = "openai" } in config.toml',
      },
    ],
    exits: [2, 3],
  },
  {
    name: "provider test",
    group: "Agents",
    summary: "Try a provider in every role it has",
    description: "Measures the time to the first token and the first audio. Costs one sentence a role.",
    args: [provider],
    examples: [{ run: "outdial provider test openai", note: "exit code 9 when a role does not work" }],
    view: "providerCheck",
    exits: [5, 6, 9],
  },
];
