import type { SipMessageView } from "#wire";
import { openCapture } from "./capture-file.ts";
import type { Context, Input, Server } from "./handler.ts";
import { ladder } from "./sip-ladder.ts";

/** What was on the wire in a call. Empty for one that was not dialled yet, or whose daemon died over it. */
export function sipMessages(server: Server, id: string): Promise<readonly SipMessageView[]> {
  return server.client.get<readonly SipMessageView[]>(`/admin/calls/${encodeURIComponent(id)}/sip`);
}

/** The ladder for a person, and the capture when one was asked for. */
export async function showSip(
  context: Context,
  input: Input,
  messages: readonly SipMessageView[],
): Promise<void> {
  const { print, notes, settings } = context;
  if (messages.length === 0) notes.say("no SIP messages are kept of this call");
  else if (input.flag("sip") && settings.format === undefined && input.text("pcap") !== "-")
    await print.text(`\n${ladder(messages, { zone: settings.zone, verbose: input.flag("verbose") })}`);
  const path = input.text("pcap");
  if (path === undefined) return;
  await using capture = await openCapture(context, path);
  for (const message of messages) await capture.add(message);
  if (path !== "-") notes.say(`wrote ${messages.length} messages to ${path}`);
}
