import { hostText, transportOf, type SipTransport } from "./compose.ts";
import { parseNameAddr } from "./header.ts";
import { parseUri } from "./uri.ts";

/** A proxy that requests go through: where it is, and how it stands in Route. */
export interface ProxyHop {
  /** A name or an address, without brackets. */
  readonly host: string;
  readonly port?: number;
  readonly transport?: SipTransport;
  /** Value for a Route header, loose (RFC 3261 16.12). */
  readonly route: string;
}

/** Reads a Route value, a sip URI, or `host` and `host:port`; undefined for anything else. */
export function readProxyHop(text: string): ProxyHop | undefined {
  const trimmed = text.trim();
  const written = trimmed.includes("<") ? parseNameAddr(trimmed)?.uri : trimmed;
  const uri =
    written === undefined ? undefined : parseUri(/^sips?:/i.test(written) ? written : `sip:${written}`);
  if (written === undefined || uri === undefined || uri.host === "") return undefined;
  const transport = transportOf(uri);
  const { host, port } = uri;
  const at = `${hostText(host)}${port === undefined ? "" : `:${port}`}`;
  return {
    host,
    ...(port === undefined ? {} : { port }),
    ...(transport === undefined ? {} : { transport }),
    route: trimmed.includes("<")
      ? trimmed
      : `<sip:${at}${transport === undefined ? "" : `;transport=${transport}`};lr>`,
  };
}
