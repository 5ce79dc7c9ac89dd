import { lookup } from "node:dns/promises";
import { isIP } from "node:net";
import type { Clock } from "#base";

/** Host names to addresses of one family, by the system's resolver; answers are kept for half a minute. */
export interface HostNames {
  /** The address, at once when `host` is one. Rejects when the name has none. */
  resolve(host: string): Promise<string>;
}

const keepMs = 30_000;

export function createHostNames(clock: Clock, family: 4 | 6): HostNames {
  const known = new Map<string, { readonly address: Promise<string>; readonly until: number }>();

  return { resolve };

  async function resolve(host: string): Promise<string> {
    if (isIP(host) !== 0) return host;
    for (const [name, entry] of known) if (entry.until <= clock.now()) known.delete(name);
    const entry = known.get(host) ?? { address: ask(host), until: clock.now() + keepMs };
    known.set(host, entry);
    try {
      return await entry.address;
    } catch (error) {
      known.delete(host); // The next call asks anew.
      throw error;
    }
  }

  async function ask(host: string): Promise<string> {
    const answer = await lookup(host, { family });
    return answer.address;
  }
}
