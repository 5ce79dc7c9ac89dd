import { canonicalName } from "./header-name.ts";
import type { SipHeader } from "./message.ts";
import { parseHostPort } from "./address.ts";
import { isToken, quote } from "./scan.ts";
import { parseUri } from "./uri.ts";
import { OutdialError } from "#base";

/** Who calls, as the peer is to be told besides the caller id. An identity is a sip, sips or tel URI, or a plain user at our host. */
export interface CallIdentity {
  /** Name in From and in the identity headers. */
  readonly displayName?: string;
  /** User part of From in place of the caller id. */
  readonly fromUser?: string;
  /** Host of From in place of the server's, a port may follow. */
  readonly fromHost?: string;
  /** P-Asserted-Identity (RFC 3325), for peers that trust us. */
  readonly assertedIdentity?: string;
  /** P-Preferred-Identity (RFC 3325). */
  readonly preferredIdentity?: string;
  /** Remote-Party-ID, as older equipment wants it. */
  readonly remotePartyId?: string;
  /** Privacy (RFC 3323); absent: `id` for a call without a caller id. From is not changed by it. */
  readonly privacy?: "id" | "none";
  /** More headers of the INVITE. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Identity (RFC 8224), signed elsewhere, passed on as it is. */
  readonly identityHeader?: string;
}

/** Most octets of a header value; peers refuse lines of more than 8 KiB. */
const longestValue = 4_096;

/** Headers that a call is made of: a second one of these would break it, or speak for us. */
const core: ReadonlySet<string> = new Set(
  `accept allow authorization call-id contact content-disposition content-encoding content-language content-length
  content-type cseq event from identity max-forwards mime-version min-se p-asserted-identity p-preferred-identity privacy
  proxy-authorization proxy-require rack record-route refer-to remote-party-id replaces require route rseq
  session-expires subscription-state supported to user-agent via`.split(/\s+/),
);

/** The identity headers of an INVITE. Throws OutdialError `sip-identity-invalid` for what cannot stand in them. */
export function identityHeaders(
  identity: CallIdentity,
  from: { readonly host: string; readonly anonymous: boolean },
): readonly SipHeader[] {
  const { assertedIdentity, displayName, preferredIdentity, remotePartyId } = identity;
  const named = (text: string, what: string): string =>
    namedUri(displayName, identityUri(text, from.host, what));
  const privacy = identity.privacy ?? (from.anonymous ? "id" : undefined);
  const party = `;party=calling;screen=yes;privacy=${privacy === "id" ? "full" : "off"}`;
  const lines: (readonly [string, string | undefined])[] = [
    ["P-Asserted-Identity", assertedIdentity && named(assertedIdentity, "asserted identity")],
    ["P-Preferred-Identity", preferredIdentity && named(preferredIdentity, "preferred identity")],
    ["Remote-Party-ID", remotePartyId && `${named(remotePartyId, "remote party")}${party}`],
    ["Privacy", privacy],
    ["Identity", identity.identityHeader && checkedValue("Identity", identity.identityHeader)],
    ...Object.entries(identity.headers ?? {}).map(customHeader),
  ];
  return lines.flatMap(([name, value]) => (value === undefined || value === "" ? [] : [{ name, value }]));
}

/** `<uri>`, after the name when there is one. */
export function namedUri(displayName: string | undefined, uri: string): string {
  return displayName === undefined || displayName === "" ? `<${uri}>` : `${quote(displayName)} <${uri}>`;
}

/** The host a From is to have; throws OutdialError `sip-identity-invalid` when it is none. */
export function checkedHost(host: string): string {
  if (parseHostPort(host) === undefined) throw invalid("The host for From is no host name or address.");
  return host;
}

const plainUser = /^[+]?[A-Za-z0-9._*-]{1,64}$/;

function identityUri(text: string, host: string, what: string): string {
  if (plainUser.test(text)) return `sip:${text}@${host}`;
  if (parseUri(text) === undefined)
    throw invalid(`The ${what} is neither a SIP or tel URI nor a plain user.`);
  return text;
}

function customHeader([name, value]: readonly [string, string]): readonly [string, string] {
  if (!isToken(name)) throw invalid(`"${name}" is no header name.`);
  if (core.has(canonicalName(name).toLowerCase()))
    throw invalid(`The header ${canonicalName(name)} is outdial's own and cannot be set.`);
  return [name, checkedValue(name, value)];
}

function checkedValue(name: string, value: string): string {
  if (hasControl(value))
    throw invalid(`The value of the header ${name} has a line break or another control character.`);
  if (value.length > longestValue)
    throw invalid(`The value of the header ${name} has more than ${longestValue} characters.`);
  return value.trim();
}

function hasControl(text: string): boolean {
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (code < 0x20 || code === 0x7f) return true;
  }
  return false;
}

function invalid(message: string): OutdialError<"sip-identity-invalid"> {
  return new OutdialError("sip-identity-invalid", message, {
    hint: "Correct the caller identity of the trunk.",
  });
}
