import type { LanguageModel } from "#talk";
import type { Endpoint } from "./endpoint.ts";
import { jsonOf, send, textOf, warmUp, type HttpAnswer } from "./http.ts";
import { at, isObject, listAt, numberAt, parseJson, textAt, type JsonObject } from "./json-value.ts";
import { answerObject, type Rung } from "./object-answer.ts";
import { providerError, refusalError, wordsOf, type Refusal } from "./provider-error.ts";
import { eventsOf } from "./sse.ts";
import type { LanguageDelta, LanguageRequest, Message, Tool, ToolCall } from "./language-shapes.ts";

export interface OpenAiChatOptions {
  readonly endpoint: Endpoint;
  readonly model: string;
  /** How far the server is believed to keep to a schema; it is tried from there down. */
  readonly jsonSchema: Rung;
  /** What the limit of an answer is called: `max_completion_tokens` at OpenAI, `max_tokens` at most others. */
  readonly maxTokensField: "max_completion_tokens" | "max_tokens";
  /** Until the first word. */
  readonly firstTokenMs: number;
  /** More fields of every request, e.g. `reasoning_effort`. */
  readonly extraBody?: JsonObject;
}

type Finish = Extract<LanguageDelta, { type: "finish" }>;

const rungs: readonly Rung[] = ["strict", "json", "prompt"];
const limitFields = ["max_completion_tokens", "max_tokens"] as const;
/** What an answer can do without. */
const optionalFields: readonly string[] = ["temperature", "stream_options", ...limitFields];
const longestRefusalBytes = 16_384;
/** A whole answer, not its first word. */
const objectLimitMs = 60_000;

/**
 * `POST …/chat/completions`, as OpenAI and most other servers speak it. `stream` rejects with a `provider-…` error,
 * also when the stream ends before the answer does.
 */
export function openAiChat(options: OpenAiChatOptions): LanguageModel {
  const { endpoint, model } = options;
  let rung = options.jsonSchema;
  // Models differ in what they take (temperature, name of the limit); each refusal is learned once.
  const refusedFields = new Set<string>();
  return {
    get capabilities(): LanguageModel["capabilities"] {
      return { tools: true, jsonSchema: rung };
    },
    warm: (signal) => warmUp(endpoint, "/models", signal),
    stream,
    object,
  };

  async function* stream(request: LanguageRequest, signal: AbortSignal): AsyncGenerator<LanguageDelta> {
    const more = { ...toolsOf(request.tools), stream: true, stream_options: { include_usage: true } };
    const { firstTokenMs: firstMs } = options;
    const answer = await post(request, { more, firstMs, accept: "text/event-stream" }, signal);
    if ("refusal" in answer) throw refusalError(endpoint, answer.refusal);
    const reply = new Reply();
    for await (const { data } of eventsOf(endpoint, answer)) {
      if (data.trim() === "[DONE]") break;
      const chunk = parseJson(data);
      if (!isObject(chunk)) throw badAnswer(endpoint, "sent an event that is no JSON");
      if (chunk["error"] !== undefined) throw inlineError(endpoint, chunk["error"]);
      const text = reply.take(chunk);
      if (reply.begun) answer.progress();
      if (text !== "") yield { type: "text", text };
    }
    if (reply.reason === undefined) throw endedEarly(endpoint);
    for (const call of reply.calls(endpoint)) yield { type: "tool-call", call };
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
    const more = formatOf(form.step, form.schema);
    const answer = await post(request, { more, firstMs: objectLimitMs }, signal);
    if ("refusal" in answer) {
      // A server that does not know `response_format` may say so; on the last rung a refusal is a refusal.
      if (form.step !== "prompt") return undefined;
      throw refusalError(endpoint, answer.refusal);
    }
    const reply = await jsonOf(endpoint, answer);
    const text = textAt(reply, "choices", 0, "message", "content");
    if (text !== undefined) return text;
    throw badAnswer(endpoint, textAt(reply, "choices", 0, "message", "refusal") ?? "gave no text");
  }

  /** Asks, and asks again without a field that the server names as not supported. */
  async function post(
    request: LanguageRequest,
    how: { readonly more: JsonObject; readonly firstMs: number; readonly accept?: string },
    signal: AbortSignal,
  ): Promise<HttpAnswer | { readonly refusal: Refusal }> {
    const { more, ...limits } = how;
    for (;;) {
      const json = bodyOf(request, more);
      const what = { path: "/chat/completions", json, statuses: [400, 422], ...limits };
      const answer = await send(endpoint, what, signal);
      if (answer.status < 400) return answer;
      answer.progress();
      const words = (await textOf(answer, longestRefusalBytes)) ?? "";
      const field = textAt(parseJson(words), "error", "param") ?? "";
      if (!optionalFields.includes(field) || !(field in json))
        return { refusal: { status: answer.status, words: endpoint.quote(wordsOf(words)) } };
      refusedFields.add(field);
    }
  }

  function bodyOf(request: LanguageRequest, more: JsonObject): JsonObject {
    const { messages, maxTokens, temperature } = request;
    const names = [options.maxTokensField, ...limitFields];
    const limit = names.find((name) => !refusedFields.has(name));
    const body = {
      model,
      messages: messages.map(wireMessage),
      ...(maxTokens === undefined || limit === undefined ? {} : { [limit]: maxTokens }),
      ...(temperature === undefined ? {} : { temperature }),
      ...more,
      ...options.extraBody,
    };
    return Object.fromEntries(Object.entries(body).filter(([name]) => !refusedFields.has(name)));
  }
}

/** A streamed answer as far as it has come. */
class Reply {
  reason: Finish["reason"] | undefined;
  /** Whether anything of the answer itself came. */
  begun = false;
  readonly #calls = new Map<number, { id: string; name: string; arguments: string }>();
  #usage: Finish["usage"];
  /** Where the parts of a call belong when the server does not number them. */
  #last = -1;

  /** Takes a chunk; answers its text. */
  take(chunk: JsonObject): string {
    const [inputTokens, outputTokens] = [
      numberAt(chunk, "usage", "prompt_tokens"),
      numberAt(chunk, "usage", "completion_tokens"),
    ];
    if (inputTokens !== undefined && outputTokens !== undefined) this.#usage = { inputTokens, outputTokens };
    const reason = textAt(chunk, "choices", 0, "finish_reason");
    if (reason !== undefined) this.reason = reasons[reason] ?? "stop";
    const delta = at(chunk, "choices", 0, "delta");
    for (const part of listAt(delta, "tool_calls")) this.#part(part);
    const text = textAt(delta, "content") ?? "";
    const thought = textAt(delta, "reasoning_content") ?? textAt(delta, "reasoning") ?? "";
    if (text !== "" || thought !== "" || this.#calls.size > 0 || reason !== undefined) this.begun = true;
    return text;
  }

  calls(endpoint: Endpoint): ToolCall[] {
    return [...this.#calls.values()].map(({ id, name, arguments: text }) => {
      const value = parseJson(text.trim() === "" ? "{}" : text);
      if (value === undefined || name === "") throw badAnswer(endpoint, "called a tool without sense");
      return { id, name, arguments: value };
    });
  }

  finish(): Finish {
    const reason = this.#calls.size > 0 && this.reason === "stop" ? "tool-calls" : (this.reason ?? "stop");
    return { type: "finish", reason, ...(this.#usage === undefined ? {} : { usage: this.#usage }) };
  }

  #part(part: unknown): void {
    const id = textAt(part, "id") ?? "";
    let index = numberAt(part, "index") ?? (id === "" ? this.#last : this.#calls.size);
    const known = this.#calls.get(index);
    // Some servers send whole calls, all with the index 0.
    if (known !== undefined && id !== "" && known.id !== id) index = this.#calls.size;
    const call = this.#calls.get(index) ?? { id, name: "", arguments: "" };
    call.name += textAt(part, "function", "name") ?? "";
    call.arguments += textAt(part, "function", "arguments") ?? "";
    this.#calls.set(index, { ...call, id: call.id === "" ? `call-${index}` : call.id });
    this.#last = index;
  }
}

const reasons: Readonly<Record<string, Finish["reason"]>> = {
  stop: "stop",
  length: "length",
  tool_calls: "tool-calls",
  function_call: "tool-calls",
  content_filter: "filter",
};

function wireMessage(message: Message): JsonObject {
  switch (message.role) {
    case "system":
    case "user":
      return { role: message.role, content: message.text };
    case "tool":
      return { role: "tool", tool_call_id: message.callId, content: message.text };
    case "assistant":
      return {
        role: "assistant",
        content: message.cutOff === true ? `${message.text} —` : message.text,
        ...callsOf(message.toolCalls),
      };
  }
}

function callsOf(calls: readonly ToolCall[] | undefined): JsonObject {
  if (calls === undefined || calls.length === 0) return {};
  const tool_calls = calls.map(({ id, name, arguments: value }) => ({
    id,
    type: "function",
    function: { name, arguments: JSON.stringify(value) },
  }));
  return { tool_calls };
}

function toolsOf(tools: readonly Tool[] | undefined): JsonObject {
  if (tools === undefined || tools.length === 0) return {};
  return {
    tools: tools.map(({ name, description, parameters }) => ({
      type: "function",
      function: { name, description, parameters },
    })),
  };
}

function formatOf(rung: Rung, schema: Readonly<Record<string, unknown>>): JsonObject {
  switch (rung) {
    case "strict":
      return {
        response_format: { type: "json_schema", json_schema: { name: "answer", strict: true, schema } },
      };
    case "json":
      return { response_format: { type: "json_object" } };
    case "prompt":
      return {};
  }
}

function inlineError(endpoint: Endpoint, error: unknown): Error {
  const words = endpoint.quote(
    textAt(error, "message") ?? (typeof error === "string" ? error : "it gave no reason"),
  );
  const status = numberAt(error, "code") ?? numberAt(error, "status") ?? 0;
  if (status >= 300) return refusalError(endpoint, { status, words });
  return badAnswer(endpoint, `broke off: ${words}`);
}

function badAnswer(endpoint: Endpoint, what: string): Error {
  return providerError("provider-bad-answer", `${endpoint.name} ${endpoint.quote(what)}`);
}

function endedEarly(endpoint: Endpoint): Error {
  return providerError("provider-bad-answer", `${endpoint.name} ended the stream before its answer`, {
    retryable: true,
  });
}
