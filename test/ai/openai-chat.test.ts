import OpenAI from "openai";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { openEndpoint, type Endpoint } from "../../src/ai/endpoint.ts";
import { openAiChat } from "../../src/ai/openai-chat.ts";
import { collect, failureOf } from "../support/vendors/collect.ts";
import {
  chatEvent,
  startEvents,
  startOpenAiServer,
  type OpenAiScript,
} from "../support/vendors/openai-server.ts";
import { json, makeCertificate, type VendorServer } from "../support/vendors/vendor-server.ts";
import { VirtualClock } from "../support/virtual-clock.ts";
import type { LanguageRequest, Message } from "../../src/ai/language-shapes.ts";

const key = "sk-test-0123456789";
const never = new AbortController().signal;
const question: LanguageRequest = { messages: [{ role: "user", text: "¿Hola?" }] };
const schema = {
  type: "object",
  properties: { ok: { type: "boolean" } },
  required: ["ok"],
  additionalProperties: false,
};

const opened: AsyncDisposable[] = [];
afterEach(async () => {
  for (const one of opened.splice(0)) await one[Symbol.asyncDispose]();
});

async function start(script: Partial<OpenAiScript> = {}): Promise<VendorServer> {
  const server = await startOpenAiServer({ key, ...script });
  opened.push(server);
  return server;
}

function endpointTo(server: VendorServer, options: { key?: string; clock?: VirtualClock } = {}): Endpoint {
  const endpoint = openEndpoint({
    name: "local",
    baseUrl: `${server.url}/v1`,
    credential: { header: "authorization", prefix: "Bearer ", secret: options.key ?? key },
    ...(server.ca === undefined ? {} : { ca: server.ca }),
    ...(options.clock === undefined ? {} : { clock: options.clock }),
  });
  opened.push(endpoint);
  return endpoint;
}

function modelAt(endpoint: Endpoint): ReturnType<typeof openAiChat> {
  const limits = { maxTokensField: "max_tokens", firstTokenMs: 4000 } as const;
  return openAiChat({ endpoint, model: "m", jsonSchema: "strict", ...limits });
}

const bodyOf = (server: VendorServer, index = 0): Record<string, unknown> =>
  JSON.parse(server.requests[index]?.body.toString("utf8") ?? "{}") as Record<string, unknown>;

describe("the fake server, seen by the vendor's own client", () => {
  test("streams a chat, calls tools and speaks", async () => {
    const calls = [{ id: "call_1", name: "end_call", parts: ['{"reason"', ':"done"}'] }];
    const server = await start({ words: ["Buenos", " días"], calls });
    const client = new OpenAI({ apiKey: key, baseURL: `${server.url}/v1`, maxRetries: 0 });
    const stream = client.chat.completions.stream({
      model: "m",
      messages: [{ role: "user", content: "hola" }],
      tools: [{ type: "function", function: { name: "end_call", parameters: {} } }],
    });
    const { choices } = await stream.finalChatCompletion();
    expect(choices[0]?.message.content).toBe("Buenos días");
    const call = choices[0]?.message.tool_calls?.[0];
    expect(call?.type === "function" && call.function.arguments).toBe('{"reason":"done"}');
    const speech = await client.audio.speech.create({
      model: "s",
      voice: "nova",
      input: "hola",
      response_format: "pcm",
    });
    expect((await speech.arrayBuffer()).byteLength).toBe(4800);
    const text = await client.audio.transcriptions.create({ model: "t", file: new File(["x"], "x.wav") });
    expect(text.text).toBe("");
  });

  test("refuses a wrong key", async () => {
    const server = await start();
    const client = new OpenAI({ apiKey: "sk-wrong", baseURL: `${server.url}/v1`, maxRetries: 0 });
    await expect(client.models.list()).rejects.toThrow(OpenAI.AuthenticationError);
  });
});

describe("a chat", () => {
  test("streams its words, then how it ended and what it cost", async () => {
    const server = await start({ words: ["¡Buenos", " días", "! 👋"] });
    const { items } = await collect(modelAt(endpointTo(server)).stream(question, never));
    expect(items).toEqual([
      { type: "text", text: "¡Buenos" },
      { type: "text", text: " días" },
      { type: "text", text: "! 👋" },
      { type: "finish", reason: "stop", usage: { inputTokens: 9, outputTokens: 3 } },
    ]);
  });

  test("goes over TLS to an authority that was named, and to no other", async () => {
    const server = await startOpenAiServer({ key, words: ["secure"] }, makeCertificate());
    opened.push(server);
    const { items } = await collect(modelAt(endpointTo(server)).stream(question, never));
    expect(items[0]).toEqual({ type: "text", text: "secure" });
    const stranger = endpointTo({ ...server, ca: undefined });
    const error = await failureOf(
      collect(modelAt(stranger).stream(question, never)).then(({ error: e }) => Promise.reject(e)),
    );
    expect(error).toMatchObject({ code: "provider-unreachable", retryable: false });
    expect(error.hint).toContain("ca_file");
  });

  test("sends the whole conversation in the vendor's words", async () => {
    const server = await start({ words: ["ok"] });
    const messages: Message[] = [
      { role: "system", text: "Be brief." },
      { role: "assistant", text: "Good morning, I am", cutOff: true },
      { role: "user", text: "What?" },
      { role: "assistant", text: "", toolCalls: [{ id: "c1", name: "look_up", arguments: { day: 3 } }] },
      { role: "tool", callId: "c1", text: "free" },
    ];
    const tools = [{ name: "look_up", description: "Looks up a day.", parameters: { type: "object" } }];
    await collect(
      modelAt(endpointTo(server)).stream({ messages, tools, maxTokens: 90, temperature: 0 }, never),
    );
    expect(bodyOf(server)).toEqual({
      model: "m",
      max_tokens: 90,
      temperature: 0,
      stream: true,
      stream_options: { include_usage: true },
      tools: [{ type: "function", function: tools[0] }],
      messages: [
        { role: "system", content: "Be brief." },
        { role: "assistant", content: "Good morning, I am —" },
        { role: "user", content: "What?" },
        {
          role: "assistant",
          content: "",
          tool_calls: [{ id: "c1", type: "function", function: { name: "look_up", arguments: '{"day":3}' } }],
        },
        { role: "tool", tool_call_id: "c1", content: "free" },
      ],
    });
  });

  test("calls tools whose arguments come in pieces", async () => {
    const calls = [
      { id: "a", name: "press", parts: ['{"digits', '":"1"}'] },
      { id: "b", name: "end_call", parts: [] },
    ];
    const server = await start({ calls });
    const { items } = await collect(modelAt(endpointTo(server)).stream(question, never));
    expect(items.slice(0, 2)).toEqual([
      { type: "tool-call", call: { id: "a", name: "press", arguments: { digits: "1" } } },
      { type: "tool-call", call: { id: "b", name: "end_call", arguments: {} } },
    ]);
    expect(items[2]).toMatchObject({ type: "finish", reason: "tool-calls" });
  });

  test("keeps whole calls apart that a server sends without an index of their own", async () => {
    const server = await start();
    server.once((_, response) => {
      startEvents(response);
      for (const id of ["a", "b"])
        response.write(
          chatEvent({ tool_calls: [{ index: 0, id, function: { name: `do_${id}`, arguments: "{}" } }] }),
        );
      response.end(`${chatEvent({}, "stop")}data: [DONE]\n\n`);
    });
    const { items } = await collect(modelAt(endpointTo(server)).stream(question, never));
    expect(items.map((item) => (item.type === "tool-call" ? item.call.name : item.type))).toEqual([
      "do_a",
      "do_b",
      "finish",
    ]);
    expect(items[2]).toMatchObject({ reason: "tool-calls" });
  });

  test("that is aborted in the middle ends with the signal's reason and closes the connection", async () => {
    const server = await start();
    server.once((_, response) => {
      startEvents(response);
      response.write(chatEvent({ content: "One" }));
    });
    const abort = new AbortController();
    const reason = new Error("the callee spoke");
    const found: unknown[] = [];
    const reading = (async () => {
      for await (const delta of modelAt(endpointTo(server)).stream(question, abort.signal)) {
        found.push(delta);
        abort.abort(reason);
      }
    })();
    await expect(reading).rejects.toBe(reason);
    expect(found).toEqual([{ type: "text", text: "One" }]);
    expect(await server.requests[0]?.abandoned).toBe(true);
  });

  test("that is left in the middle closes the connection too", async () => {
    const server = await start();
    server.once((_, response) => {
      startEvents(response);
      response.write(chatEvent({ content: "One" }));
    });
    for await (const _ of modelAt(endpointTo(server)).stream(question, never)) break;
    expect(await server.requests[0]?.abandoned).toBe(true);
  });
});

describe("a model that does not take every field", () => {
  test("is asked without them, and from then on at once", async () => {
    const server = await start({ words: ["ok"] });
    for (const param of ["temperature", "max_tokens"]) {
      const error = { message: `Unsupported: ${param}`, code: "unsupported_parameter", param };
      server.once((_, response) => json(response, 400, { error }));
    }
    const model = modelAt(endpointTo(server));
    const request = { ...question, temperature: 0, maxTokens: 50 };
    expect((await collect(model.stream(request, never))).items[0]).toEqual({ type: "text", text: "ok" });
    await collect(model.stream(request, never));
    expect(server.requests).toHaveLength(4);
    for (const index of [2, 3]) {
      expect(bodyOf(server, index)).toMatchObject({ max_completion_tokens: 50 });
      expect(bodyOf(server, index)).not.toHaveProperty("temperature");
      expect(bodyOf(server, index)).not.toHaveProperty("max_tokens");
    }
  });

  test("that refuses anything else is told so", async () => {
    const server = await start();
    const error = { message: "messages: too many", param: "messages" };
    server.once((_, response) => json(response, 400, { error }));
    const outcome = await collect(modelAt(endpointTo(server)).stream(question, never));
    expect(outcome.error).toMatchObject({ code: "provider-refused" });
    expect(server.requests).toHaveLength(1);
  });
});

describe("a chat that goes wrong", () => {
  const failure = async (server: VendorServer, options: { key?: string } = {}) => {
    const { error } = await collect(modelAt(endpointTo(server, options)).stream(question, never));
    return error as Error & { code: string; hint?: string; retryable: boolean };
  };

  test("with a wrong key says what to do, and never the key", async () => {
    const server = await start();
    const secret = "sk-wrong-abcdef";
    const error = await failure(server, { key: secret });
    expect(error).toMatchObject({ code: "provider-refused", retryable: false });
    expect(error.message).toContain("(401)");
    expect(error.hint).toContain("api_key of providers.local");
    expect(JSON.stringify([error.message, error.hint, error.stack, error.cause])).not.toContain(secret);
    expect(server.requests).toHaveLength(1);
  });

  test("with too many requests waits as long as it is told, and asks once more", async () => {
    const server = await start({ words: ["again"] });
    server.once((_, response) =>
      json(response, 429, { error: { message: "slow down" } }, { "retry-after": "1" }),
    );
    const clock = new VirtualClock();
    const reading = collect(modelAt(endpointTo(server, { clock })).stream(question, never));
    await server.requests.at(0)?.abandoned;
    while (server.requests.length < 2) {
      clock.advance(server.requests.length === 1 ? 100 : 0);
      await new Promise((resolve) => void setImmediate(resolve));
    }
    expect(clock.now()).toBeGreaterThanOrEqual(1000);
    expect((await reading).items[0]).toEqual({ type: "text", text: "again" });
  });

  test("with a wait longer than our patience fails at once and says how long", async () => {
    const server = await start();
    server.once((_, response) =>
      json(response, 429, { error: { message: "quota" } }, { "retry-after": "60" }),
    );
    const error = await failure(server);
    expect(error).toMatchObject({ code: "provider-rate-limited", retryable: true });
    expect(error.hint).toContain("in 60 s");
    expect(server.requests).toHaveLength(1);
  });

  test("on a server out of order asks once more, then tells", async () => {
    const server = await start();
    for (const _ of [1, 2])
      server.once((_r, response) => json(response, 503, { error: "loading the model" }));
    const error = await failure(server);
    expect(error).toMatchObject({ code: "provider-unreachable", retryable: true });
    expect(error.message).toContain("loading the model");
    expect(server.requests).toHaveLength(2);
  });

  test("is asked again when the connection is dropped before the answer", async () => {
    const server = await start({ words: ["back"] });
    server.once((_, response) => void response.socket?.destroy());
    const { items } = await collect(modelAt(endpointTo(server)).stream(question, never));
    expect(items[0]).toEqual({ type: "text", text: "back" });
  });

  test("is not asked again when it is dropped after its first words", async () => {
    const server = await start();
    server.once((_, response) => {
      startEvents(response);
      response.write(chatEvent({ content: "One" }), () => void response.socket?.destroy());
    });
    const { items, error } = await collect(modelAt(endpointTo(server)).stream(question, never));
    expect(items).toEqual([{ type: "text", text: "One" }]);
    expect(error).toMatchObject({ code: "provider-unreachable", retryable: true });
    expect(server.requests).toHaveLength(1);
  });

  test("where nothing listens says so", async () => {
    const server = await start();
    await server[Symbol.asyncDispose]();
    expect(await failure(server)).toMatchObject({
      code: "provider-unreachable",
      hint: "Nothing listens there: is the server running?",
    });
  });

  test("whose first word is slow is given up, though comments and empty events come", async () => {
    const server = await start();
    server.once((_, response) => {
      startEvents(response);
      response.write(`: thinking\n\n${chatEvent({ role: "assistant", content: "" })}`);
    });
    const clock = new VirtualClock();
    const reading = collect(modelAt(endpointTo(server, { clock })).stream(question, never));
    while (server.requests.length === 0) await new Promise((resolve) => void setImmediate(resolve));
    clock.advance(3999);
    clock.advance(1);
    const { error } = await reading;
    expect(error).toMatchObject({ code: "provider-timeout", retryable: true });
    expect(await server.requests[0]?.abandoned).toBe(true);
  });

  test("has one limit for all attempts together", async () => {
    const server = await start();
    server.once((_, response) => json(response, 503, {}));
    server.once((_, response) => startEvents(response));
    const clock = new VirtualClock();
    const reading = collect(modelAt(endpointTo(server, { clock })).stream(question, never));
    while (server.requests.length < 2) {
      clock.advance(10);
      await new Promise((resolve) => void setImmediate(resolve));
    }
    clock.advance(4000 - clock.now());
    expect((await reading).error).toMatchObject({ code: "provider-timeout" });
  });

  test.each([
    ["an event that is no JSON", "data: {oops\n\n", "no JSON"],
    ["a stream that stops early", chatEvent({ content: "One" }), "before its answer"],
    ["an error inside the stream", 'data: {"error":{"message":"out of memory"}}\n\n', "out of memory"],
    [
      "a tool called with broken arguments",
      chatEvent(
        { tool_calls: [{ index: 0, id: "a", function: { name: "x", arguments: "{" } }] },
        "tool_calls",
      ),
      "without sense",
    ],
    ["an endless event", `data: ${"x".repeat(1_200_000)}`, "without an end"],
  ])("because of %s is told so", async (_name, text, part) => {
    const server = await start();
    server.once((_, response) => {
      startEvents(response);
      response.end(text);
    });
    const error = await failure(server);
    expect(error.code).toBe("provider-bad-answer");
    expect(error.message).toContain(part);
  });

  test("at something that is no chat server is told so", async () => {
    const server = await start();
    server.once((_, response) => void response.end("<html>Welcome</html>"));
    expect(await failure(server)).toMatchObject({ code: "provider-bad-answer" });
  });

  test("is not made with a key that cannot be one", async () => {
    const server = await start();
    const error = (() => {
      try {
        return endpointTo(server, { key: "line\nbreak" });
      } catch (caught) {
        return caught as Error;
      }
    })();
    expect(error).toMatchObject({ code: "secret-unusable" });
    expect((error as Error).message).not.toContain("break");
  });
});

describe("an answer in JSON", () => {
  test("is asked for with the schema", async () => {
    const server = await start({ contents: ['{"ok":true}'] });
    expect(await modelAt(endpointTo(server)).object(question, schema, never)).toEqual({ ok: true });
    expect(bodyOf(server)["response_format"]).toEqual({
      type: "json_schema",
      json_schema: { name: "answer", strict: true, schema },
    });
  });

  test("goes down to what the server knows, and stays there", async () => {
    const server = await start({ formats: ["json_object"], contents: ['{"ok":true}', '{"ok":false}'] });
    const model = modelAt(endpointTo(server));
    expect(await model.object(question, schema, never)).toEqual({ ok: true });
    expect(await model.object(question, schema, never)).toEqual({ ok: false });
    expect(server.requests).toHaveLength(3);
    expect(model.capabilities.jsonSchema).toBe("json");
  });

  test("is found in the words of a model that was only asked", async () => {
    const server = await start({ formats: [], contents: ['Here it is:\n```json\n{"ok": true}\n```\nBye.'] });
    expect(await modelAt(endpointTo(server)).object(question, schema, never)).toEqual({ ok: true });
  });

  test("that is wrong is sent back once with what is wrong", async () => {
    const server = await start({ contents: ['{"ok":"yes"}', '{"ok":true}'] });
    expect(await modelAt(endpointTo(server)).object(question, schema, never)).toEqual({ ok: true });
    const messages = bodyOf(server, 1)["messages"] as { role: string; content: string }[];
    expect(messages.at(-2)).toEqual({ role: "assistant", content: '{"ok":"yes"}' });
    expect(messages.at(-1)?.content).toContain("/ok must be boolean");
  });

  test("that stays wrong is a failure", async () => {
    const server = await start({ contents: ["no", "still no"] });
    const error = await failureOf(modelAt(endpointTo(server)).object(question, schema, never));
    expect(error).toMatchObject({ code: "provider-bad-answer" });
    expect(server.requests).toHaveLength(2);
  });

  test("for a schema that is none is not asked for", async () => {
    const server = await start();
    const error = await failureOf(modelAt(endpointTo(server)).object(question, { type: "wrong" }, never));
    expect(error.code).toBe("schema-invalid");
    expect(server.requests).toHaveLength(0);
  });
});

describe("warming up", () => {
  let server: VendorServer;
  beforeAll(async () => {
    server = await startOpenAiServer({ key, words: ["warm"] });
  });
  afterAll(async () => server[Symbol.asyncDispose]());

  test("leaves a connection open that the first request uses", async () => {
    const model = modelAt(endpointTo(server));
    await model.warm?.(never);
    expect(server.connections.size).toBe(1);
    await new Promise((resolve) => void setImmediate(resolve));
    await collect(model.stream(question, never));
    expect(server.connections.size).toBe(1);
  });

  test("finds a wrong key while the phone still rings", async () => {
    const warming = modelAt(endpointTo(server, { key: "sk-wrong" })).warm?.(never) ?? Promise.resolve();
    expect(await failureOf(warming)).toMatchObject({ code: "provider-refused" });
  });
});
