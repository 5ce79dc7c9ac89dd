import type { TopicText } from "./topic-text.ts";

export interface HelpTopic {
  readonly name: string;
  readonly summary: string;
  readonly load: () => Promise<TopicText>;
}

/** `outdial help <topic>`, each also a man page of section 7. */
export const helpTopics: readonly HelpTopic[] = [
  {
    name: "exit-codes",
    summary: "What the exit codes mean",
    load: async () => (await import("./topics-output.ts")).exitCodesTopic,
  },
  {
    name: "formatting",
    summary: "Output formats, fields, times",
    load: async () => (await import("./topics-output.ts")).formattingTopic,
  },
  {
    name: "environment",
    summary: "Variables and files that outdial reads",
    load: async () => (await import("./topics-setup.ts")).environmentTopic,
  },
  {
    name: "csv",
    summary: "How contact files are read",
    load: async () => (await import("./topics-calls.ts")).csvTopic,
  },
  {
    name: "test-numbers",
    summary: "Numbers of the simulated carrier",
    load: async () => (await import("./topics-calls.ts")).testNumbersTopic,
  },
  {
    name: "trunk-settings",
    summary: "Providers, what they want, and how a trunk is",
    load: async () => (await import("./topics-trunks.ts")).trunksTopic,
  },
  {
    name: "cron",
    summary: "Launching from cron and scripts",
    load: async () => (await import("./topics-setup.ts")).cronTopic,
  },
  {
    name: "statuses",
    summary: "What the status of a call means",
    load: async () => (await import("./topics-calls.ts")).statusesTopic,
  },
  {
    name: "playbook-file",
    summary: "What a playbook file says",
    load: async () => (await import("./topics-calls.ts")).playbookFileTopic,
  },
  {
    name: "security",
    summary: "Tokens, passwords, who may do what",
    load: async () => (await import("./topics-setup.ts")).securityTopic,
  },
];
