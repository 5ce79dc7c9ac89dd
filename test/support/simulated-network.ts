import { createHash } from "node:crypto";
import type { Entropy } from "#base";
import { createUserAgent, type SipAddress, type UserAgent, type UserAgentOutput } from "#sip";
import type { VirtualClock } from "./virtual-clock.ts";

/** Numbers in [0, 1) that are the same for the same seed (mulberry32). */
export function seededChance(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

function seededEntropy(seed: number): Entropy {
  const chance = seededChance(seed);
  return { bytes: (length) => Uint8Array.from({ length }, () => Math.floor(chance() * 256)) };
}

export interface NetworkConditions {
  /** Shares of datagrams, 0 to 1. */
  readonly loss: number;
  readonly duplication: number;
  /** Share that takes three times as long as the others. */
  readonly reordering: number;
  readonly delayMs: number;
  readonly jitterMs: number;
}

export const perfectNetwork: NetworkConditions = {
  loss: 0,
  duplication: 0,
  reordering: 0,
  delayMs: 1,
  jitterMs: 0,
};

export interface Delivery {
  readonly at: number;
  readonly from: SipAddress;
  readonly to: SipAddress;
  readonly text: string;
}

type Receiver = (bytes: Uint8Array, source: SipAddress) => void;

/** Carries datagrams between addresses in virtual time, as badly as it is told to; the same seed, the same fate. */
export class SimulatedNetwork {
  readonly #clock: VirtualClock;
  readonly #chance: () => number;
  readonly #receivers = new Map<string, Receiver>();
  /** Everything that was sent, also what was lost. */
  readonly sent: Delivery[] = [];
  conditions: NetworkConditions;

  constructor(clock: VirtualClock, seed: number, conditions: NetworkConditions) {
    this.#clock = clock;
    this.#chance = seededChance(seed);
    this.conditions = conditions;
  }

  attach(at: SipAddress, receiver: Receiver): void {
    this.#receivers.set(`${at.address}:${at.port}`, receiver);
  }

  send(from: SipAddress, to: SipAddress, bytes: Uint8Array): void {
    this.sent.push({ at: this.#clock.now(), from, to, text: new TextDecoder().decode(bytes) });
    const { loss, duplication } = this.conditions;
    if (this.#chance() >= loss) this.#deliver(from, to, bytes);
    if (this.#chance() < duplication) this.#deliver(from, to, bytes);
  }

  #deliver(from: SipAddress, to: SipAddress, bytes: Uint8Array): void {
    const { delayMs, jitterMs, reordering } = this.conditions;
    const slow = this.#chance() < reordering ? 3 : 1;
    const at = this.#clock.now() + slow * (delayMs + this.#chance() * jitterMs);
    this.#clock.alarm(at, () => this.#receivers.get(`${to.address}:${to.port}`)?.(bytes, from));
  }
}

const hex = (algorithm: string) => (text: string) => createHash(algorithm).update(text).digest("hex");

const testHashes = { md5: hex("md5"), sha256: hex("sha256"), sha512_256: hex("sha512-256") };

/** A user agent on the simulated network: `order` is how a test gives it orders. */
export interface NetworkedAgent {
  readonly address: SipAddress;
  readonly agent: UserAgent;
  order<T>(act: (agent: UserAgent) => T): T;
}

/** Joins a user agent to the network; every output but datagrams goes to `perform`. */
export function attachAgent(
  network: SimulatedNetwork,
  clock: VirtualClock,
  address: SipAddress,
  options: {
    readonly seed: number;
    readonly takesCalls?: boolean;
    readonly trusts?: (address: string, port: number) => boolean;
    readonly perform: (output: Exclude<UserAgentOutput, { type: "send" }>) => void;
  },
): NetworkedAgent {
  const agent = createUserAgent({
    entropy: seededEntropy(options.seed),
    hashes: testHashes,
    userAgentName: "test",
    localTo: () => address,
    trusts: options.trusts ?? (() => true),
    takesCalls: options.takesCalls ?? true,
  });
  let alarm: Disposable | undefined;
  network.attach(address, (bytes, source) => {
    agent.receive(bytes, source, clock.now());
    flush();
  });
  return { address, agent, order };

  function order<T>(act: (agent: UserAgent) => T): T {
    agent.tick(clock.now());
    const result = act(agent);
    flush();
    return result;
  }

  function flush(): void {
    for (let outputs = agent.drain(); outputs.length > 0; outputs = agent.drain()) {
      for (const output of outputs) {
        if (output.type === "send") network.send(address, output.to, output.bytes);
        else options.perform(output);
      }
    }
    alarm?.[Symbol.dispose]();
    const at = agent.deadline();
    alarm = at === Infinity ? undefined : clock.alarm(at, () => order((woken) => woken));
  }
}
