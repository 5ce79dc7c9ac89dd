import { localAddressTowards } from "#host";
import { lookup, resolveSrv } from "node:dns/promises";

/** The addresses of a host name, or the servers that its SRV records name. Rejects when there are none. */
export async function lookUpHost(host: string): Promise<readonly string[]> {
  try {
    return (await lookup(host, { all: true })).map(({ address }) => address);
  } catch (error) {
    for (const service of ["_sip._udp", "_sip._tcp", "_sips._tcp"]) {
      const records = await resolveSrv(`${service}.${host}`).catch(() => []);
      if (records.length > 0) return records.map(({ name, port }) => `${name}:${port}`);
    }
    throw error;
  }
}

/** An address that no machine has (RFC 5737): the way to it is the way out. */
const anywhere = "192.0.2.1";

/** Our address on the way to a host; a name that only SRV records know is somewhere outside. */
export async function addressTowards(host: string): Promise<string> {
  try {
    return await localAddressTowards(host);
  } catch (error) {
    return localAddressTowards(anywhere).catch(() => {
      throw error;
    });
  }
}
