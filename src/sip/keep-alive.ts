import type { Clock, Entropy } from "#base";
import type { SipAddress } from "./compose.ts";

const ping = new Uint8Array([13, 10, 13, 10]);

/** RFC 5626 4.4.1: 25 to 30 s, never in step with others, ms. */
export function nextPingMs(entropy: Entropy): number {
  return 25_000 + ((entropy.bytes(1)[0] ?? 0) / 256) * 5_000;
}

/** Sends line ends to a UDP peer, for as long as it is not disposed: what stands between keeps the way back open. */
export function keepOpen(
  tools: {
    readonly clock: Clock;
    readonly entropy: Entropy;
    send(bytes: Uint8Array, to: SipAddress): void;
  },
  peer: SipAddress,
): Disposable {
  const { clock } = tools;
  let alarm = clock.alarm(clock.now() + nextPingMs(tools.entropy), ring);
  return { [Symbol.dispose]: () => alarm[Symbol.dispose]() };

  function ring(): void {
    tools.send(ping, peer);
    alarm = clock.alarm(clock.now() + nextPingMs(tools.entropy), ring);
  }
}
