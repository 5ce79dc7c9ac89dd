import { createSocket } from "node:dgram";
import { isIPv6 } from "node:net";

/** The local address from which datagrams to `host` leave. Asks the routing table; sends nothing. */
export async function localAddressTowards(host: string): Promise<string> {
  const socket = createSocket(isIPv6(host) ? "udp6" : "udp4");
  try {
    await new Promise<void>((resolve, reject) => {
      socket.once("error", reject);
      socket.connect(9, host, resolve);
    });
    return socket.address().address;
  } finally {
    socket.close();
  }
}
