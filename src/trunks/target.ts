import { OutdialError } from "#base";
import { readProxyHop } from "#sip";
import type { SipTarget } from "./dialling.ts";
import type { ServerQuery } from "./locate.ts";

/**
 * Route values of a request to a target: its outbound proxy, then what its registrar named (RFC 3608).
 * Throws OutdialError `sip-proxy-unreadable`.
 */
export function routesOf(target: SipTarget, serviceRoute: readonly string[]): readonly string[] {
  const proxy = proxyOf(target);
  return proxy === undefined ? serviceRoute : [proxy.route, ...serviceRoute];
}

/** What leads to the first server of a request to a target: the outbound proxy, the registrar's proxy, or the host. */
export function queryOf(target: SipTarget, serviceRoute: readonly string[]): ServerQuery {
  const [first] = serviceRoute;
  const hop = proxyOf(target) ?? (first === undefined ? undefined : readProxyHop(first));
  const { host, port, transport, domain } = target;
  if (hop === undefined) {
    return {
      host,
      ...(port === undefined || port === 0 ? {} : { port }),
      ...(transport === undefined ? {} : { transport }),
      ...(domain === undefined ? {} : { domain }),
    };
  }
  const carried = hop.transport ?? transport;
  return {
    host: hop.host,
    ...(hop.port === undefined ? {} : { port: hop.port }),
    ...(carried === undefined ? {} : { transport: carried }),
    // A proxy named by its address belongs to the provider: it has the provider's certificate.
    ...(/^[\d.]+$|:/.test(hop.host) ? { domain: domain ?? host } : {}),
  };
}

/** Who an account is, for telling accounts apart. */
export function accountOf(target: SipTarget, user: string): string {
  return `${user}@${(target.domain ?? target.host).toLowerCase()}`;
}

function proxyOf(target: SipTarget): ReturnType<typeof readProxyHop> {
  const { outboundProxy } = target;
  if (outboundProxy === undefined || outboundProxy.trim() === "") return undefined;
  const hop = readProxyHop(outboundProxy);
  if (hop !== undefined) return hop;
  throw new OutdialError("sip-proxy-unreadable", `The outbound proxy ${outboundProxy} cannot be read.`, {
    hint: "Give it as host, host:port or sip:host:port;transport=tls.",
  });
}
