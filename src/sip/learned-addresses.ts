import { isUnicastAddress, isUnspecified } from "./address.ts";
import { isReliable, type SipAddress } from "./compose.ts";
import { headerValues, parseVia } from "./header.ts";
import type { SipResponse } from "./message.ts";

/** Under which address each peer sees us, as their answers tell (`received` and `rport` of RFC 3581). */
export interface LearnedAddresses {
  /** Reads the answer of a peer to a request of ours. */
  learn(response: SipResponse, peer: SipAddress): void;
  find(peer: SipAddress): SipAddress | undefined;
  /** The connection to a peer is gone, and what it saw with it. */
  forget(peer: SipAddress): void;
}

/** More peers than a dialer has; beyond it the oldest is forgotten. */
const mostPeers = 1_000;

export function createLearnedAddresses(): LearnedAddresses {
  const known = new Map<string, SipAddress>();

  return {
    learn(response, peer) {
      const seen = seenAt(response);
      if (seen === undefined) return;
      known.delete(keyOf(peer));
      known.set(keyOf(peer), seen);
      const [oldest] = known.size > mostPeers ? known.keys() : [];
      if (oldest !== undefined) known.delete(oldest);
    },
    find: (peer) => known.get(keyOf(peer)),
    forget: (peer) => void known.delete(keyOf(peer)),
  };
}

/** Where the sender of a response saw our request come from; undefined when it does not say. */
export function seenAt(response: SipResponse): SipAddress | undefined {
  const value = headerValues(response, "Via")[0];
  const via = value === undefined ? undefined : parseVia(value);
  if (via === undefined) return undefined;
  const { rport, received } = via;
  if (typeof rport !== "number" || rport === 0) return undefined;
  const address = received ?? via.host;
  return isUnicastAddress(address) && !isUnspecified(address) ? { address, port: rport } : undefined;
}

function keyOf(peer: SipAddress): string {
  return `${isReliable(peer) ? peer.transport : "udp"} ${peer.address} ${peer.port}`;
}
