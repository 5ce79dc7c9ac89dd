import type { Clock } from "#base";
import { isReliable, type SipAddress } from "#sip";
import type { ServerLocator, ServerQuery } from "./locate.ts";
import type { Streams } from "./streams.ts";

/** The servers of one request, tried one after the other (RFC 3263 4.3). */
export interface ServerSearch {
  /** The next one that can be reached, its connection open; undefined when there is none left. */
  next(): Promise<SipAddress | undefined>;
  /** The latest server failed: it is asked last for a while. */
  failed(): void;
  /** Whether there are servers left to try. */
  readonly more: boolean;
  /** How many there are in all. */
  readonly size: number;
  /** Why none was reached, in one sentence. */
  readonly problem: string;
}

export interface Servers {
  /** Never rejects: a name that cannot be found has no servers. `preferred` goes first when it is among them. */
  search(query: ServerQuery, preferred?: SipAddress): Promise<ServerSearch>;
}

/** How long a server that failed is tried after its like, ms. */
const avoidMs = 60_000;

export function createServers(options: {
  readonly locator: ServerLocator;
  readonly streams: Pick<Streams, "connect">;
  readonly clock: Clock;
}): Servers {
  const { locator, streams, clock } = options;
  /** Failed of late, until when. */
  const avoided = new Map<string, number>();

  return { search };

  async function search(query: ServerQuery, preferred?: SipAddress): Promise<ServerSearch> {
    let problem = `The name ${query.host} cannot be found.`;
    const found = await locator.locate(query).catch(() => []);
    const left = ordered(found, preferred);
    let latest: SipAddress | undefined;
    return {
      next,
      failed: () => avoid(latest),
      get more() {
        return left.length > 0;
      },
      size: left.length,
      get problem() {
        return problem;
      },
    };

    async function next(): Promise<SipAddress | undefined> {
      for (let server = left.shift(); server !== undefined; server = left.shift()) {
        latest = server;
        if (!isReliable(server)) return server;
        try {
          await streams.connect(server);
          return server;
        } catch (error) {
          problem = error instanceof Error ? error.message : String(error);
          avoid(server);
        }
      }
      return undefined;
    }
  }

  function ordered(found: readonly SipAddress[], preferred: SipAddress | undefined): SipAddress[] {
    for (const [place, until] of avoided) if (until <= clock.now()) avoided.delete(place);
    const rank = (server: SipAddress): number => {
      if (avoided.has(placeOf(server))) return 2;
      return preferred !== undefined && placeOf(server) === placeOf(preferred) ? 0 : 1;
    };
    return found.toSorted((a, b) => rank(a) - rank(b));
  }

  function avoid(server: SipAddress | undefined): void {
    if (server !== undefined) avoided.set(placeOf(server), clock.now() + avoidMs);
  }
}

function placeOf({ address, port, transport = "udp" }: SipAddress): string {
  return `${transport} ${address} ${port}`;
}
