import type { Clock, Entropy } from "#base";
import type { ClientTransactions } from "./client-transactions.ts";
import { hostText, newBranch, viaOf, type SipAddress } from "./compose.ts";
import type { DigestHashes } from "./digest.ts";
import type { SipHeader, SipRequest } from "./message.ts";
import { printMessage } from "./print.ts";

/** What every call of a user agent works with. */
export interface AgentCore {
  readonly clock: Clock;
  readonly entropy: Entropy;
  readonly hashes: DigestHashes;
  readonly userAgentName: string;
  readonly clients: ClientTransactions;
  /** Our address as `peer` (an address or a host name) is to see it. */
  localTo(peer: string): SipAddress;
  /** Sends bytes that no transaction repeats. */
  send(bytes: Uint8Array, to: SipAddress): void;
  /** Requests from this address are answered from now on, and for a while after. */
  trust(address: string): void;
}

/** A fresh Via towards a peer. */
export function freshVia(core: AgentCore, peer: string): SipHeader {
  return viaOf(core.localTo(peer), newBranch(core.entropy));
}

/** Our Contact as `peer` is to see it; `user` is put in as it is. */
export function contactFor(core: AgentCore, peer: string, user: string): SipHeader {
  const local = core.localTo(peer);
  return { name: "Contact", value: `<sip:${user}@${hostText(local.address)}:${local.port}>` };
}

export function agentHeader(core: AgentCore): SipHeader {
  return { name: "User-Agent", value: core.userAgentName };
}

/** Sends a request that no transaction repeats: the ACK of a 2xx. */
export function sendOnce(core: AgentCore, request: SipRequest, to: SipAddress): void {
  core.send(printMessage(request), to);
}
