import { isIP } from "node:net";
import type { Clock, Entropy } from "#base";
import { defaultPort, type SipAddress, type SipTransport } from "#sip";
import type { NameService, SrvRecord } from "./name-service.ts";

/** What is known of a server beforehand. */
export interface ServerQuery {
  /** A name or an address. */
  readonly host: string;
  /** Absent: by DNS. */
  readonly port?: number;
  /** Absent: udp with a port, else by DNS. */
  readonly transport?: SipTransport;
  /** The name a TLS certificate must bear; absent: `host`. */
  readonly domain?: string;
}

export interface ServerLocator {
  /** The servers of a query, in the order to try them (RFC 3263 4). Rejects when the name has no address. */
  locate(query: ServerQuery): Promise<readonly SipAddress[]>;
  /** The first address of a host; at once when it is one. Rejects when the name has none. */
  resolve(host: string): Promise<string>;
}

interface Service {
  readonly transport: SipTransport;
  readonly prefix: string;
  readonly naptr: string;
}

const services: readonly Service[] = [
  { transport: "udp", prefix: "_sip._udp.", naptr: "sip+d2u" },
  { transport: "tcp", prefix: "_sip._tcp.", naptr: "sip+d2t" },
  { transport: "tls", prefix: "_sips._tcp.", naptr: "sips+d2t" },
];

/** How long an answer is kept when it does not say, and at most. */
const keepMs = 30_000;
const mostServers = 16;

export function createServerLocator(options: {
  readonly names: NameService;
  readonly clock: Clock;
  readonly entropy: Entropy;
  readonly family: 4 | 6;
}): ServerLocator {
  const { names, clock, entropy, family } = options;
  const addressesOf = createKept(clock, async (host: string) => {
    const found = await names.addresses(host, family);
    if (found.length === 0) throw new Error(`the name ${host} has no IPv${family} address`);
    const ttlS = Math.min(...found.map(({ ttlS = Infinity }) => ttlS));
    return { value: found.map(({ address }) => address), ttlMs: ttlS * 1_000 };
  });
  const servicesOf = createKept(clock, async (host: string) => ({ value: await findServices(host) }));
  const srvOf = createKept(clock, async (name: string) => ({ value: await names.srv(name) }));

  return { locate, resolve };

  async function resolve(host: string): Promise<string> {
    if (isIP(host) !== 0) return host;
    const [first = host] = await addressesOf(host);
    return first;
  }

  async function locate(query: ServerQuery): Promise<readonly SipAddress[]> {
    const { host, port, transport } = query;
    const byDns = isIP(host) === 0 && (port === undefined || port === 0);
    const places = byDns ? await bySrv(host, transport) : [];
    const found = places.length > 0 ? places : await byAddress(query);
    // For a literal address without a domain there is no name to check but the address itself.
    const domain = query.domain ?? (isIP(host) === 0 ? host : undefined);
    return found
      .slice(0, mostServers)
      .map((server) => (domain === undefined ? server : { ...server, domain }));
  }

  async function byAddress({ host, port, transport }: ServerQuery): Promise<readonly SipAddress[]> {
    const addresses = isIP(host) === 0 ? await addressesOf(host) : [host];
    const at = port === undefined || port === 0 ? defaultPort(transport) : port;
    return addresses.map((address) => place(address, at, transport ?? "udp"));
  }

  async function bySrv(host: string, transport: SipTransport | undefined): Promise<readonly SipAddress[]> {
    const offered =
      transport === undefined
        ? await servicesOf(host)
        : services
            .filter((service) => service.transport === transport)
            .map((service) => ({ transport, name: service.prefix + host }));
    for (const { transport: carried, name } of offered) {
      const records = orderBySrv(await srvOf(name), entropy);
      const servers = await Promise.all(records.map((record) => serversOf(record, carried)));
      if (servers.flat().length > 0) return servers.flat();
    }
    return [];
  }

  /** One dead name among several is no reason to call none of them. */
  async function serversOf(record: SrvRecord, transport: SipTransport): Promise<readonly SipAddress[]> {
    if (record.name === "" || record.name === ".") return [];
    const addresses =
      isIP(record.name) === 0 ? await addressesOf(record.name).catch(() => []) : [record.name];
    return addresses.map((address) => place(address, record.port, transport));
  }

  /** Which services a domain offers, best first: as its NAPTR records say, else by trying the usual names. */
  async function findServices(
    host: string,
  ): Promise<readonly { readonly transport: SipTransport; readonly name: string }[]> {
    const records = (await names.naptr(host)).toSorted(
      (a, b) => a.order - b.order || a.preference - b.preference,
    );
    const offered = records.flatMap((record) => {
      const service = services.find(({ naptr }) => naptr === record.service.toLowerCase());
      const usable = service !== undefined && record.flags.toLowerCase() === "s" && record.replacement !== "";
      return usable ? [{ transport: service.transport, name: record.replacement }] : [];
    });
    if (offered.length > 0) return offered;
    return services.map(({ transport, prefix }) => ({ transport, name: prefix + host }));
  }
}

function place(address: string, port: number, transport: SipTransport): SipAddress {
  return transport === "udp" ? { address, port } : { address, port, transport };
}

/**
 * SRV records in the order to try them (RFC 2782): by priority, and within one by lot, where a weight of 20 comes
 * first twice as often as one of 10, and one of 0 hardly ever before others.
 */
export function orderBySrv(records: readonly SrvRecord[], entropy: Entropy): readonly SrvRecord[] {
  const priorities = [...new Set(records.map(({ priority }) => priority))].toSorted((a, b) => a - b);
  return priorities.flatMap((priority) => {
    const left = records
      .filter((record) => record.priority === priority)
      .toSorted((a, b) => Math.sign(a.weight) - Math.sign(b.weight));
    const ordered: SrvRecord[] = [];
    while (left.length > 0) {
      const total = left.reduce((sum, { weight }) => sum + weight, 0);
      const lot = drawUpTo(total, entropy);
      let sum = 0;
      const at = left.findIndex(({ weight }) => (sum += weight) >= lot);
      ordered.push(...left.splice(Math.max(0, at), 1));
    }
    return ordered;
  });
}

/** A whole number from 0 to `most`, each as likely. */
function drawUpTo(most: number, entropy: Entropy): number {
  const [a = 0, b = 0, c = 0, d = 0] = entropy.bytes(4);
  return Math.floor(((((a * 256 + b) * 256 + c) * 256 + d) / 2 ** 32) * (most + 1));
}

/** Asks once for all who ask at the same time, and keeps the answer for a while; a failure is not kept. */
function createKept<Value>(
  clock: Clock,
  ask: (key: string) => Promise<{ readonly value: Value; readonly ttlMs?: number }>,
): (key: string) => Promise<Value> {
  const known = new Map<string, { readonly value: Promise<Value>; until: number }>();
  return async (key) => {
    for (const [other, entry] of known) if (entry.until <= clock.now()) known.delete(other);
    const entry = known.get(key);
    if (entry !== undefined) return entry.value;
    const answer = ask(key);
    const fresh = { value: answer.then(({ value }) => value), until: Infinity };
    known.set(key, fresh);
    try {
      const { ttlMs = keepMs } = await answer;
      fresh.until = clock.now() + Math.min(ttlMs, keepMs);
    } catch {
      known.delete(key);
    }
    return fresh.value;
  };
}
