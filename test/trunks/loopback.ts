import { hashes, silentLog, steadyClock, systemEntropy } from "#host";
import type { LegEnd, LegEvent, LocalMedia } from "#sip";
import {
  openSipEndpoint,
  type DialOrder,
  type IncomingCall,
  type SipEndpoint,
  type SipEndpointOptions,
} from "#trunks";

export const media: LocalMedia = { address: "127.0.0.1", audioPort: 4000, codecs: ["PCMA", "PCMU"] };

/** An endpoint on the loopback that closes with the test. */
export async function endpoint(
  options: Partial<SipEndpointOptions> = {},
): Promise<SipEndpoint & AsyncDisposable> {
  const opened = await openSipEndpoint({
    address: "127.0.0.1",
    port: 0,
    clock: steadyClock,
    entropy: systemEntropy,
    hashes,
    userAgentName: "test",
    log: silentLog,
    ...options,
  });
  return { ...opened, [Symbol.asyncDispose]: () => opened.close() };
}

/** Keeps events in order; `until` waits for one. */
export class Events<Event extends { readonly type: string }> {
  readonly all: Event[] = [];
  readonly #waiting: { readonly type: string; readonly found: (event: Event) => void }[] = [];

  readonly push = (event: Event): void => {
    this.all.push(event);
    for (const waiter of this.#waiting.splice(0)) {
      if (waiter.type === event.type) waiter.found(event);
      else this.#waiting.push(waiter);
    }
  };

  async until<Type extends Event["type"]>(type: Type): Promise<Extract<Event, { type: Type }>> {
    const is = (event: Event): event is Extract<Event, { type: Type }> => event.type === type;
    const found = this.all.find(is);
    if (found !== undefined) return found;
    return new Promise((resolve) => {
      this.#waiting.push({ type, found: (event) => is(event) && resolve(event) });
    });
  }

  get types(): readonly string[] {
    return this.all.map((event) => event.type);
  }
}

let calls = 0;

/** Dials `port` on the loopback; the events of the leg and how to hang it up. */
export function dial(
  from: SipEndpoint,
  port: number,
  order: Partial<Omit<DialOrder, "onEvent">> = {},
): { readonly events: Events<LegEvent>; hangUp(): void; ended(): Promise<LegEnd> } {
  const events = new Events<LegEvent>();
  const leg = from
    .prepare({
      target: { host: "127.0.0.1", port },
      number: "+34600111222",
      callerId: "+34911222333",
      sipCallId: `call-${++calls}@test`,
      media,
      ringTimeoutMs: 30_000,
      ...order,
      onEvent: events.push,
    })
    .send();
  return {
    events,
    hangUp: () => leg.hangUp(),
    ended: async () => (await events.until("leg-ended")).end,
  };
}

/** A callee that gives each call to `take`. */
export async function callee(
  take: (call: IncomingCall) => void,
  options: Partial<SipEndpointOptions> = {},
): Promise<SipEndpoint & AsyncDisposable> {
  return endpoint({ trusts: (address) => address === "127.0.0.1", ...options, onInvite: take });
}
