import type { Clock, Entropy } from "#base";
import type { ClientTransactions } from "./client-transactions.ts";
import { hostText, isReliable, newBranch, overTransport, viaOf, type SipAddress } from "./compose.ts";
import type { DigestHashes } from "./digest.ts";
import type { SipHeader, SipRequest } from "./message.ts";
import { printMessage } from "./print.ts";
import type { SessionTimerPolicy } from "./session-expires.ts";

/** What every call of a user agent works with. */
export interface AgentCore {
  readonly clock: Clock;
  readonly entropy: Entropy;
  readonly hashes: DigestHashes;
  readonly userAgentName: string;
  readonly clients: ClientTransactions;
  readonly sessionTimer: SessionTimerPolicy;
  /** Our address as `peer` (an address or a host name) is to see it. */
  localTo(peer: string): SipAddress;
  /** Our address as Contact is to give it to a peer: the one it sees, where that is known. */
  contactTo(peer: SipAddress): SipAddress;
  /** Sends bytes that no transaction repeats. */
  send(bytes: Uint8Array, to: SipAddress): void;
  /** Requests from this address are answered from now on, and for a while after. */
  trust(address: string): void;
}

/** A fresh Via towards a peer, or towards an address over UDP. */
export function freshVia(core: AgentCore, peer: SipAddress | string): SipHeader {
  const { address, transport } = placeOf(peer);
  return viaOf(core.localTo(address), newBranch(core.entropy), transport);
}

/** Our Contact as `peer` is to see it; `user` is put in as it is. */
export function contactFor(core: AgentCore, peer: SipAddress | string, user: string): SipHeader {
  const place = placeOf(peer);
  const { address, port } = core.contactTo(place);
  const transport = isReliable(place) ? `;transport=${place.transport}` : "";
  return { name: "Contact", value: `<sip:${user}@${hostText(address)}:${port}${transport}>` };
}

function placeOf(peer: SipAddress | string): SipAddress {
  return typeof peer === "string" ? { address: peer, port: 5060 } : peer;
}

export function agentHeader(core: AgentCore): SipHeader {
  return { name: "User-Agent", value: core.userAgentName };
}

/** Sends a request that no transaction repeats: the ACK of a 2xx. */
export function sendOnce(core: AgentCore, request: SipRequest, to: SipAddress): void {
  core.send(printMessage(overTransport(request, to.transport)), to);
}
