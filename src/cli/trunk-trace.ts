import { openCapture, type CaptureFile } from "./capture-file.ts";
import { sipMessages } from "./call-sip.ts";
import { fieldValue, plainValue, type Row } from "./fields.ts";
import { followEvents } from "./follow-events.ts";
import type { Context, Input, Server } from "./handler.ts";
import { getCall } from "./references.ts";
import { ladderHead, ladderLine, type TracedMessage } from "./sip-ladder.ts";
import { isSettled } from "./statuses.ts";

/** What a run of `trunk trace` is about. */
interface Trace {
  readonly trunk: string | undefined;
  readonly callId: string | undefined;
  readonly show: (message: TracedMessage, row: Row) => Promise<void>;
}

/** `outdial trunk trace`: SIP messages as they pass, of one trunk, one call or all; of a call that is over, those kept. */
export async function traceTrunk(context: Context, input: Input): Promise<void> {
  const server = await context.server();
  const trunk = input.optionalArg("name");
  const call = input.text("call");
  if (trunk !== undefined) await server.client.get(`/admin/trunks/${encodeURIComponent(trunk)}`);
  const record = call === undefined ? undefined : await getCall(server, call);
  const path = input.text("pcap");
  await using capture = path === undefined ? undefined : await openCapture(context, path);
  const callId = record === undefined ? undefined : plainValue(record["id"]);
  const show = path === "-" ? capturing(capture) : shower(context, input.flag("verbose"), capture);
  const trace: Trace = { trunk, callId, show };
  if (callId !== undefined && record !== undefined && isSettled(plainValue(record["status"]))) {
    await showKept(context, server, trace, callId);
    return;
  }
  if (context.print.interactive) context.notes.say("following SIP messages; Ctrl-C ends");
  await follow(context, server, trace);
}

async function follow(context: Context, server: Server, trace: Trace): Promise<void> {
  const { trunk, callId, show } = trace;
  let before: ReadonlySet<string> | undefined;
  let greeted = false;
  await followEvents(context, server, {
    query: () => {
      greeted = false;
      return { call: callId, types: callId === undefined ? "sip-message" : "sip-message,call-ended" };
    },
    take: async (event) => {
      if (event["type"] === "heartbeat" && !greeted) {
        greeted = true;
        // The stream is open: what it does not bring has been kept already.
        if (callId !== undefined) before ??= await showKept(context, server, trace, callId);
      }
      if (event["type"] === "events-lost")
        context.notes.warn(`${plainValue(fieldValue(event, "data.count"))} messages lost`);
      if (event["type"] === "call-ended") return "done";
      const name = plainValue(fieldValue(event, "data.trunk"));
      if (event["type"] !== "sip-message" || (trunk !== undefined && name !== trunk)) return "go-on";
      const message = messageOf(event);
      if (before?.has(keyOf(message)) !== true) await show(message, event);
      return "go-on";
    },
  });
}

/** Shows what there is of a call so far, and gives what that was. */
async function showKept(
  context: Context,
  server: Server,
  { show }: Trace,
  callId: string,
): Promise<ReadonlySet<string>> {
  const messages = await sipMessages(server, callId);
  for (const message of messages) {
    await show(message, { type: "sip-message", call_id: callId, at: message.at, data: message });
  }
  if (messages.length === 0) context.notes.say("no SIP messages are kept of this call yet");
  return new Set(messages.map(keyOf));
}

function keyOf({ attempt, seq }: TracedMessage): string {
  return attempt === undefined || seq === undefined ? "" : `${attempt} ${seq}`;
}

function capturing(capture: CaptureFile | undefined): Trace["show"] {
  return async (message) => capture?.add(message);
}

/** A line each, under a head wherever another conversation goes on. */
function shower(context: Context, verbose: boolean, capture: CaptureFile | undefined): Trace["show"] {
  const { print, settings } = context;
  const forPeople = print.format === "table" || print.format === "wide";
  let shown = "";
  return async (message, row) => {
    await capture?.add(message);
    if (!forPeople) return print.event(row, "");
    const head = ladderHead(message).join("\n");
    const lines = [
      ...(head === shown ? [] : ["", head]),
      ladderLine(message, { zone: settings.zone, verbose }),
    ];
    shown = head;
    return print.text(lines.join("\n"));
  };
}

function messageOf(event: Row): TracedMessage {
  const text = (name: string): string => plainValue(fieldValue(event, `data.${name}`));
  const attempt = fieldValue(event, "data.attempt");
  const seq = fieldValue(event, "data.seq");
  const transport = text("transport");
  return {
    ...(typeof attempt === "number" && typeof seq === "number" ? { attempt, seq } : {}),
    at: text("at") || plainValue(event["at"]),
    direction: text("direction") === "received" ? "received" : "sent",
    transport: transport === "tcp" || transport === "tls" ? transport : "udp",
    local: text("local"),
    remote: text("remote"),
    first_line: text("first_line"),
    text: text("text"),
  };
}
