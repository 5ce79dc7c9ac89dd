import { addressOf, request, tagOf, taggedUri, uriOf, type SipAddress } from "./compose.ts";
import { headerValue, headerValues, parseCSeq, parseNameAddr } from "./header.ts";
import type { SavedDialog } from "./leg.ts";
import type { SipHeader, SipRequest, SipResponse } from "./message.ts";
import { parseUri, printUri } from "./uri.ts";

/** RFC 3261 12: what both sides know of each other. A value; each request or refresh makes a new one. */
export interface Dialog {
  readonly callId: string;
  readonly localTag: string;
  /** Empty when the peer gave none (RFC 2543). */
  readonly remoteTag: string;
  readonly localUri: string;
  readonly remoteUri: string;
  /** Contact of the peer. */
  readonly remoteTarget: string;
  /** Route values, first hop first. */
  readonly routeSet: readonly string[];
  /** Number of our latest request. */
  readonly localCSeq: number;
  /** Number of the peer's latest request. */
  readonly remoteCSeq: number;
  /** Where requests go when neither route set nor target name a usable place. */
  readonly fallback: SipAddress;
}

/** The caller's dialog, early or confirmed, from a response to its INVITE (RFC 3261 12.1.2). */
export function dialogOfResponse(invite: SipRequest, response: SipResponse, destination: SipAddress): Dialog {
  return {
    callId: headerValue(invite, "Call-ID") ?? "",
    localTag: tagOf(invite, "From") ?? "",
    remoteTag: tagOf(response, "To") ?? "",
    localUri: uriOf(invite, "From") ?? "",
    remoteUri: uriOf(invite, "To") ?? "",
    remoteTarget: uriOf(response, "Contact") ?? invite.uri,
    routeSet: headerValues(response, "Record-Route").toReversed(),
    localCSeq: cseqOf(invite),
    remoteCSeq: 0,
    fallback: destination,
  };
}

/** The callee's dialog from an INVITE that it gives `localTag` (RFC 3261 12.1.1). */
export function dialogOfRequest(invite: SipRequest, localTag: string, source: SipAddress): Dialog {
  return {
    callId: headerValue(invite, "Call-ID") ?? "",
    localTag,
    remoteTag: tagOf(invite, "From") ?? "",
    localUri: uriOf(invite, "To") ?? "",
    remoteUri: uriOf(invite, "From") ?? "",
    remoteTarget: uriOf(invite, "Contact") ?? uriOf(invite, "From") ?? "",
    routeSet: headerValues(invite, "Record-Route"),
    localCSeq: 0,
    remoteCSeq: cseqOf(invite),
    fallback: source,
  };
}

/** The dialog of an answered call of an earlier process. */
export function dialogOfSaved(saved: SavedDialog): Dialog {
  return {
    callId: saved.sipCallId,
    localTag: saved.localTag,
    remoteTag: saved.remoteTag ?? "",
    localUri: saved.localUri,
    remoteUri: saved.remoteUri,
    remoteTarget: saved.remoteTarget,
    routeSet: saved.routeSet,
    localCSeq: saved.localCSeq,
    remoteCSeq: 0,
    fallback: saved.destination,
  };
}

/** Takes a request of the peer: false when it is out of order (RFC 3261 12.2.2: answer 500). INVITE and UPDATE move the target. */
export function advanceDialog(dialog: Dialog, received: SipRequest): Dialog | undefined {
  const number = cseqOf(received);
  if (number < dialog.remoteCSeq) return undefined;
  const refreshes = received.method === "INVITE" || received.method === "UPDATE";
  const target = refreshes ? uriOf(received, "Contact") : undefined;
  return { ...dialog, remoteCSeq: number, remoteTarget: target ?? dialog.remoteTarget };
}

/** The dialog with its next own CSeq number. */
export function nextCSeq(dialog: Dialog): Dialog {
  return { ...dialog, localCSeq: dialog.localCSeq + 1 };
}

/**
 * A request inside the dialog with its present CSeq number, and where it goes (RFC 3261 12.2.1.1): through the
 * route set, a strict router first in line included. `headers` come first: Via, credentials.
 */
export function requestInDialog(
  dialog: Dialog,
  method: string,
  headers: readonly SipHeader[],
): { readonly request: SipRequest; readonly to: SipAddress } {
  const { uri, routes, hop } = routing(dialog);
  const [via, ...others] = headers;
  return {
    to: addressOf(hop, dialog.fallback) ?? dialog.fallback,
    request: request(method, uri, [
      ...(via === undefined ? [] : [via]),
      { name: "Max-Forwards", value: "70" },
      ...routes.map((value) => ({ name: "Route", value })),
      { name: "From", value: taggedUri(dialog.localUri, dialog.localTag) },
      { name: "To", value: taggedUri(dialog.remoteUri, dialog.remoteTag) },
      { name: "Call-ID", value: dialog.callId },
      { name: "CSeq", value: `${dialog.localCSeq} ${method}` },
      ...others,
    ]),
  };
}

function routing(dialog: Dialog): { uri: string; routes: readonly string[]; hop: string } {
  const first = dialog.routeSet[0];
  const firstUri = first === undefined ? undefined : parseNameAddr(first)?.uri;
  const target = asRequestUri(dialog.remoteTarget);
  if (firstUri === undefined) return { uri: target, routes: [], hop: dialog.remoteTarget };
  const loose = parseUri(firstUri)?.params.has("lr") ?? true;
  if (loose) return { uri: target, routes: dialog.routeSet, hop: firstUri };
  const routes = [...dialog.routeSet.slice(1), `<${dialog.remoteTarget}>`];
  return { uri: asRequestUri(firstUri), routes, hop: firstUri };
}

/** A URI without what a Request-URI must not have: headers and a method (RFC 3261 12.2.1.1, 19.1.1). As written when it has neither. */
function asRequestUri(text: string): string {
  const uri = parseUri(text);
  if (uri === undefined || (uri.headers.size === 0 && !uri.params.has("method"))) return text;
  const params = new Map([...uri.params].filter(([name]) => name !== "method"));
  return printUri({ ...uri, params, headers: new Map() });
}

/** CSeq number of a message; 0 when it cannot be read. */
export function cseqOf(message: SipRequest | SipResponse): number {
  return parseCSeq(headerValue(message, "CSeq") ?? "")?.number ?? 0;
}
