import type { AgentCore } from "./agent-core.ts";
import type { CallIndex } from "./call-index.ts";
import {
  allowedMethods,
  randomToken,
  responseAddress,
  responseTo,
  sdpOf,
  tagOf,
  uriOf,
  withSource,
  type SipAddress,
} from "./compose.ts";
import { createReceivedCall, mergeKeyOf, type ReceivedCall } from "./incoming-call.ts";
import type { IncomingCallEvent } from "./leg.ts";
import type { SipRequest, SipResponse } from "./message.ts";
import type { ParseResult } from "./parse.ts";
import { capabilities, refusedMethod, unsupportedExtension } from "./plain-answers.ts";
import { printMessage } from "./print.ts";
import { answerTo } from "./sdp.ts";
import type { ServerTransaction, ServerTransactions } from "./server-transactions.ts";
import { intervalTooSmall } from "./session-expires.ts";
import { parseUri } from "./uri.ts";

/** What an INVITE says about the call. User parts are unescaped, empty when there is none. */
export interface ReceivedInvite {
  readonly number: string;
  readonly from: string;
  readonly to: string;
  /** The SDP as it came; undefined when there was none. */
  readonly offer?: string;
  readonly offered: { readonly text: boolean; readonly language?: string };
  readonly remote: SipAddress;
}

/** Takes the peers' requests: to their transaction, their call, or a new one. */
export interface RequestRouter {
  /** `trusted`: the peer gets an answer also outside the calls it is in. */
  receive(request: SipRequest, source: SipAddress, trusted: boolean): void;
  /** Answers a request that cannot be read, as far as it can be. */
  refuseMalformed(result: ParseResult, source: SipAddress): void;
}

export function createRequestRouter(
  core: AgentCore,
  tables: { readonly servers: ServerTransactions; readonly calls: CallIndex },
  sink: {
    /** Undefined: calls are not taken. */
    readonly received: ((call: ReceivedCall, invite: ReceivedInvite) => void) | undefined;
    readonly event: (call: ReceivedCall, event: IncomingCallEvent) => void;
  },
): RequestRouter {
  const { servers, calls } = tables;
  /** INVITEs of late, by what they share with a copy that came by a second way. */
  const mergeKeys = new Set<string>();

  return { receive, refuseMalformed };

  function receive(message: SipRequest, source: SipAddress, trusted: boolean): void {
    const request = withSource(message, source);
    const call = calls.find(request);
    if (call === undefined && !trusted) return;
    if (servers.receive(request)) return;
    switch (request.method) {
      case "ACK":
        return call?.acknowledge(request);
      case "CANCEL":
        return cancel(request, source);
      default:
        return call === undefined ? outside(request, source) : call.receive(open(request, source));
    }
  }

  function open(request: SipRequest, source: SipAddress): ServerTransaction {
    return request.method === "INVITE"
      ? servers.openInvite(request, source, responseTo(request, 100))
      : servers.openRequest(request, source);
  }

  function cancel(request: SipRequest, source: SipAddress): void {
    const transaction = servers.openRequest(request, source);
    transaction.respond(responseTo(request, servers.cancel(request) ? 200 : 481, { toTag: newTag() }));
  }

  function outside(request: SipRequest, source: SipAddress): void {
    const transaction = open(request, source);
    if (tagOf(request, "To") !== undefined) return transaction.respond(responseTo(request, 481));
    const toTag = newTag();
    const refusal = unacceptable(request, toTag) ?? tooShort(request, toTag);
    if (refusal !== undefined) return transaction.respond(refusal);
    switch (request.method) {
      case "INVITE":
        return invited(transaction, toTag);
      case "OPTIONS":
        return transaction.respond(capabilities(request, toTag));
      case "BYE":
      case "INFO":
      case "PRACK":
      case "UPDATE": // They belong to a call, and there is none.
        return transaction.respond(responseTo(request, 481, { toTag }));
      default:
        return transaction.respond(refusedMethod(request, toTag));
    }
  }

  function invited(transaction: ServerTransaction, toTag: string): void {
    const { request } = transaction;
    const received = sink.received;
    if (received === undefined) return transaction.respond(responseTo(request, 480, { toTag }));
    const mergeKey = mergeKeyOf(request);
    if (mergeKeys.has(mergeKey)) return transaction.respond(responseTo(request, 482, { toTag }));
    mergeKeys.add(mergeKey);
    const call: ReceivedCall = createReceivedCall(core, transaction, (event) => {
      sink.event(call, event);
      if (event.type !== "cancelled" && event.type !== "ended") return;
      calls.dismiss(call, () => mergeKeys.delete(mergeKey));
    });
    calls.add(call);
    received(call, readInvite(transaction));
  }

  function refuseMalformed(result: ParseResult, source: SipAddress): void {
    if (result.ok || result.request === undefined || result.request.method === "ACK") return;
    const request = withSource(result.request, source);
    const response = responseTo(request, result.status, { toTag: newTag() });
    core.send(printMessage(response), responseAddress(request, source));
  }

  function tooShort(request: SipRequest, toTag: string): SipResponse | undefined {
    return request.method === "INVITE" ? intervalTooSmall(request, core.sessionTimer, toTag) : undefined;
  }

  function newTag(): string {
    return randomToken(core.entropy, 8);
  }
}

function unacceptable(request: SipRequest, toTag: string): SipResponse | undefined {
  const unsupported = unsupportedExtension(request, toTag);
  if (unsupported !== undefined || request.method !== "INVITE") return unsupported;
  if (request.body.length === 0 || sdpOf(request) !== undefined) return undefined;
  return responseTo(request, 415, {
    toTag,
    headers: [
      { name: "Accept", value: "application/sdp" },
      { name: "Allow", value: allowedMethods },
    ],
  });
}

function readInvite(transaction: ServerTransaction): ReceivedInvite {
  const { request, source } = transaction;
  const offer = sdpOf(request);
  return {
    number: parseUri(request.uri)?.user ?? "",
    from: userOf(uriOf(request, "From")),
    to: userOf(uriOf(request, "To")),
    ...(offer === undefined ? {} : { offer }),
    offered: offer === undefined ? { text: false } : readOffer(offer),
    remote: source,
  };
}

/** What the offer holds besides audio, found by answering it as if everything were wanted. */
function readOffer(offer: string): ReceivedInvite["offered"] {
  const all = { address: "0.0.0.0", audioPort: 9, textPort: 9, codecs: ["PCMU", "PCMA"] } as const;
  const answer = answerTo(offer, all, { id: 0, version: 0 });
  if (!answer.ok) return { text: false };
  const { text, language } = answer.offered;
  return { text, ...(language === undefined ? {} : { language }) };
}

function userOf(uri: string | undefined): string {
  return (uri === undefined ? undefined : parseUri(uri)?.user) ?? "";
}

/** Whether a datagram is nothing but line ends: a keep-alive (RFC 5626 3.5.1). */
export function isKeepAlive(bytes: Uint8Array): boolean {
  return bytes.every((octet) => octet === 13 || octet === 10 || octet === 0);
}
