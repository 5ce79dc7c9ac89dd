import type { Entropy } from "#base";
import { agentHeader, contactFor, freshVia, type AgentCore } from "./agent-core.ts";
import type { SipCredentials } from "./authenticator.ts";
import { createCallIndex } from "./call-index.ts";
import { createClientTransactions, type SendDatagram } from "./client-transactions.ts";
import {
  defaultPort,
  hostText,
  isReliable,
  randomToken,
  request,
  taggedUri,
  type SipAddress,
} from "./compose.ts";
import type { DigestHashes } from "./digest.ts";
import type { ReceivedCall } from "./incoming-call.ts";
import type { InviteOrder } from "./invite-message.ts";
import { keepOpen } from "./keep-alive.ts";
import { createLearnedAddresses, seenAt } from "./learned-addresses.ts";
import type { IncomingCallEvent, LegEvent, SavedDialog } from "./leg.ts";
import { endOrphan } from "./orphan.ts";
import { createOutgoingCall, type OutgoingCall } from "./outgoing-call.ts";
import { parseMessage } from "./parse.ts";
import { peekCallId } from "./peek-call-id.ts";
import { createRegistration, type Registration, type RegistrationOrder } from "./registrar.ts";
import type { RegistrationState } from "./registration.ts";
import { createRequestRouter, isKeepAlive, type ReceivedInvite } from "./request-router.ts";
import { createServerTransactions } from "./server-transactions.ts";
import { usualSessionTimer, type SessionTimerPolicy } from "./session-expires.ts";
import { createTimeline } from "./timeline.ts";
import { createTrustedPeers } from "./trusted-peers.ts";

export interface UserAgentOptions {
  readonly entropy: Entropy;
  readonly hashes: DigestHashes;
  readonly userAgentName: string;
  /** Our address as `peer` (an address or a host name) is to see it, for Via and Contact. */
  readonly localTo: (peer: string) => SipAddress;
  /** Our end of the connection to a peer, for Contact, when there is one. */
  readonly connectedTo?: (peer: SipAddress) => SipAddress | undefined;
  /** False: our address is as `localTo` says, whatever peers see. */
  readonly learnsAddress?: boolean;
  /** Requests too large for a datagram go over TCP, where the peer takes it (RFC 3261 18.1.1). */
  readonly largeOverTcp?: boolean;
  /** Peers besides those called lately whose requests get an answer. */
  readonly trusts: (address: string, port: number) => boolean;
  /** False: INVITEs are answered 480. */
  readonly takesCalls: boolean;
  /** Session intervals to ask for and to take (RFC 4028); absent: 1800 s, at least 90 s. */
  readonly sessionTimer?: SessionTimerPolicy;
}

interface SendOptions {
  /** Asked when the server fails: whether there is another, which `server-wanted` then asks for. */
  readonly another?: () => boolean;
  /** Tells where the INVITE went by `leg-invited-again`. */
  readonly announced?: boolean;
}

export type UserAgentOutput =
  /** A message; `to.address` may be a host name. `request` names a transaction for `sendFailed` and counts its sendings from 0. */
  | {
      readonly type: "send";
      readonly bytes: Uint8Array;
      readonly to: SipAddress;
      readonly request?: { readonly key: string; readonly resend: number };
    }
  | { readonly type: "leg-event"; readonly call: OutgoingCall; readonly event: LegEvent }
  | { readonly type: "call-received"; readonly call: ReceivedCall; readonly invite: ReceivedInvite }
  | { readonly type: "call-event"; readonly call: ReceivedCall; readonly event: IncomingCallEvent }
  | { readonly type: "probe-ended"; readonly probe: string; readonly result: ProbeOutcome }
  /** The server of a call failed and another was said to be there: `move` or `abandon` answers. */
  | { readonly type: "server-wanted"; readonly call: OutgoingCall }
  | {
      readonly type: "registration-changed";
      readonly registration: Registration;
      readonly state: RegistrationState;
    }
  /** A server is wanted to register at, `another` when the last one failed: `ask` or `unreachable` answers. */
  | { readonly type: "registrar-wanted"; readonly registration: Registration; readonly another: boolean }
  /** Taken back; nothing follows. */
  | { readonly type: "registration-closed"; readonly registration: Registration };

export type ProbeOutcome =
  | {
      readonly status: number;
      /** Where the peer saw the request come from, when it says. */
      readonly received?: SipAddress;
    }
  | { readonly failure: "timeout" | "transport"; readonly problem?: string };

/**
 * A SIP user agent without sockets (RFC 3261). The time is that of the latest `receive` or `tick`: call `tick(now)`
 * before an order or a method of a call, and `drain` after it.
 */
export interface UserAgent {
  /** A message came. Strangers get no answer. False: it was dropped unread. */
  receive(bytes: Uint8Array, source: SipAddress, now: number): boolean;
  /** Runs every timer due by `now`. */
  tick(now: number): void;
  /** When to call `tick` next, or Infinity. */
  deadline(): number;
  /** What is to be done in the world since the last drain, in order. */
  drain(): readonly UserAgentOutput[];
  /** A call not sent yet. Throws when number or caller id is no plain SIP user, and OutdialError `sip-identity-invalid`. */
  prepare(order: InviteOrder): OutgoingCall;
  /** Sends its INVITE; `destination` is an address. */
  send(call: OutgoingCall, destination: SipAddress, options?: SendOptions): void;
  /** Sends the INVITE to another server: an answer to `server-wanted`. */
  move(call: OutgoingCall, destination: SipAddress): void;
  /** Ends a call of a process that died; `saved.destination` is an address. */
  endOrphan(saved: SavedDialog, credentials: SipCredentials | undefined, answered: boolean): void;
  /** One OPTIONS to `host:port` (0: no port in its URI) at the address `destination`; `probe-ended` carries the returned name. */
  probe(host: string, port: number, destination: SipAddress): string;
  /** Registers an account. Throws when user or domain cannot stand in a SIP URI. */
  register(order: RegistrationOrder): Registration;
  /** The messages of a transaction cannot leave, or nobody listens where they go; `problem` is a sentence on it. */
  sendFailed(key: string, problem?: string): void;
  /** A connection to a peer is gone. */
  flowLost(peer: SipAddress): void;
  /** Whether a call or a registration relies on this address now. */
  relies(address: string): boolean;
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
  const learned = createLearnedAddresses();
  const clients = createClientTransactions(timeline, send, {
    largeOverTcp: options.largeOverTcp === true,
    answered: (response, by) => (options.learnsAddress === false ? undefined : learned.learn(response, by)),
  });
  const servers = createServerTransactions(timeline, send);
  const calls = createCallIndex(timeline);
  const peers = createTrustedPeers(timeline);
  const registrations = new Set<Registration>();
  /** Holds of the calls under way on the servers they were sent to. */
  const holds = new Map<OutgoingCall, DisposableStack>();
  const { entropy, hashes, userAgentName, localTo } = options;
  const core: AgentCore = {
    clock: timeline,
    entropy,
    hashes,
    userAgentName,
    clients,
    sessionTimer: options.sessionTimer ?? usualSessionTimer,
    localTo,
    contactTo: (peer) => learned.find(peer) ?? options.connectedTo?.(peer) ?? localTo(peer.address),
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
    move,
    endOrphan(saved, credentials, answered) {
      calls.expect(saved.sipCallId);
      endOrphan(core, saved, credentials, answered);
    },
    probe,
    register,
    sendFailed: (key, problem) => clients.sendFailed(key, problem),
    flowLost(peer) {
      learned.forget(peer);
      for (const registration of registrations) registration.flowLost(peer);
    },
    relies: (address) => peers.isHeld(address),
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

  function receive(bytes: Uint8Array, source: SipAddress, now: number): boolean {
    timeline.advance(now);
    const trusted = peers.has(source.address) || options.trusts(source.address, source.port);
    if (!trusted && !calls.knows(peekCallId(bytes) ?? "")) return false;
    if (isKeepAlive(bytes)) return false;
    const result = parseMessage(bytes);
    if (!result.ok) {
      if (trusted) router.refuseMalformed(result, source);
      return trusted;
    }
    if (result.message.type === "request") router.receive(result.message, source, trusted);
    else clients.receive(result.message);
    return true;
  }

  function prepare(order: InviteOrder): OutgoingCall {
    const call: OutgoingCall = createOutgoingCall(core, order, (event) => {
      outputs.push({ type: "leg-event", call, event });
    });
    return call;
  }

  function sendCall(call: OutgoingCall, destination: SipAddress, sending: SendOptions = {}): void {
    if (call.over) return; // Hung up while its host name was being looked up.
    const { another, announced = false } = sending;
    const hold = new DisposableStack();
    holds.set(call, hold);
    holdPeer(hold, destination);
    calls.add(call);
    call.send(destination, () => ended(call, hold), {
      announced,
      elsewhere() {
        if (another?.() !== true) return false;
        outputs.push({ type: "server-wanted", call });
        return true;
      },
    });
  }

  function move(call: OutgoingCall, destination: SipAddress): void {
    const hold = holds.get(call);
    if (hold !== undefined) holdPeer(hold, destination);
    call.moveTo(destination);
  }

  function ended(call: OutgoingCall, hold: DisposableStack): void {
    holds.delete(call);
    calls.dismiss(call, () => hold.dispose());
  }

  /** Trusts a peer, and keeps the way back open where an address translation was seen on it. */
  function holdPeer(hold: DisposableStack, peer: SipAddress): void {
    hold.use(peers.hold(peer.address));
    const seen = learned.find(peer);
    const own = localTo(peer.address);
    const translated = seen !== undefined && (seen.address !== own.address || seen.port !== own.port);
    if (translated && !isReliable(peer)) hold.use(keepOpen(core, peer));
  }

  function register(order: RegistrationOrder): Registration {
    const registration: Registration = createRegistration(core, order, {
      changed: (state) => void outputs.push({ type: "registration-changed", registration, state }),
      wanted: (another) => void outputs.push({ type: "registrar-wanted", registration, another }),
      hold: (address) => peers.hold(address),
      closed() {
        registrations.delete(registration);
        kept[Symbol.dispose]();
        outputs.push({ type: "registration-closed", registration });
      },
    });
    registrations.add(registration);
    const kept = calls.keep(registration.callId);
    registration.start();
    return registration;
  }

  function probe(host: string, port: number, destination: SipAddress): string {
    const callId = `${randomToken(entropy, 12)}@outdial`;
    const uri = `sip:${hostText(host)}${port === 0 || port === defaultPort(destination.transport) ? "" : `:${port}`}`;
    const via = freshVia(core, destination);
    const message = request("OPTIONS", uri, [
      via,
      { name: "Max-Forwards", value: "70" },
      {
        name: "From",
        value: taggedUri(`sip:ping@${hostText(localTo(host).address)}`, randomToken(entropy, 8)),
      },
      { name: "To", value: taggedUri(uri, null) },
      { name: "Call-ID", value: callId },
      { name: "CSeq", value: "1 OPTIONS" },
      contactFor(core, destination, "ping"),
      { name: "Accept", value: "application/sdp" },
      agentHeader(core),
    ]);
    const done = (result: ProbeOutcome): void =>
      void outputs.push({ type: "probe-ended", probe: callId, result });
    calls.expect(callId);
    peers.touch(destination.address);
    clients.sendRequest(message, destination, {
      response(response) {
        if (response.status < 200) return;
        const received = seenAt(response);
        done({ status: response.status, ...(received === undefined ? {} : { received }) });
      },
      failed: (failure, problem) => done({ failure, ...(problem === undefined ? {} : { problem }) }),
    });
    return callId;
  }
}
