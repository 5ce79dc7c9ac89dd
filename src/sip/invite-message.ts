import { agentHeader, contactFor, type AgentCore } from "./agent-core.ts";
import type { SipCredentials } from "./authenticator.ts";
import { allowedMethods, hostText, request, taggedUri, viaOf, type SipAddress } from "./compose.ts";
import type { Dialog } from "./dialog.ts";
import type { SavedDialog } from "./leg.ts";
import type { SipHeader, SipRequest } from "./message.ts";
import type { LocalMedia } from "./sdp.ts";

/** An order to call a number through a SIP server. */
export interface InviteOrder {
  /** Host name or address of the server, as it stands in the URIs. */
  readonly host: string;
  readonly port: number;
  readonly credentials?: SipCredentials;
  /** User part of the Request-URI: digits with or without `+`, or another plain name. */
  readonly number: string;
  /** User part of From; empty: anonymous. */
  readonly callerId: string;
  readonly callId: string;
  readonly media: LocalMedia;
  /** From the sending of the INVITE to our CANCEL. */
  readonly ringTimeoutMs: number;
}

/** What names an INVITE besides its order; branch and CSeq are new at each try. */
export interface InviteIdentity {
  readonly localTag: string;
  readonly branch: string;
  readonly cseq: number;
}

/** The URIs of a call. Throws when number or caller id could reach beyond the user part: a bug of the caller. */
export function urisOf(order: InviteOrder): {
  readonly requestUri: string;
  readonly localUri: string;
} {
  if (!plainUser.test(order.number)) throw new Error("the number to call is no plain SIP user");
  if (order.callerId !== "" && !plainUser.test(order.callerId))
    throw new Error("the caller id is no plain SIP user");
  const host = hostText(order.host);
  const port = order.port === 5060 ? "" : `:${order.port}`;
  return {
    requestUri: `sip:${order.number}@${host}${port}`,
    localUri: order.callerId === "" ? "sip:anonymous@anonymous.invalid" : `sip:${order.callerId}@${host}`,
  };
}

const plainUser = /^[+]?[A-Za-z0-9._*-]{1,64}$/;

/** The INVITE with its offer (RFC 3261 13.2.1). */
export function buildInvite(
  core: AgentCore,
  order: InviteOrder,
  identity: InviteIdentity,
  parts: { readonly sdp: string; readonly credentials: readonly SipHeader[] },
): SipRequest {
  const { requestUri, localUri } = urisOf(order);
  const anonymous: SipHeader[] = order.callerId === "" ? [{ name: "Privacy", value: "id" }] : [];
  return request(
    "INVITE",
    requestUri,
    [
      viaOf(core.localTo(order.host), identity.branch),
      { name: "Max-Forwards", value: "70" },
      { name: "From", value: taggedUri(localUri, identity.localTag) },
      { name: "To", value: taggedUri(requestUri, null) },
      { name: "Call-ID", value: order.callId },
      { name: "CSeq", value: `${identity.cseq} INVITE` },
      contactFor(core, order.host, contactUserOf(order)),
      { name: "Allow", value: allowedMethods },
      { name: "Accept", value: "application/sdp" },
      agentHeader(core),
      ...anonymous,
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
  const { requestUri, localUri } = urisOf(order);
  return {
    sipCallId: order.callId,
    localTag: identity.localTag,
    remoteTag: null,
    localUri,
    remoteUri: requestUri,
    remoteTarget: requestUri,
    routeSet: [],
    localCSeq: identity.cseq,
    inviteBranch: identity.branch,
    requestUri,
    destination,
  };
}

/** The identity of an answered call: enough for a BYE by another process. */
export function savedAnswer(dialog: Dialog, requestUri: string): SavedDialog {
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
    requestUri,
    destination: dialog.fallback,
  };
}
