import { createSocket } from "node:dgram";
import { once } from "node:events";
import { createServer, type AddressInfo } from "node:net";

/** A UDP port of 127.0.0.1 that was free a moment ago, and so were the `room - 1` ports above it. The first is even. */
export async function freeUdpPort(room = 1): Promise<number> {
  for (let attempt = 0; attempt < 50; attempt++) {
    const first = await portNow();
    const base = first + (first % 2);
    const others = Array.from({ length: room }, (_, i) => base + i);
    const free = await Promise.all(others.map(isUdpPortFree));
    if (base + room <= 65_535 && free.every(Boolean)) return base;
  }
  throw new Error(`no ${room} free UDP ports in a row`);
}

/** A TCP port of 127.0.0.1 that was free a moment ago. */
export async function freeTcpPort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, "close");
  return port;
}

async function portNow(): Promise<number> {
  const socket = createSocket("udp4").bind(0, "127.0.0.1");
  await once(socket, "listening");
  const { port } = socket.address();
  socket.close();
  await once(socket, "close");
  return port;
}

/** Whether nobody listens on the UDP port of 127.0.0.1 now. */
export async function isUdpPortFree(port: number): Promise<boolean> {
  const socket = createSocket("udp4");
  const { promise, resolve } = Promise.withResolvers<boolean>();
  socket.on("error", () => resolve(false));
  socket.bind(port, "127.0.0.1", () => socket.close(() => resolve(true)));
  return promise;
}
