import { lookup, Resolver } from "node:dns/promises";

/** A NAPTR record (RFC 3403). */
export interface NaptrRecord {
  readonly order: number;
  readonly preference: number;
  readonly flags: string;
  readonly service: string;
  readonly replacement: string;
}

/** An SRV record (RFC 2782); the name `.` or "" says that there is no such service. */
export interface SrvRecord {
  readonly priority: number;
  readonly weight: number;
  readonly port: number;
  readonly name: string;
}

/** What the endpoint asks of DNS. Where there are no records of the kind the answer is empty. */
export interface NameService {
  naptr(domain: string): Promise<readonly NaptrRecord[]>;
  srv(name: string): Promise<readonly SrvRecord[]>;
  /** Addresses of one family, best first; `ttlS` where it is known. Rejects when nobody can tell. */
  addresses(
    host: string,
    family: 4 | 6,
  ): Promise<readonly { readonly address: string; readonly ttlS?: number }[]>;
}

/**
 * DNS by the operating system's servers, addresses also by its hosts file. With `servers` (`address` or
 * `address:port`) only those are asked.
 */
export function systemNames(options: { readonly servers?: readonly string[] } = {}): NameService {
  const resolver = new Resolver({ timeout: 2_000, tries: 2 });
  const { servers } = options;
  if (servers !== undefined) resolver.setServers(servers);
  return {
    naptr: (domain) => orNone(resolver.resolveNaptr(domain)),
    srv: (name) => orNone(resolver.resolveSrv(name)),
    async addresses(host, family) {
      if (servers === undefined) return lookup(host, { family, all: true, order: "verbatim" });
      const found =
        family === 6 ? resolver.resolve6(host, { ttl: true }) : resolver.resolve4(host, { ttl: true });
      return (await found).map(({ address, ttl }) => ({ address, ttlS: ttl }));
    },
  };
}

/** A server that fails on records of a kind it does not know has none: the address of the name itself will do. */
async function orNone<Found>(answer: Promise<readonly Found[]>): Promise<readonly Found[]> {
  try {
    return await answer;
  } catch {
    return [];
  }
}
