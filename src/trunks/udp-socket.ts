import { createSocket, type Socket } from "node:dgram";
import { isIPv6 } from "node:net";
import { OutdialError } from "#base";

export interface UdpSocket {
  readonly local: { readonly address: string; readonly port: number };
  readonly family: 4 | 6;
  /** `failed` hears of an error that sending the same again would meet again. */
  send(bytes: Uint8Array, to: { readonly address: string; readonly port: number }, failed: () => void): void;
  close(): Promise<void>;
}

/** Errors of the way to a peer, not of the moment. */
const lasting: ReadonlySet<string> = new Set([
  "EACCES",
  "EADDRNOTAVAIL",
  "EAFNOSUPPORT",
  "EHOSTDOWN",
  "EHOSTUNREACH",
  "EINVAL",
  "EMSGSIZE",
  "ENETDOWN",
  "ENETUNREACH",
  "ENOTFOUND",
  "ERR_SOCKET_BAD_PORT",
]);

/** Binds a UDP socket. Rejects with OutdialError `sip-port-busy` when the address cannot be bound. */
export async function openUdpSocket(
  at: { readonly address: string; readonly port: number },
  on: {
    readonly datagram: (bytes: Uint8Array, source: { address: string; port: number }) => void;
    readonly error: (error: Error) => void;
  },
): Promise<UdpSocket> {
  const family = isIPv6(at.address) ? 6 : 4;
  const socket = createSocket({ type: family === 6 ? "udp6" : "udp4", recvBufferSize: 1 << 20 });
  await bind(socket, at);
  socket.on("error", on.error);
  socket.on("message", (bytes, source) => on.datagram(bytes, { address: source.address, port: source.port }));
  const { address, port } = socket.address();
  let closed = false;
  return { local: { address, port }, family, send, close };

  function send(bytes: Uint8Array, to: { address: string; port: number }, failed: () => void): void {
    if (closed) return;
    const report = (error: unknown): void => {
      if (lasting.has(errorCode(error))) failed();
    };
    try {
      socket.send(bytes, to.port, to.address, report);
    } catch (error) {
      report(error); // A port outside 1..65535, out of somebody's Contact.
    }
  }

  async function close(): Promise<void> {
    if (closed) return;
    closed = true;
    const { promise, resolve } = Promise.withResolvers<void>();
    socket.close(resolve);
    await promise;
  }
}

async function bind(socket: Socket, at: { readonly address: string; readonly port: number }): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  socket.once("error", reject);
  socket.bind({ address: at.address, port: at.port, exclusive: true }, resolve);
  try {
    await promise;
  } catch (cause) {
    socket.close();
    throw busyPort(at, cause);
  } finally {
    socket.removeListener("error", reject);
  }
}

/** The error `sip-port-busy` for an address that could not be bound. */
export function busyPort(
  at: { readonly address: string; readonly port: number },
  cause: unknown,
): OutdialError {
  return new OutdialError(
    "sip-port-busy",
    `SIP cannot listen on ${at.address}:${at.port} (${errorCode(cause)})`,
    { hint: "Stop what uses the port, or choose another address and port.", cause },
  );
}

/** The system's name of an error, such as `EADDRINUSE`; empty when there is none. */
export function errorCode(error: unknown): string {
  return error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : "";
}
