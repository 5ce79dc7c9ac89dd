import { json, startVendorServer, type VendorServer } from "./vendor-server.ts";

export interface AnthropicScript {
  readonly key: string;
  readonly words?: readonly string[];
  readonly call?: { readonly id: string; readonly name: string; readonly parts: readonly string[] };
  /** Texts of whole answers, in turn. */
  readonly contents?: string[];
  readonly knowsFormat?: boolean;
}

/** An event as the Messages interface sends it. */
export function anthropicEvent(value: { readonly type: string } & Record<string, unknown>): string {
  return `event: ${value.type}\ndata: ${JSON.stringify(value)}\n\n`;
}

/** Anthropic's Messages interface, whole and streamed. */
export async function startAnthropicServer(script: AnthropicScript): Promise<VendorServer> {
  return startVendorServer((request, response) => {
    const { headers } = request;
    const isKnown = headers["x-api-key"] === script.key || headers.authorization === `Bearer ${script.key}`;
    if (!isKnown) {
      const error = { type: "authentication_error", message: "invalid x-api-key" };
      return json(response, 401, { type: "error", error });
    }
    const body = JSON.parse(request.body.toString("utf8") || "{}") as {
      stream?: boolean;
      output_config?: object;
    };
    const version = headers["anthropic-version"];
    const gone = ["temperature", "top_p", "top_k"].find((name) => name in body);
    if (version === undefined || (gone !== undefined && version !== "2023-06-01")) {
      const message =
        version === undefined ? "anthropic-version: header is required" : `${gone}: not permitted`;
      return json(response, 400, { type: "error", error: { type: "invalid_request_error", message } });
    }
    if (body.output_config !== undefined && script.knowsFormat === false) {
      const error = {
        type: "invalid_request_error",
        message: "output_config: Extra inputs are not permitted",
      };
      return json(response, 400, { type: "error", error });
    }
    const usage = { input_tokens: 11, output_tokens: 1 };
    const message = { id: "msg_1", type: "message", role: "assistant", model: "m", stop_sequence: null };
    if (body.stream !== true) {
      const content = [{ type: "text", text: script.contents?.shift() ?? "{}" }];
      return json(response, 200, { ...message, content, stop_reason: "end_turn", usage });
    }
    response.writeHead(200, { "content-type": "text/event-stream; charset=utf-8" });
    const say = (value: Parameters<typeof anthropicEvent>[0]): void =>
      void response.write(anthropicEvent(value));
    say({ type: "message_start", message: { ...message, content: [], stop_reason: null, usage } });
    say({ type: "content_block_start", index: 0, content_block: { type: "text", text: "" } });
    say({ type: "ping" });
    for (const text of script.words ?? [])
      say({ type: "content_block_delta", index: 0, delta: { type: "text_delta", text } });
    say({ type: "content_block_stop", index: 0 });
    if (script.call !== undefined) {
      const { id, name, parts } = script.call;
      say({
        type: "content_block_start",
        index: 1,
        content_block: { type: "tool_use", id, name, input: {} },
      });
      for (const partial_json of parts)
        say({ type: "content_block_delta", index: 1, delta: { type: "input_json_delta", partial_json } });
      say({ type: "content_block_stop", index: 1 });
    }
    const stop_reason = script.call === undefined ? "end_turn" : "tool_use";
    say({ type: "message_delta", delta: { stop_reason, stop_sequence: null }, usage: { output_tokens: 7 } });
    say({ type: "message_stop" });
    response.end();
  });
}
