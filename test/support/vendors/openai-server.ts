import type { ServerResponse } from "node:http";
import { json, startVendorServer, type SeenRequest, type VendorServer } from "./vendor-server.ts";

/** What the server says when it is asked. */
export interface OpenAiScript {
  readonly key: string;
  /** Pieces of the answer to a chat. */
  readonly words?: readonly string[];
  /** Calls to make instead, each with its arguments in pieces. */
  readonly calls?: readonly {
    readonly id: string;
    readonly name: string;
    readonly parts: readonly string[];
  }[];
  /** Contents of whole answers, in turn. */
  readonly contents?: string[];
  /** Whether `response_format` of this type is known. */
  readonly formats?: readonly string[];
  /** Samples (24 kHz) of any speech. */
  readonly pcm?: Int16Array;
  readonly transcript?: string;
}

/** OpenAI's HTTP interface: chat (whole and streamed), speech, transcriptions, models. */
export async function startOpenAiServer(
  script: OpenAiScript,
  certificate?: { readonly key: string; readonly cert: string },
): Promise<VendorServer> {
  return startVendorServer((request, response) => {
    if (request.headers.authorization !== `Bearer ${script.key}`) {
      const given = request.headers.authorization ?? "";
      const message = `Incorrect API key provided: ${given.replace("Bearer ", "")}.`;
      return json(response, 401, {
        error: { message, type: "invalid_request_error", code: "invalid_api_key" },
      });
    }
    switch (request.path) {
      case "/v1/models":
        return json(response, 200, { object: "list", data: [] });
      case "/v1/chat/completions":
        return chat(script, request, response);
      case "/v1/audio/speech":
        return speech(script, response);
      case "/v1/audio/transcriptions":
        return json(response, 200, {
          text: script.transcript ?? "",
          usage: { type: "duration", seconds: 1 },
        });
      default:
        return json(response, 404, { error: { message: "Unknown request URL" } });
    }
  }, certificate);
}

/** One chunk of a streamed chat as an event. */
export function chatEvent(delta: object, finish: string | null = null): string {
  const chunk = { id: "chatcmpl-1", object: "chat.completion.chunk", created: 1, model: "m" };
  const choices = [{ index: 0, delta, logprobs: null, finish_reason: finish }];
  return `data: ${JSON.stringify({ ...chunk, choices })}\n\n`;
}

export function startEvents(response: ServerResponse): void {
  response.writeHead(200, { "content-type": "text/event-stream; charset=utf-8" });
  response.flushHeaders();
}

function chat(script: OpenAiScript, request: SeenRequest, response: ServerResponse): void {
  const body = JSON.parse(request.body.toString("utf8")) as {
    stream?: boolean;
    response_format?: { type: string };
  };
  const format = body.response_format?.type;
  if (format !== undefined && !(script.formats ?? ["json_schema", "json_object"]).includes(format)) {
    return json(response, 400, { error: { message: `response_format ${format} is not supported` } });
  }
  if (body.stream !== true) {
    const content = script.contents?.shift() ?? "{}";
    const message = { role: "assistant", content, refusal: null };
    return json(response, 200, {
      id: "chatcmpl-1",
      object: "chat.completion",
      created: 1,
      model: "m",
      choices: [{ index: 0, message, finish_reason: "stop", logprobs: null }],
      usage: { prompt_tokens: 9, completion_tokens: 3, total_tokens: 12 },
    });
  }
  startEvents(response);
  response.write(chatEvent({ role: "assistant", content: "" }));
  for (const word of script.words ?? []) response.write(chatEvent({ content: word }));
  for (const [index, call] of (script.calls ?? []).entries()) {
    const begin = { index, id: call.id, type: "function", function: { name: call.name, arguments: "" } };
    response.write(chatEvent({ tool_calls: [begin] }));
    for (const part of call.parts)
      response.write(chatEvent({ tool_calls: [{ index, function: { arguments: part } }] }));
  }
  response.write(chatEvent({}, script.calls === undefined ? "stop" : "tool_calls"));
  const usage = { prompt_tokens: 9, completion_tokens: 3, total_tokens: 12 };
  response.write(
    `data: ${JSON.stringify({ id: "chatcmpl-1", object: "chat.completion.chunk", choices: [], usage })}\n\n`,
  );
  response.end("data: [DONE]\n\n");
}

function speech(script: OpenAiScript, response: ServerResponse): void {
  response.writeHead(200, { "content-type": "audio/pcm" });
  const pcm = script.pcm ?? new Int16Array(2400);
  const octets = Buffer.from(pcm.buffer, pcm.byteOffset, pcm.byteLength);
  // Odd lengths: a sample may arrive in two halves.
  for (let at = 0; at < octets.length; at += 997) response.write(octets.subarray(at, at + 997));
  response.end();
}
