import { createSocket, type Socket } from "node:dgram";
import { isIPv6 } from "node:net";
import { OutdialError, type Entropy } from "#base";

const attempts = 200;

/** Inclusive bounds. */
export interface PortRange {
  readonly from: number;
  readonly to: number;
}

export interface PortRequest {
  /** A literal address of this machine. */
  readonly address: string;
  /** Default: any free ports. */
  readonly range?: PortRange;
  readonly entropy: Entropy;
}

/** RTP on an even port and RTCP on the next (RFC 3550 11). */
export interface PortPair {
  readonly rtp: Socket;
  readonly rtcp: Socket;
  readonly port: number;
}

/** Binds an RTP and RTCP pair; rejects OutdialError `no-media-port` when none is free. */
export async function openPortPair(request: PortRequest): Promise<PortPair> {
  for (const port of candidates(request)) {
    const pair = await tryPair(request.address, port);
    if (pair !== undefined) return pair;
  }
  throw noPort(request);
}

/** Binds one even port; rejects OutdialError `no-media-port` when none is free. */
export async function openEvenPort(
  request: PortRequest,
): Promise<{ readonly socket: Socket; readonly port: number }> {
  for (const candidate of candidates(request)) {
    const socket = await tryBind(request.address, candidate);
    const port = socket?.address().port ?? 1;
    if (socket !== undefined && port % 2 === 0) return { socket, port };
    socket?.close();
  }
  throw noPort(request);
}

/** The even ports of the range from a random one on; without a range, 0 again and again. */
function* candidates({ range, entropy }: PortRequest): Generator<number> {
  if (range === undefined) {
    for (let i = 0; i < attempts; i++) yield 0;
    return;
  }
  const first = range.from + (range.from % 2);
  const count = Math.max(0, Math.floor((range.to - first + 1) / 2));
  const [high = 0, low = 0] = entropy.bytes(2);
  const start = ((high << 8) | low) % Math.max(1, count);
  for (let i = 0; i < count; i++) yield first + 2 * ((start + i) % count);
}

/** Port 0: the system chooses one of the two, the other is its neighbour. */
async function tryPair(address: string, wanted: number): Promise<PortPair | undefined> {
  const first = await tryBind(address, wanted);
  if (first === undefined) return undefined;
  const bound = first.address().port;
  const second = await tryBind(address, bound % 2 === 0 ? bound + 1 : bound - 1);
  if (second === undefined) {
    first.close();
    return undefined;
  }
  return bound % 2 === 0
    ? { rtp: first, rtcp: second, port: bound }
    : { rtp: second, rtcp: first, port: bound - 1 };
}

/** Undefined when the port is taken; rejects when the address is not ours. */
function tryBind(address: string, port: number): Promise<Socket | undefined> {
  const family = isIPv6(address) ? 6 : 4;
  const socket = createSocket({
    type: family === 6 ? "udp6" : "udp4",
    // Only literal addresses are bound to and sent to: no resolver on the way of each packet.
    lookup: (host, _options, done) => done(null, host, family),
  });
  return new Promise((resolve, reject) => {
    socket.once("error", (error: NodeJS.ErrnoException) => {
      socket.close();
      if (error.code === "EADDRINUSE" || error.code === "EACCES") resolve(undefined);
      else reject(error);
    });
    socket.bind({ port, address, exclusive: true }, () => {
      socket.removeAllListeners("error");
      resolve(socket);
    });
  });
}

function noPort({ address, range }: PortRequest): OutdialError {
  return new OutdialError("no-media-port", `no free port for audio on ${address}`, {
    hint: range === undefined ? "End other programs that hold UDP ports." : "Widen the range of media ports.",
    retryable: true,
  });
}
