import { isIP } from "node:net";
import type { Clock } from "#base";
import type { Log } from "#host";
import { isReliable, type SipAddress, type UserAgentOutput } from "#sip";
import type { ServerLocator } from "./locate.ts";
import { isPortRefused } from "./refused-port.ts";
import type { Streams } from "./streams.ts";
import { traceEntry, type TraceEntry } from "./trace.ts";
import type { UdpSocket } from "./udp-socket.ts";

type Sending = Extract<UserAgentOutput, { readonly type: "send" }>;

/** Brings messages onto the wire, and shows what is on it to whoever asked. */
export interface Transmitter {
  send(output: Sending): void;
  /** Shows a message that came. */
  received(bytes: Uint8Array, source: SipAddress): void;
  close(): void;
}

export function createTransmitter(options: {
  readonly socket: UdpSocket;
  readonly streams: Streams;
  readonly locator: ServerLocator;
  readonly clock: Clock;
  readonly log: Log;
  readonly onTrace: ((entry: TraceEntry) => void) | undefined;
  /** A request cannot leave, or nobody listens where it goes. */
  readonly failed: (key: string, problem?: string) => void;
}): Transmitter {
  const { socket, streams, locator, clock, log, onTrace } = options;
  let closed = false;

  return {
    send(output) {
      const { to, request } = output;
      if (isIP(to.address) !== 0) return transmit(output, to);
      locator.resolve(to.address).then(
        (address) => transmit(output, { ...to, address }),
        () =>
          request === undefined ? undefined : failed(request.key, `The name ${to.address} cannot be found.`),
      );
    },
    received: (bytes, source) => show("received", bytes, source),
    close: () => void (closed = true),
  };

  function transmit({ bytes, request }: Sending, to: SipAddress): void {
    if (closed) return;
    show("sent", bytes, to);
    if (isReliable(to)) {
      return streams.send(bytes, to, request && ((problem) => failed(request.key, problem)));
    }
    if (request?.resend === 1) void watchPort(request.key, to);
    socket.send(bytes, to, () => {
      log.debug("SIP datagram not sent", { port: to.port });
      if (request !== undefined) failed(request.key);
    });
  }

  function failed(key: string, problem?: string): void {
    if (!closed) options.failed(key, problem);
  }

  /** A request without an answer after 500 ms: twice refused in a second, its port is closed for good. */
  async function watchPort(key: string, to: SipAddress): Promise<void> {
    if (!(await isPortRefused(to))) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    clock.alarm(clock.now() + 1_000, resolve);
    await promise;
    if (closed || !(await isPortRefused(to))) return;
    failed(key, `Nobody listens at ${to.address}:${to.port} (UDP).`);
  }

  function show(direction: TraceEntry["direction"], bytes: Uint8Array, remote: SipAddress): void {
    if (onTrace === undefined) return;
    const local = (isReliable(remote) ? streams.localTo(remote) : undefined) ?? socket.local;
    const { address, port } = local;
    const entry = traceEntry(bytes, { at: clock.now(), direction, local: { address, port }, remote });
    if (entry !== undefined) onTrace(entry);
  }
}
