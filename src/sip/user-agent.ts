import type { Entropy } from "#base";
import { agentHeader, contactFor, freshVia, type AgentCore } from "./agent-core.ts";
import type { SipCredentials } from "./authenticator.ts";
import { createCallIndex } from "./call-index.ts";
import { createClientTransactions, type SendDatagram } from "./client-transactions.ts";
import { hostText, randomToken, request, taggedUri, type SipAddress } from "./compose.ts";
import type { DigestHashes } from "./digest.ts";
import type { ReceivedCall } from "./incoming-call.ts";
import type { InviteOrder } from "./invite-message.ts";
import type { IncomingCallEvent, LegEvent, SavedDialog } from "./leg.ts";
import { endOrphan } from "./orphan.ts";
import { createOutgoingCall, type OutgoingCall } from "./outgoing-call.ts";
import { parseMessage } from "./parse.ts";
import { peekCallId } from "./peek-call-id.ts";
import { createRequestRouter, isKeepAlive, type ReceivedInvite } from "./request-router.ts";
import { createServerTransactions } from "./server-transactions.ts";
import { createTimeline } from "./timeline.ts";
import { createTrustedPeers } from "./trusted-peers.ts";

export interface UserAgentOptions {
  readonly entropy: Entropy;
  readonly hashes: DigestHashes;
  readonly userAgentName: string;
  /** Our address as `peer` (an address or a host name) is to see it, for Via and Contact. */
  readonly localTo: (peer: string) => SipAddress;
  /** Peers besides those called lately whose requests get an answer. */
  readonly trusts: (address: string, port: number) => boolean;
  /** False: INVITEs are answered 480. */
  readonly takesCalls: boolean;
}

export type UserAgentOutput =
  /** A datagram; `to.address` may be a host name. `request` names a transaction for `sendFailed` and counts its sendings from 0. */
  | {
      readonly type: "send";
      readonly bytes: Uint8Array;
      readonly to: SipAddress;
      readonly request?: { readonly key: string; readonly resend: number };
    }
  | { readonly type: "leg-event"; readonly call: OutgoingCall; readonly event: LegEvent }
  | { readonly type: "call-received"; readonly call: ReceivedCall; readonly invite: ReceivedInvite }
  | { readonly type: "call-event"; readonly call: ReceivedCall; readonly event: IncomingCallEvent }
  | { readonly type: "probe-ended"; readonly probe: string; readonly result: ProbeOutcome };

export type ProbeOutcome =
  | { readonly status: number }
  | { readonly failure: "timeout" | "transport" };

/**
 * A SIP user agent without sockets (RFC 3261). The time is that of the latest `receive` or `tick`: call `tick(now)`
 * before an order or a method of a call, and `drain` after it.
 */
export interface UserAgent {
  /** A datagram came. Strangers get no answer. */
  receive(bytes: Uint8Array, source: SipAddress, now: number): void;
  /** Runs every timer due by `now`. */
  tick(now: number): void;
  /** When to call `tick` next, or Infinity. */
  deadline(): number;
  /** What is to be done in the world since the last drain, in order. */
  drain(): readonly UserAgentOutput[];
  /** A call not sent yet. Throws when number or caller id is no plain SIP user. */
  prepare(order: InviteOrder): OutgoingCall;
  /** Sends its INVITE; `destination` is an address. */
  send(call: OutgoingCall, destination: SipAddress): void;
  /** Ends a call of a process that died; `saved.destination` is an address. */
  endOrphan(saved: SavedDialog, credentials: SipCredentials | undefined, answered: boolean): void;
  /** One OPTIONS to `host:port` at the address `destination`; `probe-ended` carries the returned name. */
  probe(host: string, port: number, destination: SipAddress): string;
  /** The datagrams of a transaction cannot leave, or nobody listens where they go. */
  sendFailed(key: string): void;
  hangUpAll(): void;
  /** Requests of ours still without a final response. */
  readonly waiting: number;
  /** Transactions and calls kept. */
  readonly size: number;
}

export function createUserAgent(options: UserAgentOptions): UserAgent {
  const timeline = createTimeline();
  const outputs: UserAgentOutput[] = [];
  const send: SendDatagram = (bytes, to, request) =>
    void outputs.push({ type: "send", bytes, to, ...(request === undefined ? {} : { request }) });
  const clients = createClientTransactions(timeline, send);
  const servers = createServerTransactions(timeline, send);
  const calls = createCallIndex(timeline);
  const peers = createTrustedPeers(timeline);
  const { entropy, hashes, userAgentName, localTo } = options;
  const core: AgentCore = {
    clock: timeline,
    entropy,
    hashes,
    userAgentName,
    clients,
    localTo,
    send: (bytes, to) => send(bytes, to),
    trust: (address) => peers.touch(address),
  };
  const router = createRequestRouter(
    core,
    { servers, calls },
    {
      received: options.takesCalls
        ? (call, invite) => void outputs.push({ type: "call-received", call, invite })
        : undefined,
      event: (call, event) => void outputs.push({ type: "call-event", call, event }),
    },
  );

  return {
    receive,
    tick: (now) => timeline.advance(now),
    deadline: () => timeline.deadline(),
    drain: () => outputs.splice(0),
    prepare,
    send: sendCall,
    endOrphan(saved, credentials, answered) {
      calls.expect(saved.sipCallId);
      endOrphan(core, saved, credentials, answered);
    },
    probe,
    sendFailed: (key) => clients.sendFailed(key),
    hangUpAll() {
      for (const call of calls.all) call.hangUp();
    },
    get waiting() {
      return clients.waiting;
    },
    get size() {
      return clients.size + servers.size + calls.all.length;
    },
  };

  function receive(bytes: Uint8Array, source: SipAddress, now: number): void {
    timeline.advance(now);
    const trusted = peers.has(source.address) || options.trusts(source.address, source.port);
    if (!trusted && !calls.knows(peekCallId(bytes) ?? "")) return;
    if (isKeepAlive(bytes)) return;
    const result = parseMessage(bytes);
    if (!result.ok) return trusted ? router.refuseMalformed(result, source) : undefined;
    if (result.message.type === "request") router.receive(result.message, source, trusted);
    else clients.receive(result.message);
  }

  function prepare(order: InviteOrder): OutgoingCall {
    const call: OutgoingCall = createOutgoingCall(core, order, (event) => {
      outputs.push({ type: "leg-event", call, event });
    });
    return call;
  }

  function sendCall(call: OutgoingCall, destination: SipAddress): void {
    if (call.over) return; // Hung up while its host name was being looked up.
    const hold = peers.hold(destination.address);
    calls.add(call);
    call.send(destination, () => calls.dismiss(call, () => hold[Symbol.dispose]()));
  }

  function probe(host: string, port: number, destination: SipAddress): string {
    const callId = `${randomToken(entropy, 12)}@outdial`;
    const uri = `sip:${hostText(host)}${port === 5060 ? "" : `:${port}`}`;
    const via = freshVia(core, destination.address);
    const message = request("OPTIONS", uri, [
      via,
      { name: "Max-Forwards", value: "70" },
      { name: "From", value: taggedUri(`sip:ping@${hostText(localTo(host).address)}`, randomToken(entropy, 8)) },
      { name: "To", value: taggedUri(uri, null) },
      { name: "Call-ID", value: callId },
      { name: "CSeq", value: "1 OPTIONS" },
      contactFor(core, destination.address, "ping"),
      { name: "Accept", value: "application/sdp" },
      agentHeader(core),
    ]);
    const ended = (result: ProbeOutcome): void =>
      void outputs.push({ type: "probe-ended", probe: callId, result });
    calls.expect(callId);
    peers.touch(destination.address);
    clients.sendRequest(message, destination, {
      response: (response) => (response.status >= 200 ? ended({ status: response.status }) : undefined),
      failed: (failure) => ended({ failure }),
    });
    return callId;
  }
}
