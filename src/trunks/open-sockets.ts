import type { Clock, Entropy } from "#base";
import { describeError, type Log } from "#host";
import type { SipAddress } from "#sip";
import { openStreams, type Streams } from "./streams.ts";
import { busyPort, errorCode, openUdpSocket, type UdpSocket } from "./udp-socket.ts";

/** Everything an endpoint speaks by: one UDP port, TCP and TLS connections, and where wanted a TCP port of the same number. */
export interface Sockets {
  readonly socket: UdpSocket;
  readonly streams: Streams;
}

/** How often another port is tried where the system chooses and its choice for UDP is taken for TCP. */
const tries = 8;

/** Rejects with OutdialError `sip-port-busy` when the address cannot be bound. */
export async function openSockets(
  options: {
    readonly address: string;
    readonly port: number;
    readonly takesTcp?: boolean;
    readonly caCertificates?: readonly string[];
    readonly clock: Clock;
    readonly entropy: Entropy;
    readonly log: Log;
  },
  on: {
    /** False: the sender is a stranger. */
    readonly received: (bytes: Uint8Array, source: SipAddress) => boolean;
    readonly connectionEnded: (peer: SipAddress) => void;
    readonly needed: (address: string) => boolean;
  },
): Promise<Sockets> {
  const { address, clock, entropy, log } = options;
  for (let left = options.port === 0 ? tries : 1; ; left--) {
    const socket = await openUdpSocket(options, {
      datagram: (bytes, source) => void on.received(bytes, source),
      error: (error) => log.warn("SIP socket error", { error: describeError(error) }),
    });
    const streams = openStreams({
      clock,
      entropy,
      log,
      address,
      family: socket.family,
      caCertificates: options.caCertificates ?? [],
      received: on.received,
      ended: on.connectionEnded,
      needed: on.needed,
    });
    if (options.takesTcp !== true) return { socket, streams };
    try {
      await streams.listen(address, socket.local.port);
      return { socket, streams };
    } catch (error) {
      await socket.close();
      if (left === 1 || errorCode(error) !== "EADDRINUSE") {
        throw busyPort({ address, port: socket.local.port }, error);
      }
    }
  }
}
