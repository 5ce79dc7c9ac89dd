import { peekCallId, type SipAddress, type SipTransport } from "#sip";

/** One SIP message as it was on the wire, without what must stay secret. */
export interface TraceEntry {
  /** On the endpoint's clock, ms. */
  readonly at: number;
  readonly direction: "sent" | "received";
  readonly transport: SipTransport;
  readonly local: { readonly address: string; readonly port: number };
  readonly remote: { readonly address: string; readonly port: number };
  readonly sipCallId: string;
  /** `INVITE sip:… SIP/2.0` or `SIP/2.0 200 OK`. */
  readonly firstLine: string;
  /** The whole message; credentials and media keys stand as `[redacted]`. */
  readonly text: string;
}

/** What is shown of a message. Undefined when it is none: line ends, or no Call-ID. */
export function traceEntry(
  bytes: Uint8Array,
  seen: Pick<TraceEntry, "at" | "direction" | "local"> & { readonly remote: SipAddress },
): TraceEntry | undefined {
  const sipCallId = peekCallId(bytes);
  if (sipCallId === undefined) return undefined;
  const text = redacted(new TextDecoder().decode(bytes));
  const { address, port, transport = "udp" } = seen.remote;
  return {
    at: seen.at,
    direction: seen.direction,
    transport,
    local: seen.local,
    remote: { address, port },
    sipCallId,
    firstLine: text.trimStart().split(/\r?\n/, 1)[0] ?? "",
    text,
  };
}

/** Headers with a proof of our password in them, in any spelling. */
const secretHeader = /^(?:proxy-)?authorization[ \t]*:/i;

/** Without the values of credentials (RFC 3261 22.4) and the keys of media (RFC 4568 `a=crypto`). */
function redacted(text: string): string {
  let secret = false;
  return text
    .split("\n")
    .map((line) => {
      // A line that begins with white space goes on with the header before it (RFC 3261 7.3.1).
      const goesOn = line.startsWith(" ") || line.startsWith("\t");
      if (goesOn && secret) return line.endsWith("\r") ? " [redacted]\r" : " [redacted]";
      secret = secretHeader.test(line);
      if (secret) return `${line.slice(0, line.indexOf(":"))}: [redacted]${line.endsWith("\r") ? "\r" : ""}`;
      return line.startsWith("a=crypto:") ? line.replaceAll(/inline:[^\s|;]+/g, "inline:[redacted]") : line;
    })
    .join("\n");
}
