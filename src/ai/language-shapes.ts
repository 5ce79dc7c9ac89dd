import type { LanguageModel } from "#talk";

/*
 * The parts of talk's language model port by name.
 */

export type LanguageRequest = Parameters<LanguageModel["stream"]>[0];
export type LanguageDelta =
  ReturnType<LanguageModel["stream"]> extends AsyncIterable<infer Delta> ? Delta : never;
export type Message = LanguageRequest["messages"][number];
export type Tool = NonNullable<LanguageRequest["tools"]>[number];
export type ToolCall = Extract<LanguageDelta, { type: "tool-call" }>["call"];
