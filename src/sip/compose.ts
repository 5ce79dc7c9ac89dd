import type { Entropy } from "#base";
import { headerValue, headerValues, parseNameAddr, parseVia, printVia } from "./header.ts";
import type { SipHeader, SipMessage, SipRequest, SipResponse } from "./message.ts";
import { reasonPhrase } from "./status.ts";
import { parseUri, type SipUri } from "./uri.ts";

/** What carries messages; `tls` is TLS over TCP. */
export type SipTransport = "udp" | "tcp" | "tls";

/** Where a message goes or comes from. IPv6 addresses stand without brackets; `address` may be a host name where that is said. */
export interface SipAddress {
  readonly address: string;
  readonly port: number;
  /** Absent: udp. */
  readonly transport?: SipTransport;
  /** The name it was found by: a TLS certificate must bear it, and a dialog's requests to that name stay with this address. */
  readonly domain?: string;
}

const text = new TextEncoder();
const noBody = new Uint8Array();

/** The methods a call of ours takes (RFC 3261 20.5). */
export const allowedMethods = "INVITE, ACK, CANCEL, BYE, OPTIONS, INFO, UPDATE, PRACK, NOTIFY";

/** `length` octets of chance as lower-case hex: for tags, branches, cnonces. */
export function randomToken(entropy: Entropy, length: number): string {
  return Array.from(entropy.bytes(length), (byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** A branch unique across space and time, with the magic cookie of RFC 3261 8.1.1.7. */
export function newBranch(entropy: Entropy): string {
  return `z9hG4bK${randomToken(entropy, 12)}`;
}

/** `host`, or `[host]` for an IPv6 address. */
export function hostText(address: string): string {
  return address.includes(":") ? `[${address}]` : address;
}

/** Whether the transport delivers by itself: then no request is repeated (RFC 3261 17). */
export function isReliable(to: SipAddress): boolean {
  return to.transport === "tcp" || to.transport === "tls";
}

/** Our Via, asking for symmetric routing (RFC 3581). */
export function viaOf(local: SipAddress, branch: string, transport: SipTransport = "udp"): SipHeader {
  const protocol = `SIP/2.0/${transport.toUpperCase()}`;
  return {
    name: "Via",
    value: `${protocol} ${hostText(local.address)}:${local.port};branch=${branch};rport`,
  };
}

/** A request of ours whose topmost Via names the transport it takes (RFC 3261 18.1.1). */
export function overTransport(message: SipRequest, transport: SipTransport = "udp"): SipRequest {
  const at = message.headers.findIndex((header) => header.name === "Via");
  const via = message.headers[at];
  if (via === undefined) return message;
  const value = via.value.replace(/^SIP\/2\.0\/[A-Z]+/, `SIP/2.0/${transport.toUpperCase()}`);
  return value === via.value
    ? message
    : { ...message, headers: message.headers.with(at, { name: "Via", value }) };
}

/** `<uri>` with the tag, when there is one. */
export function taggedUri(uri: string, tag: string | null): string {
  return tag === null || tag === "" ? `<${uri}>` : `<${uri}>;tag=${tag}`;
}

export function request(
  method: string,
  uri: string,
  headers: readonly SipHeader[],
  sdp?: string,
): SipRequest {
  return { type: "request", method, uri, ...content(headers, sdp) };
}

/** A response that copies what RFC 3261 8.2.6.2 wants copied; `toTag` is added to a To without one. */
export function responseTo(
  to: SipRequest,
  status: number,
  parts: {
    readonly reason?: string;
    readonly toTag?: string;
    readonly headers?: readonly SipHeader[];
    readonly sdp?: string;
  } = {},
): SipResponse {
  const copied = to.headers.filter((header) => copiedNames.has(header.name));
  const headers = copied.map((header) =>
    header.name === "To" && parts.toTag !== undefined && tagOf(to, "To") === undefined
      ? { name: "To", value: `${header.value};tag=${parts.toTag}` }
      : header,
  );
  return {
    type: "response",
    status,
    reason: parts.reason ?? reasonPhrase(status),
    ...content([...headers, ...(parts.headers ?? [])], parts.sdp),
  };
}

const copiedNames: ReadonlySet<string> = new Set(["Via", "From", "To", "Call-ID", "CSeq"]);

function content(
  headers: readonly SipHeader[],
  sdp: string | undefined,
): Pick<SipMessage, "headers" | "body"> {
  if (sdp === undefined) return { headers, body: noBody };
  return {
    headers: [...headers, { name: "Content-Type", value: "application/sdp" }],
    body: text.encode(sdp),
  };
}

/** The ACK of a refusal: same branch, Route and credentials as the INVITE, To of the response (RFC 3261 17.1.1.3, 22.1). */
export function ackOfRefusal(invite: SipRequest, response: SipResponse): SipRequest {
  const to = headerValue(response, "To") ?? headerValue(invite, "To") ?? "";
  return derived(invite, "ACK", (header) => (header.name === "To" ? { name: "To", value: to } : header));
}

/** The CANCEL of an INVITE that is out: same Request-URI, branch, tags, CSeq number and Route (RFC 3261 9.1). */
export function cancelOf(invite: SipRequest): SipRequest {
  return derived(invite, "CANCEL", (header) => header);
}

const derivedNames: ReadonlySet<string> = new Set([
  "Via",
  "Route",
  "Max-Forwards",
  "From",
  "To",
  "Call-ID",
  "User-Agent",
  "Authorization",
  "Proxy-Authorization",
]);

function derived(
  invite: SipRequest,
  method: "ACK" | "CANCEL",
  change: (header: SipHeader) => SipHeader,
): SipRequest {
  const number = Number.parseInt(headerValue(invite, "CSeq") ?? "", 10);
  const kept = invite.headers.filter((header) => derivedNames.has(header.name)).map(change);
  return request(method, invite.uri, [...kept, { name: "CSeq", value: `${number} ${method}` }]);
}

/** The request with `received` and `rport` of its topmost Via filled in (RFC 3261 18.2.1, RFC 3581 4). */
export function withSource(message: SipRequest, source: SipAddress): SipRequest {
  const values = headerValues(message, "Via");
  const via = values[0] === undefined ? undefined : parseVia(values[0]);
  if (via === undefined) return message;
  const stamped = printVia({
    ...via,
    ...(via.rport !== undefined || via.host !== source.address ? { received: source.address } : {}),
    ...(via.rport === undefined ? {} : { rport: source.port }),
  });
  const others = message.headers.filter((header) => header.name !== "Via");
  const vias = [stamped, ...values.slice(1)].map((value) => ({ name: "Via", value }));
  return { ...message, headers: [...vias, ...others] };
}

/** Where responses go: over the connection the request came by; over UDP to its address, at its port when `rport` was asked for, else the Via's (RFC 3261 18.2.2). */
export function responseAddress(message: SipRequest, source: SipAddress): SipAddress {
  if (isReliable(source)) return source;
  const value = headerValues(message, "Via")[0];
  const via = value === undefined ? undefined : parseVia(value);
  if (via === undefined || via.rport !== undefined) return source;
  return { address: source.address, port: via.port ?? 5060 };
}

/** The tag of From or To; undefined when there is none. */
export function tagOf(message: SipMessage, name: "From" | "To"): string | undefined {
  const value = headerValue(message, name);
  return value === undefined ? undefined : parseNameAddr(value)?.params.get("tag");
}

/** The URI of From, To or Contact as written; undefined when it cannot be read. */
export function uriOf(message: SipMessage, name: "From" | "To" | "Contact"): string | undefined {
  const value = headerValues(message, name)[0];
  return value === undefined ? undefined : parseNameAddr(value)?.uri;
}

/** Port of a transport when none is named (RFC 3261 19.1.2). */
export function defaultPort(transport: SipTransport = "udp"): number {
  return transport === "tls" ? 5061 : 5060;
}

/**
 * Where a sip URI of a dialog leads that so far went to `server`; the address may be a host name. Undefined for
 * anything else. A URI that names the server, or no transport of its own, keeps to it, and TLS is never left.
 */
export function addressOf(uri: string, server?: SipAddress): SipAddress | undefined {
  const parsed = parseUri(uri);
  if (parsed === undefined || parsed.host === "") return undefined;
  const { host, port } = parsed;
  const named = transportOf(parsed);
  const used = server?.transport ?? "udp";
  const transport = named ?? used;
  const place = { address: host, port: port ?? defaultPort(transport) };
  if (server === undefined) return transport === "udp" ? place : { ...place, transport };
  if (used === "tls" && transport !== "tls") return server;
  const loose = named === undefined && isReliable(server);
  if (transport === used && isServer(parsed, server, loose)) return server;
  if (transport === "udp") return place;
  const domain = /^[\d.]+$|:/.test(host) ? server.domain : host;
  return { ...place, transport, ...(domain === undefined ? {} : { domain }) };
}

/** `loose`: whatever its port, for a connection's peer that names no transport often gives the port of its UDP. */
function isServer(uri: SipUri, server: SipAddress, loose: boolean): boolean {
  const host = uri.host.toLowerCase();
  const byName = host === server.domain?.toLowerCase();
  if (!byName && host !== server.address) return false;
  return loose || (uri.port ?? (byName ? server.port : defaultPort(server.transport))) === server.port;
}

/** The transport a sip URI names; undefined when it leaves it open. */
export function transportOf(uri: SipUri): SipTransport | undefined {
  if (uri.scheme === "sips") return "tls";
  const named = uri.params.get("transport")?.toLowerCase();
  return named === "udp" || named === "tcp" || named === "tls" ? named : undefined;
}

/** The SDP a message carries, or undefined. A body without a type counts when it begins as one. */
export function sdpOf(message: SipMessage): string | undefined {
  if (message.body.length === 0) return undefined;
  const type = headerValue(message, "Content-Type");
  const body = new TextDecoder().decode(message.body);
  if (type === undefined) return body.startsWith("v=0") ? body : undefined;
  return /^application\/sdp\b/i.test(type) ? body : undefined;
}
