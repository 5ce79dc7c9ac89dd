import Anthropic from "@anthropic-ai/sdk";
import { afterEach, describe, expect, test } from "vitest";
import { anthropicMessages, anthropicVersion } from "../../src/ai/anthropic-messages.ts";
import { openEndpoint } from "../../src/ai/endpoint.ts";
import {
  anthropicEvent,
  startAnthropicServer,
  type AnthropicScript,
} from "../support/vendors/anthropic-server.ts";
import { collect, failureOf } from "../support/vendors/collect.ts";
import type { VendorServer } from "../support/vendors/vendor-server.ts";
import type { LanguageRequest } from "../../src/ai/language-shapes.ts";
import type { LanguageModel } from "../../src/talk/index.ts";

const key = "sk-ant-test-123";
const never = new AbortController().signal;
const question: LanguageRequest = { messages: [{ role: "user", text: "Hallo?" }] };
const schema = { type: "object", properties: { n: { type: "integer" } }, required: ["n"] };

const opened: AsyncDisposable[] = [];
afterEach(async () => {
  for (const one of opened.splice(0)) await one[Symbol.asyncDispose]();
});

async function start(script: Partial<AnthropicScript> = {}): Promise<VendorServer> {
  const server = await startAnthropicServer({ key, ...script });
  opened.push(server);
  return server;
}

function modelAt(server: VendorServer, secret = key): LanguageModel {
  const endpoint = openEndpoint({
    name: "claude",
    baseUrl: server.url,
    credential: { header: "x-api-key", prefix: "", secret },
    headers: { "anthropic-version": anthropicVersion },
  });
  opened.push(endpoint);
  return anthropicMessages({ endpoint, model: "m", firstTokenMs: 4000 });
}

const bodyOf = (server: VendorServer, index = 0): Record<string, unknown> =>
  JSON.parse(server.requests[index]?.body.toString("utf8") ?? "{}") as Record<string, unknown>;

test("the fake server is one to the vendor's own client", async () => {
  const call = { id: "toolu_1", name: "end_call", parts: ['{"why', '":"done"}'] };
  const server = await start({ words: ["Guten", " Tag"], call });
  const client = new Anthropic({ apiKey: key, baseURL: server.url, maxRetries: 0 });
  const params = { model: "m", max_tokens: 9, messages: [{ role: "user" as const, content: "hallo" }] };
  const message = await client.messages.stream(params).finalMessage();
  expect(message.content).toMatchObject([
    { type: "text", text: "Guten Tag" },
    { type: "tool_use", name: "end_call", input: { why: "done" } },
  ]);
  expect((await client.messages.create(params)).content).toMatchObject([{ type: "text", text: "{}" }]);
  const stranger = new Anthropic({ apiKey: "wrong", baseURL: server.url, maxRetries: 0 });
  await expect(stranger.messages.create(params)).rejects.toThrow(Anthropic.AuthenticationError);
});

describe("the Messages interface", () => {
  test("streams words, a tool call, and how it ended", async () => {
    const call = { id: "toolu_1", name: "press", parts: ['{"digits"', ':"12"}'] };
    const server = await start({ words: ["Grüß", " Gott"], call });
    const { items } = await collect(modelAt(server).stream(question, never));
    expect(items).toEqual([
      { type: "text", text: "Grüß" },
      { type: "text", text: " Gott" },
      { type: "tool-call", call: { id: "toolu_1", name: "press", arguments: { digits: "12" } } },
      { type: "finish", reason: "tool-calls", usage: { inputTokens: 11, outputTokens: 7 } },
    ]);
  });

  test("gets a conversation in turns that begin with the user", async () => {
    const server = await start({ words: ["ok"] });
    const tools = [{ name: "look_up", description: "Looks up.", parameters: { type: "object" } }];
    const request: LanguageRequest = {
      tools,
      temperature: 0,
      messages: [
        { role: "system", text: "Be brief." },
        { role: "assistant", text: "Hello, this is", cutOff: true },
        { role: "user", text: "Yes?" },
        { role: "user", text: "Who is it?" },
        { role: "assistant", text: "", toolCalls: [{ id: "t1", name: "look_up", arguments: {} }] },
        { role: "tool", callId: "t1", text: "free" },
      ],
    };
    await collect(modelAt(server).stream(request, never));
    expect(server.requests[0]?.headers["anthropic-version"]).toBe("2026-10-21");
    expect(bodyOf(server)).not.toHaveProperty("temperature");
    expect(bodyOf(server)).toMatchObject({
      system: "Be brief.",
      tools: [{ name: "look_up", description: "Looks up.", input_schema: { type: "object" } }],
      messages: [
        { role: "user", content: [{ type: "text", text: "…" }] },
        { role: "assistant", content: [{ type: "text", text: "Hello, this is —" }] },
        { role: "user", content: [{ text: "Yes?" }, { text: "Who is it?" }] },
        { role: "assistant", content: [{ type: "tool_use", id: "t1", name: "look_up", input: {} }] },
        { role: "user", content: [{ type: "tool_result", tool_use_id: "t1", content: "free" }] },
      ],
    });
  });

  test("aborted in the middle closes the connection", async () => {
    const server = await start();
    server.once((_, response) => {
      response.writeHead(200, { "content-type": "text/event-stream" });
      const delta = { type: "text_delta", text: "Eins" };
      response.write(anthropicEvent({ type: "content_block_delta", index: 0, delta }));
    });
    const abort = new AbortController();
    const reason = new Error("enough");
    const reading = (async () => {
      for await (const _ of modelAt(server).stream(question, abort.signal)) abort.abort(reason);
    })();
    await expect(reading).rejects.toBe(reason);
    expect(await server.requests[0]?.abandoned).toBe(true);
  });

  test.each([
    ["overloaded_error", "provider-unreachable"],
    ["rate_limit_error", "provider-rate-limited"],
    ["authentication_error", "provider-refused"],
  ])("tells a %s in the middle of a stream", async (type, code) => {
    const server = await start();
    server.once((_, response) => {
      response.writeHead(200, { "content-type": "text/event-stream" });
      response.end(anthropicEvent({ type: "error", error: { type, message: "Sorry" } }));
    });
    const { error } = await collect(modelAt(server).stream(question, never));
    expect(error).toMatchObject({ code, message: expect.stringContaining("Sorry") as string });
  });

  test("that ends before its answer has failed", async () => {
    const server = await start();
    server.once((_, response) => {
      response.writeHead(200, { "content-type": "text/event-stream" });
      response.end(anthropicEvent({ type: "message_start", message: {} }));
    });
    const { error } = await collect(modelAt(server).stream(question, never));
    expect(error).toMatchObject({ code: "provider-bad-answer", retryable: true });
  });

  test("refuses a wrong key, which is in no error", async () => {
    const server = await start();
    const { error } = await collect(modelAt(server, "sk-ant-wrong").stream(question, never));
    expect(error).toMatchObject({ code: "provider-refused" });
    expect(String((error as Error).stack)).not.toContain("sk-ant-wrong");
  });

  test("answers with JSON, bound to the schema where it can be", async () => {
    const server = await start({ contents: ['{"n":"x"}', '{"n":4}'] });
    expect(await modelAt(server).object(question, schema, never)).toEqual({ n: 4 });
    expect(bodyOf(server)["output_config"]).toEqual({ format: { type: "json_schema", schema } });
  });

  test("answers with JSON where it can only be asked for it", async () => {
    const server = await start({ contents: ['Sure: {"n":4}'], knowsFormat: false });
    expect(await modelAt(server).object(question, schema, never)).toEqual({ n: 4 });
    expect(server.requests).toHaveLength(2);
  });

  test("that answers with no JSON twice has failed", async () => {
    const server = await start({ contents: ["a", "b"] });
    expect(await failureOf(modelAt(server).object(question, schema, never))).toMatchObject({
      code: "provider-bad-answer",
    });
  });
});
