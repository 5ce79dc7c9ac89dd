import type { IncomingHttpHeaders } from "node:http";
import { Refusal } from "./failure.ts";

/**
 * Keeps web pages away from a server on the owner's machine. A page can send requests here under a name of
 * its own (DNS rebinding: foreign Host) or from its own origin; neither is served, and no CORS header is ever sent.
 */
export function createGuard(allowedHosts: readonly string[]): (headers: IncomingHttpHeaders) => void {
  const allowed = new Set([
    "localhost",
    "127.0.0.1",
    "[::1]",
    ...allowedHosts.map((host) => host.toLowerCase()),
  ]);
  return (headers) => {
    const host = (headers.host ?? "").toLowerCase();
    const name = host.replace(/:\d{1,5}$/, "");
    if (!allowed.has(name) && !allowed.has(host)) {
      throw new Refusal({
        status: 421,
        code: "misdirected",
        message: "This server does not answer for that host name",
      });
    }
    if (headers.origin !== undefined) {
      throw new Refusal({
        status: 403,
        code: "cross-origin",
        message: "Requests from web pages are not served",
      });
    }
  };
}
