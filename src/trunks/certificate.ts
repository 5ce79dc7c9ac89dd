import { isIP } from "node:net";
import {
  checkServerIdentity,
  getCACertificates,
  type ConnectionOptions,
  type PeerCertificate,
} from "node:tls";
import type { SipAddress } from "#sip";
import { errorCode } from "./udp-socket.ts";

/**
 * How a TLS connection to a peer is made: TLS 1.2 or newer, the certificate checked against the peer's domain
 * (RFC 5922), or against its address where it has none. `extra` are further certificate authorities, PEM.
 */
export function secureOptions(peer: SipAddress, extra: readonly string[]): ConnectionOptions {
  const name = peer.domain ?? peer.address;
  return {
    minVersion: "TLSv1.2",
    // SNI carries names only (RFC 6066 3).
    ...(isIP(name) === 0 ? { servername: name } : {}),
    ...(extra.length === 0 ? {} : { ca: [...getCACertificates("default"), ...extra] }),
    checkServerIdentity: (_host, certificate) => checkIdentity(name, certificate),
  };
}

/** A certificate may name a SIP domain by URI (RFC 5922 7.1) where others name it by DNS. The error lists the names it bears. */
function checkIdentity(name: string, certificate: PeerCertificate): Error | undefined {
  const names = (certificate.subjectaltname ?? "").split(", ").filter((one) => one !== "");
  const bearsUri = names.some((one) => one.toLowerCase() === `uri:sip:${name.toLowerCase()}`);
  if (bearsUri || checkServerIdentity(name, certificate) === undefined) return undefined;
  const { CN = [] } = certificate.subject;
  const told = names.length > 0 ? names.map((one) => one.replace(/^[A-Za-z ]+:/, "")) : [CN].flat();
  return Object.assign(new Error(told.join(", ")), { code: wrongName });
}

const wrongName = "ERR_TLS_CERT_ALTNAME_INVALID";

/** Why a connection did not come about or ended, in one sentence. */
export function connectionProblem(error: unknown, peer: SipAddress): string {
  const at = `${peer.address.includes(":") ? `[${peer.address}]` : peer.address}:${peer.port}`;
  const name = peer.domain ?? peer.address;
  const code = errorCode(error);
  switch (code) {
    case wrongName:
      return `The certificate of ${at} is not for ${name}${namesIn(error)}.`;
    case "CERT_HAS_EXPIRED":
      return `The certificate of ${at} for ${name} has expired.`;
    case "CERT_NOT_YET_VALID":
      return `The certificate of ${at} for ${name} is not valid yet: check the clock.`;
    case "DEPTH_ZERO_SELF_SIGNED_CERT":
    case "SELF_SIGNED_CERT_IN_CHAIN":
      return `The certificate of ${at} is signed by nobody this machine trusts (self-signed).`;
    case "UNABLE_TO_GET_ISSUER_CERT":
    case "UNABLE_TO_GET_ISSUER_CERT_LOCALLY":
    case "UNABLE_TO_VERIFY_LEAF_SIGNATURE":
      return `The certificate of ${at} is signed by nobody this machine trusts.`;
    case "CERT_REVOKED":
      return `The certificate of ${at} has been revoked.`;
    case "ECONNREFUSED":
      return `Nobody listens at ${at} (${wordOf(peer)}).`;
    case "ECONNRESET":
    case "EPIPE":
      return `The server at ${at} closed the ${wordOf(peer)} connection.`;
    case "ETIMEDOUT":
      return `The server at ${at} does not answer (${wordOf(peer)}).`;
    case "EHOSTUNREACH":
    case "ENETUNREACH":
    case "EADDRNOTAVAIL":
      return `There is no way from here to ${at} (${code}).`;
  }
  if (code.startsWith("ERR_SSL_") || code === "EPROTO") {
    return `The server at ${at} does not speak TLS 1.2 or newer as we do (${code}).`;
  }
  return `The ${wordOf(peer)} connection to ${at} failed (${code === "" ? messageOf(error) : code}).`;
}

/** `TCP` or `TLS`. */
function wordOf(peer: SipAddress): string {
  return (peer.transport ?? "udp").toUpperCase();
}

/** The names a certificate does bear, as far as they are worth reading. */
function namesIn(error: unknown): string {
  const names = messageOf(error);
  return names === "" ? "" : ` but for ${printable(names).slice(0, 200)}`;
}

function printable(text: string): string {
  return text.replaceAll(/[^\x20-\x7e]/g, "?");
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
