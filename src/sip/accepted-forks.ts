import { agentHeader, freshVia, sendOnce, type AgentCore } from "./agent-core.ts";
import { credentialsIn } from "./authenticator.ts";
import { tagOf, type SipAddress } from "./compose.ts";
import { dialogOfResponse, requestInDialog, type Dialog } from "./dialog.ts";
import { printMessage } from "./print.ts";
import type { SipRequest, SipResponse } from "./message.ts";

/** The 2xx answers to one INVITE, by To tag: each is acknowledged, each repetition again (RFC 3261 13.2.2.4). */
export interface AcceptedForks {
  /** Acknowledges a 2xx. The dialog, when this fork answers for the first time. */
  acknowledge(invite: SipRequest, response: SipResponse, destination: SipAddress): Dialog | undefined;
  has(remoteTag: string): boolean;
}

/** Beyond this many answers to one call the network is not forking but playing with us. */
const maxForks = 16;

export function createAcceptedForks(core: AgentCore): AcceptedForks {
  const acks = new Map<string, { readonly bytes: Uint8Array; readonly to: SipAddress }>();

  return { acknowledge, has: (remoteTag) => acks.has(remoteTag) };

  function acknowledge(
    invite: SipRequest,
    response: SipResponse,
    destination: SipAddress,
  ): Dialog | undefined {
    const tag = tagOf(response, "To") ?? "";
    const known = acks.get(tag);
    if (known !== undefined) {
      core.send(known.bytes, known.to);
      return undefined;
    }
    if (acks.size >= maxForks) return undefined;
    const dialog = dialogOfResponse(invite, response, destination);
    const { to } = requestInDialog(dialog, "ACK", []);
    const ack = requestInDialog(dialog, "ACK", [
      freshVia(core, to),
      agentHeader(core),
      ...credentialsIn(invite),
    ]);
    acks.set(tag, { bytes: printMessage(ack.request), to });
    sendOnce(core, ack.request, to);
    return dialog;
  }
}
