import { BlockList, isIP, isIPv6 } from "node:net";
import { networkInterfaces } from "node:os";

/**
 * The address of ours that `peer` (an address or a host name) is to see when we are bound to `bound`: that one, or
 * of a wildcard the interface in the peer's network, else the first one that leads out.
 */
export function localAddressTo(peer: string, bound: string, publicAddress: string | undefined): string {
  const wildcard = bound === "0.0.0.0" || bound === "::";
  const loopback = peer === "localhost" || peer === "::1" || peer.startsWith("127.");
  if (wildcard && loopback) return isIPv6(bound) ? "::1" : "127.0.0.1";
  if (publicAddress !== undefined) return publicAddress;
  if (!wildcard) return bound;
  const family = isIPv6(bound) ? "IPv6" : "IPv4";
  const own = Object.values(networkInterfaces())
    .flatMap((addresses) => addresses ?? [])
    .filter((own) => own.family === family && !own.internal);
  const near = own.find((candidate) => candidate.cidr !== null && isInside(peer, candidate.cidr));
  return near?.address ?? own[0]?.address ?? (family === "IPv6" ? "::1" : "127.0.0.1");
}

function isInside(address: string, cidr: string): boolean {
  const [network, bits] = cidr.split("/");
  if (network === undefined || isIP(address) !== isIP(network)) return false;
  const family = isIPv6(network) ? "ipv6" : "ipv4";
  const list = new BlockList();
  list.addSubnet(network, Number(bits), family);
  return list.check(address, family);
}
