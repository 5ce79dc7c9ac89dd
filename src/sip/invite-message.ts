import { agentHeader, contactFor, type AgentCore } from "./agent-core.ts";
import type { SipCredentials } from "./authenticator.ts";
import { checkedHost, identityHeaders, namedUri, type CallIdentity } from "./call-identity.ts";
import { allowedMethods, hostText, request, taggedUri, viaOf, type SipAddress } from "./compose.ts";
import type { Dialog } from "./dialog.ts";
import type { SavedDialog } from "./leg.ts";
import type { SipHeader, SipRequest } from "./message.ts";
import { supported } from "./plain-answers.ts";
import type { LocalMedia } from "./sdp.ts";
import { askForInterval, type SessionTimerPolicy } from "./session-expires.ts";

/** An order to call a number through a SIP server. */
export interface InviteOrder {
  /** Host name or address of the server, as it stands in the URIs. */
  readonly host: string;
  readonly port: number;
  /** Where the INVITE goes, when not to `host:port`; its address may be a host name. */
  readonly server?: SipAddress;
  /** Host of Request-URI, To and From in place of `host:port`. */
  readonly domain?: string;
  /** Route values of the INVITE, first hop first (RFC 3261 8.1.2, RFC 3608). */
  readonly routes?: readonly string[];
  readonly credentials?: SipCredentials;
  /** User part of the Request-URI: digits with or without `+`, or another plain name. */
  readonly number: string;
  /** User part of From; empty: anonymous. */
  readonly callerId: string;
  /** User part of From in place of the caller id, when there is one. */
  readonly fromUser?: string;
  readonly callId: string;
  readonly media: LocalMedia;
  /** From the sending of the INVITE to our CANCEL. */
  readonly ringTimeoutMs: number;
  readonly identity?: CallIdentity;
  /** Session interval to ask for (RFC 4028); absent: the user agent's; `off`: none, but one that the peer sets is kept. */
  readonly sessionTimer?: SessionTimerPolicy | "off";
}

/** What names an INVITE besides its order; branch and CSeq are new at each try. */
export interface InviteIdentity {
  readonly localTag: string;
  readonly branch: string;
  readonly cseq: number;
}

/**
 * The URIs of a call and the headers on who calls. Throws when number or caller id could reach beyond the user part,
 * a bug of the caller, and OutdialError `sip-identity-invalid`.
 */
function partiesOf(order: InviteOrder): {
  readonly requestUri: string;
  readonly localUri: string;
  readonly headers: readonly SipHeader[];
} {
  if (!plainUser.test(order.number)) throw new Error("the number to call is no plain SIP user");
  if (order.callerId !== "" && !plainUser.test(order.callerId))
    throw new Error("the caller id is no plain SIP user");
  const { identity = {} } = order;
  const fromUser = identity.fromUser ?? order.fromUser ?? order.callerId;
  if (fromUser !== "" && !plainUser.test(fromUser)) throw new Error("the user of From is no plain SIP user");
  const host = hostText(order.domain ?? order.host);
  const port = order.domain !== undefined || order.port === 5060 ? "" : `:${order.port}`;
  const fromHost = identity.fromHost === undefined ? host : checkedHost(identity.fromHost);
  const anonymous = order.callerId === "" && identity.fromUser === undefined;
  return {
    requestUri: `sip:${order.number}@${host}${port}`,
    localUri: anonymous ? "sip:anonymous@anonymous.invalid" : `sip:${fromUser}@${fromHost}`,
    headers: identityHeaders(identity, { host: fromHost, anonymous: order.callerId === "" }),
  };
}

const plainUser = /^[+]?[A-Za-z0-9._*-]{1,64}$/;

/** The INVITE with its offer (RFC 3261 13.2.1). */
export function buildInvite(
  core: AgentCore,
  order: InviteOrder,
  identity: InviteIdentity,
  parts: {
    readonly sdp: string;
    readonly credentials: readonly SipHeader[];
    readonly destination: SipAddress;
    /** The session interval to ask for; undefined: none. */
    readonly timers: SessionTimerPolicy | undefined;
  },
): SipRequest {
  const { requestUri, localUri, headers } = partiesOf(order);
  const { timers } = parts;
  const refresher = timers?.refresher === undefined ? undefined : timers.refresher === "us";
  return request(
    "INVITE",
    requestUri,
    [
      viaOf(core.localTo(parts.destination.address), identity.branch, parts.destination.transport),
      { name: "Max-Forwards", value: "70" },
      ...(order.routes ?? []).map((value) => ({ name: "Route", value })),
      { name: "From", value: `${namedUri(order.identity?.displayName, localUri)};tag=${identity.localTag}` },
      { name: "To", value: taggedUri(requestUri, null) },
      { name: "Call-ID", value: order.callId },
      { name: "CSeq", value: `${identity.cseq} INVITE` },
      contactFor(core, parts.destination, contactUserOf(order)),
      { name: "Allow", value: allowedMethods },
      { name: "Accept", value: "application/sdp" },
      agentHeader(core),
      supported,
      ...(timers === undefined ? [] : askForInterval(timers.expiresS, timers.minimumS, refresher)),
      ...headers,
      ...parts.credentials,
    ],
    parts.sdp,
  );
}

/** User part of our Contact in a call we make. */
export function contactUserOf(order: InviteOrder): string {
  return order.callerId === "" ? "anonymous" : order.callerId;
}

/** The identity of an INVITE that is out: enough for a CANCEL by another process. */
export function savedInvite(
  order: InviteOrder,
  identity: InviteIdentity,
  destination: SipAddress,
): SavedDialog {
  const { requestUri, localUri } = partiesOf(order);
  return {
    sipCallId: order.callId,
    localTag: identity.localTag,
    remoteTag: null,
    localUri,
    remoteUri: requestUri,
    remoteTarget: requestUri,
    routeSet: order.routes ?? [],
    localCSeq: identity.cseq,
    inviteBranch: identity.branch,
    requestUri,
    destination,
  };
}

/** The identity of an answered call: enough for a BYE by another process. */
export function savedAnswer(dialog: Dialog): SavedDialog {
  return {
    sipCallId: dialog.callId,
    localTag: dialog.localTag,
    remoteTag: dialog.remoteTag,
    localUri: dialog.localUri,
    remoteUri: dialog.remoteUri,
    remoteTarget: dialog.remoteTarget,
    routeSet: dialog.routeSet,
    localCSeq: dialog.localCSeq,
    inviteBranch: null,
    requestUri: dialog.remoteUri,
    destination: dialog.fallback,
  };
}
