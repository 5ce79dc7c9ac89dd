import type { Clock } from "#base";
import type { ProbeOutcome, SipAddress, UserAgent } from "#sip";
import type { ProbeResult, SipTarget } from "./dialling.ts";
import type { Servers } from "./servers.ts";
import { queryOf } from "./target.ts";

/** OPTIONS on their way. */
export interface Probes {
  /** Asks the servers of a target one after the other until one answers; never rejects. */
  probe(target: SipTarget): Promise<ProbeResult>;
  deliver(name: string, outcome: ProbeOutcome): void;
  abandonAll(): void;
}

export function createProbes(options: {
  readonly agent: UserAgent;
  readonly servers: Servers;
  readonly clock: Clock;
  readonly act: <T>(order: () => T) => T;
  readonly isClosing: () => boolean;
}): Probes {
  const { agent, servers, clock, act, isClosing } = options;
  const waiting = new Map<string, (outcome: ProbeOutcome) => void>();

  return { probe, deliver, abandonAll };

  async function probe(target: SipTarget): Promise<ProbeResult> {
    const search = await servers.search(queryOf(target, []));
    let failure: ProbeResult | undefined;
    for (let server = await search.next(); server !== undefined; server = await search.next()) {
      if (isClosing()) return { failure: "transport", problem: "The endpoint is closed." };
      const startedAt = clock.now();
      const outcome = await ask(target, server);
      if ("status" in outcome) return { ...outcome, ms: clock.now() - startedAt, server };
      search.failed();
      failure = outcome;
    }
    return failure ?? { failure: "transport", problem: search.problem };
  }

  function ask(target: SipTarget, server: SipAddress): Promise<ProbeOutcome> {
    const { promise, resolve } = Promise.withResolvers<ProbeOutcome>();
    const host = target.domain ?? target.host;
    const port = target.domain === undefined ? (target.port ?? 0) : 0;
    waiting.set(
      act(() => agent.probe(host, port, server)),
      resolve,
    );
    return promise;
  }

  function deliver(name: string, outcome: ProbeOutcome): void {
    const settle = waiting.get(name);
    waiting.delete(name);
    settle?.(outcome);
  }

  function abandonAll(): void {
    for (const settle of waiting.values()) settle({ failure: "transport" });
    waiting.clear();
  }
}
