import { createSocket } from "node:dgram";
import { isIPv6 } from "node:net";
import { errorCode } from "./udp-socket.ts";

/**
 * Whether nobody listens at a UDP port. The system tells this (ICMP port unreachable) only to a socket connected to
 * it, so a separate one sends a line end, which SIP ignores (RFC 3261 7.5), and listens for a moment.
 */
export async function isPortRefused(
  target: { readonly address: string; readonly port: number },
  waitMs = 300,
): Promise<boolean> {
  const socket = createSocket(isIPv6(target.address) ? "udp6" : "udp4");
  const { promise, resolve } = Promise.withResolvers<boolean>();
  const timer = setTimeout(() => resolve(false), waitMs);
  const judge = (error: unknown): void => resolve(errorCode(error) === "ECONNREFUSED");
  socket.on("error", judge);
  socket.on("connect", () => socket.send("\r\n\r\n", (error) => (error === null ? undefined : judge(error))));
  try {
    socket.connect(target.port, target.address);
    return await promise;
  } catch {
    return false; // A port outside 1..65535: there is no closed door to find.
  } finally {
    clearTimeout(timer);
    socket.close();
  }
}
