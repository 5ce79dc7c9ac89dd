import type { LanguageModel } from "#talk";
import type { Endpoint } from "./endpoint.ts";
import { jsonOf, send, warmUp } from "./http.ts";
import { isObject, listAt, numberAt, parseJson, textAt, type JsonObject } from "./json-value.ts";
import { answerObject, type Rung } from "./object-answer.ts";
import { providerError, refusalError } from "./provider-error.ts";
import { eventsOf } from "./sse.ts";
import type { LanguageDelta, LanguageRequest, Message, Tool, ToolCall } from "./language-shapes.ts";

export interface AnthropicOptions {
  readonly endpoint: Endpoint;
  readonly model: string;
  /** Until the first word. */
  readonly firstTokenMs: number;
  /** More fields of every request, e.g. `thinking`. */
  readonly extraBody?: JsonObject;
}

type Finish = Extract<LanguageDelta, { type: "finish" }>;

/** Of the protocol, in a header of every request. From it on a request with a temperature is refused. */
export const anthropicVersion = "2026-10-21";
/** The protocol wants a limit; a spoken answer is far below it. */
const defaultMaxTokens = 1024;
const objectLimitMs = 60_000;
const rungs: readonly Rung[] = ["strict", "prompt"];

/** `POST …/v1/messages`. `stream` rejects with a `provider-…` error, also when it ends before the answer does. */
export function anthropicMessages(options: AnthropicOptions): LanguageModel {
  const { endpoint } = options;
  let rung: Rung = "strict";
  return {
    get capabilities(): LanguageModel["capabilities"] {
      return { tools: true, jsonSchema: rung };
    },
    warm: (signal) => warmUp(endpoint, "/v1/models", signal),
    stream,
    object,
  };

  async function* stream(request: LanguageRequest, signal: AbortSignal): AsyncGenerator<LanguageDelta> {
    const json = { ...bodyOf(request), ...toolsOf(request.tools), stream: true };
    const what = { path: "/v1/messages", json, accept: "text/event-stream" };
    const answer = await send(endpoint, { ...what, firstMs: options.firstTokenMs }, signal);
    const reply = new Reply(endpoint);
    for await (const { data } of eventsOf(endpoint, answer)) {
      const event = parseJson(data);
      if (!isObject(event)) throw badAnswer(endpoint, "sent an event that is no JSON");
      const delta = reply.take(event);
      if (reply.begun) answer.progress();
      if (delta !== undefined) yield delta;
      if (reply.over) break;
    }
    if (!reply.over) {
      const message = `${endpoint.name} ended the stream before its answer`;
      throw providerError("provider-bad-answer", message, { retryable: true });
    }
    yield reply.finish();
  }

  async function object(
    request: LanguageRequest,
    schema: Readonly<Record<string, unknown>>,
    signal: AbortSignal,
  ): Promise<unknown> {
    return answerObject({
      name: endpoint.name,
      messages: request.messages,
      schema,
      rungs: rungs.slice(rungs.indexOf(rung)),
      ask: (step, messages) => ask({ ...request, messages }, { step, schema }, signal),
      onRung: (working) => (rung = working),
    });
  }

  async function ask(
    request: LanguageRequest,
    form: { step: Rung; schema: Readonly<Record<string, unknown>> },
    signal: AbortSignal,
  ): Promise<string | undefined> {
    const strict = form.step === "strict";
    const format = { output_config: { format: { type: "json_schema", schema: form.schema } } };
    const json = { ...bodyOf(request), ...(strict ? format : {}) };
    const what = { path: "/v1/messages", json, statuses: strict ? [400] : [], firstMs: objectLimitMs };
    const answer = await send(endpoint, what, signal);
    const reply = await jsonOf(endpoint, answer);
    if (answer.status === 400) return undefined;
    return listAt(reply, "content")
      .map((block) => (textAt(block, "type") === "text" ? (textAt(block, "text") ?? "") : ""))
      .join("");
  }

  function bodyOf(request: LanguageRequest): Record<string, unknown> {
    const system = request.messages.flatMap((message) => (message.role === "system" ? [message.text] : []));
    return {
      model: options.model,
      max_tokens: request.maxTokens ?? defaultMaxTokens,
      ...(system.length === 0 ? {} : { system: system.join("\n\n") }),
      messages: wireMessages(request.messages),
      ...options.extraBody,
    };
  }
}

/** A streamed answer as far as it has come. */
class Reply {
  begun = false;
  over = false;
  readonly #endpoint: Endpoint;
  #tool: { id: string; name: string; json: string } | undefined;
  #reason: Finish["reason"] = "stop";
  #inputTokens = 0;
  #outputTokens = 0;

  constructor(endpoint: Endpoint) {
    this.#endpoint = endpoint;
  }

  /** Takes an event of any type, known or not. */
  take(event: JsonObject): LanguageDelta | undefined {
    switch (event["type"]) {
      case "message_start":
        this.#inputTokens = numberAt(event, "message", "usage", "input_tokens") ?? 0;
        return undefined;
      case "content_block_start":
        this.#begin(event);
        return undefined;
      case "content_block_delta":
        return this.#more(event);
      case "content_block_stop":
        return this.#end();
      case "message_delta":
        this.#outputTokens = numberAt(event, "usage", "output_tokens") ?? this.#outputTokens;
        this.#reason = reasons[textAt(event, "delta", "stop_reason") ?? ""] ?? "stop";
        return undefined;
      case "message_stop":
        this.over = true;
        return undefined;
      case "error":
        throw streamError(this.#endpoint, event);
      default:
        return undefined;
    }
  }

  finish(): Finish {
    const usage = { inputTokens: this.#inputTokens, outputTokens: this.#outputTokens };
    return { type: "finish", reason: this.#reason, usage };
  }

  #begin(event: JsonObject): void {
    if (textAt(event, "content_block", "type") !== "tool_use") return;
    const [id, name] = [textAt(event, "content_block", "id"), textAt(event, "content_block", "name")];
    this.#tool = { id: id ?? "", name: name ?? "", json: "" };
  }

  #more(event: JsonObject): LanguageDelta | undefined {
    this.begun = true;
    if (this.#tool !== undefined) this.#tool.json += textAt(event, "delta", "partial_json") ?? "";
    const text = textAt(event, "delta", "text") ?? "";
    return text === "" ? undefined : { type: "text", text };
  }

  #end(): LanguageDelta | undefined {
    const tool = this.#tool;
    this.#tool = undefined;
    if (tool === undefined) return undefined;
    const value = parseJson(tool.json.trim() === "" ? "{}" : tool.json);
    if (value === undefined || tool.name === "")
      throw badAnswer(this.#endpoint, "called a tool without sense");
    return { type: "tool-call", call: { id: tool.id, name: tool.name, arguments: value } };
  }
}

const reasons: Readonly<Record<string, Finish["reason"]>> = {
  end_turn: "stop",
  stop_sequence: "stop",
  max_tokens: "length",
  model_context_window_exceeded: "length",
  tool_use: "tool-calls",
  refusal: "filter",
};

/** Statuses of the errors that may come in the middle of a stream. */
const errorStatuses: Readonly<Record<string, number>> = {
  authentication_error: 401,
  permission_error: 403,
  not_found_error: 404,
  invalid_request_error: 400,
  rate_limit_error: 429,
  api_error: 500,
  overloaded_error: 529,
};

function streamError(endpoint: Endpoint, event: JsonObject): Error {
  const words = endpoint.quote(textAt(event, "error", "message") ?? "");
  const status = errorStatuses[textAt(event, "error", "type") ?? ""] ?? 500;
  return refusalError(endpoint, { status, words });
}

/** User and assistant in turn, beginning with the user, as the protocol wants them. */
function wireMessages(messages: readonly Message[]): readonly JsonObject[] {
  const wire: { role: "user" | "assistant"; content: JsonObject[] }[] = [];
  for (const message of messages) {
    if (message.role === "system") continue;
    const role = message.role === "assistant" ? "assistant" : "user";
    const blocks = blocksOf(message);
    const last = wire.at(-1);
    if (last?.role === role) last.content.push(...blocks);
    else if (blocks.length > 0) wire.push({ role, content: blocks });
  }
  // An agent speaks first on the phone; the protocol does not know that.
  if (wire[0]?.role !== "user") wire.unshift({ role: "user", content: [{ type: "text", text: "…" }] });
  return wire;
}

function blocksOf(message: Message): JsonObject[] {
  switch (message.role) {
    case "system":
      return [];
    case "user":
      return textBlock(message.text);
    case "tool":
      return [{ type: "tool_result", tool_use_id: message.callId, content: message.text }];
    case "assistant":
      return [
        ...textBlock(message.cutOff === true ? `${message.text} —` : message.text),
        ...(message.toolCalls ?? []).map(toolUse),
      ];
  }
}

/** Blocks of nothing but space are refused. */
function textBlock(text: string): JsonObject[] {
  return text.trim() === "" ? [] : [{ type: "text", text }];
}

function toolUse(call: ToolCall): JsonObject {
  return { type: "tool_use", id: call.id, name: call.name, input: call.arguments };
}

function toolsOf(tools: readonly Tool[] | undefined): JsonObject {
  if (tools === undefined || tools.length === 0) return {};
  return {
    tools: tools.map(({ name, description, parameters }) => ({
      name,
      description,
      input_schema: parameters,
    })),
  };
}

function badAnswer(endpoint: Endpoint, what: string): Error {
  return providerError("provider-bad-answer", `${endpoint.name} ${what}`);
}
