import { connect as connectTcp, createServer, type Server, type Socket } from "node:net";
import { connect as connectTls } from "node:tls";
import type { Clock, Entropy } from "#base";
import type { Log } from "#host";
import { isReliable, type SipAddress } from "#sip";
import { secureOptions } from "./certificate.ts";
import { carryStream, type StreamConnection } from "./stream-connection.ts";

/** The TCP and TLS connections of an endpoint, one a peer, used by both sides for everything between them. */
export interface Streams {
  /** Opens the connection to a peer unless there is one. Rejects with one sentence. */
  connect(to: SipAddress): Promise<void>;
  /** Sends over the connection to a peer, which is opened if need be. */
  send(bytes: Uint8Array, to: SipAddress, failed?: (problem: string) => void): void;
  /** Our end of the connection to a peer; undefined when none is open. */
  localTo(to: SipAddress): SipAddress | undefined;
  /** Takes TCP connections, too. Rejects with the system's error. */
  listen(address: string, port: number): Promise<void>;
  close(): Promise<void>;
}

export interface StreamsOptions {
  readonly clock: Clock;
  readonly entropy: Entropy;
  readonly log: Log;
  /** Bound end of connections; a wildcard leaves it to the system. */
  readonly address: string;
  readonly family: 4 | 6;
  /** Certificate authorities besides those of the system, PEM. */
  readonly caCertificates: readonly string[];
  /** False: the sender is a stranger. */
  readonly received: (bytes: Uint8Array, source: SipAddress) => boolean;
  /** A connection is gone. */
  readonly ended: (peer: SipAddress) => void;
  /** Whether a call or a registration needs the connection to this address. */
  readonly needed: (address: string) => boolean;
}

/** Connections that peers may open: in all, and from one address. */
const mostAccepted = 128;
const mostOfOneAddress = 16;
const closeMs = 1_000;
/** After so long without a sign of life nobody knows whether a connection still leads anywhere. */
const staleMs = 10_000;

export function openStreams(options: StreamsOptions): Streams {
  const { clock, entropy, log } = options;
  const connections = new Map<string, StreamConnection>();
  const sockets = new Set<Socket>();
  const accepted = new Map<string, number>();
  let server: Server | undefined;
  let closed = false;

  return {
    connect: async (to) => (await Promise.resolve(reach(to))).opened,
    send,
    localTo: (to) => connections.get(keyOf(to))?.local,
    listen,
    close,
  };

  function send(bytes: Uint8Array, to: SipAddress, failed?: (problem: string) => void): void {
    if (closed) return;
    const used = connections.get(keyOf(to));
    const stale = used !== undefined && !used.accepted && clock.now() - used.heardAt >= staleMs;
    try {
      reach(to).send(
        bytes,
        failed &&
          ((problem, heard) => {
            // It may have been dead for long: what it swallowed goes over a new one, once.
            if (!stale || heard || closed) failed(problem);
            else reach(to).send(bytes, failed);
          }),
      );
    } catch (error) {
      failed?.(error instanceof Error ? error.message : String(error)); // A port outside 1..65535.
    }
  }

  function reach(to: SipAddress): StreamConnection {
    const known = connections.get(keyOf(to));
    if (known !== undefined) return known;
    if (closed) throw new Error("The endpoint is closed.");
    if (!Number.isInteger(to.port) || to.port < 1 || to.port > 65_535) {
      throw new Error(`There is no port ${to.port}.`);
    }
    const wildcard = options.address === "0.0.0.0" || options.address === "::";
    const place = {
      host: to.address,
      port: to.port,
      family: options.family,
      ...(wildcard ? {} : { localAddress: options.address }),
    };
    const socket =
      to.transport === "tls"
        ? connectTls({ ...place, ...secureOptions(to, options.caCertificates) })
        : connectTcp(place);
    return carry(socket, to, to.transport === "tls" ? "secureConnect" : "connect");
  }

  function carry(
    socket: Socket,
    peer: SipAddress,
    openEvent: "connect" | "secureConnect" | undefined,
  ): StreamConnection {
    const key = keyOf(peer);
    sockets.add(socket);
    const connection: StreamConnection = carryStream(socket, peer, openEvent, {
      clock,
      entropy,
      accepted: openEvent === undefined,
      received: (bytes) => options.received(bytes, peer),
      needed: () => options.needed(peer.address),
      ended(problem) {
        sockets.delete(socket);
        if (connections.get(key) === connection) connections.delete(key);
        if (!closed) log.debug("SIP connection ended", { problem });
        if (!closed) options.ended(peer);
      },
    });
    connections.set(key, connection);
    return connection;
  }

  async function listen(address: string, port: number): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const listener = createServer({ noDelay: true }, take);
    listener.once("error", reject);
    listener.listen({ host: address, port, exclusive: true }, resolve);
    await promise;
    listener.on("error", (error) => log.warn("SIP listener error", { message: error.message }));
    server = listener;
  }

  function take(socket: Socket): void {
    const { remoteAddress: address, remotePort: port } = socket;
    const siblings = accepted.get(address ?? "") ?? 0;
    const all = [...accepted.values()].reduce((sum, count) => sum + count, 0);
    if (
      closed ||
      address === undefined ||
      port === undefined ||
      all >= mostAccepted ||
      siblings >= mostOfOneAddress
    ) {
      socket.destroy();
      return;
    }
    accepted.set(address, siblings + 1);
    socket.once("close", () => {
      const others = (accepted.get(address) ?? 1) - 1;
      if (others > 0) accepted.set(address, others);
      else accepted.delete(address);
    });
    carry(socket, { address, port, transport: "tcp" }, undefined);
  }

  async function close(): Promise<void> {
    if (closed) return;
    closed = true;
    server?.close();
    const gone = [...sockets].map((socket) => new Promise((resolve) => socket.once("close", resolve)));
    for (const connection of connections.values()) connection.close();
    const limit = clock.alarm(clock.now() + closeMs, () => {
      for (const socket of sockets) socket.destroy();
    });
    await Promise.all(gone);
    limit[Symbol.dispose]();
  }
}

/** One certificate is no proof for another name. */
function keyOf(peer: SipAddress): string {
  const transport = isReliable(peer) ? peer.transport : "tcp";
  const name = transport === "tls" ? (peer.domain ?? "") : "";
  return `${transport} ${peer.address} ${peer.port} ${name.toLowerCase()}`;
}
