import type { Clock, Entropy } from "#base";
import { describeError, type Log } from "#host";
import {
  createUserAgent,
  defaultPort,
  type CallIdentity,
  type DigestHashes,
  type OutgoingCall,
  type SavedDialog,
  type SessionTimerPolicy,
  type UserAgent,
  type UserAgentOutput,
} from "#sip";
import { createCallDesk } from "./call-desk.ts";
import type { DialOrder, PreparedLeg, ProbeResult, SipTarget } from "./dialling.ts";
import type { IncomingCall } from "./incoming-call.ts";
import { localAddressTo } from "./local-address.ts";
import { createServerLocator } from "./locate.ts";
import { systemNames, type NameService } from "./name-service.ts";
import { openSockets } from "./open-sockets.ts";
import { createProbes } from "./probes.ts";
import { createRegistrations, type RegisterOrder, type RegistrationHandle } from "./registrations.ts";
import { createServers, type ServerSearch } from "./servers.ts";
import { queryOf, routesOf } from "./target.ts";
import type { TraceEntry } from "./trace.ts";
import { createTransmitter } from "./transmitter.ts";

export interface SipEndpointOptions {
  /** Local address to bind, IPv4 or IPv6. A wildcard is allowed. */
  readonly address: string;
  /** 0: the system chooses. */
  readonly port: number;
  /** Address to name in Via and Contact, when peers do not reach us at the bound one; absent: Contact learns it from their answers. */
  readonly publicAddress?: string;
  /** Takes TCP connections at the same port, too. */
  readonly takesTcp?: boolean;
  /** Certificate authorities besides those of the system, PEM: for private exchanges. */
  readonly caCertificates?: readonly string[];
  /** Absent: the operating system's DNS. */
  readonly names?: NameService;
  /** Best one that never jumps: it drives the protocol's timers. */
  readonly clock: Clock;
  readonly entropy: Entropy;
  readonly hashes: DigestHashes;
  readonly userAgentName: string;
  readonly log: Log;
  /** The session interval of calls (RFC 4028); absent: half an hour. */
  readonly sessionTimer?: SessionTimerPolicy;
  /** Absent: INVITEs of trusted peers are answered 480. */
  readonly onInvite?: (call: IncomingCall) => void;
  /** Peers besides those dialled lately and registrars whose requests get an answer. */
  readonly trusts?: (address: string, port: number) => boolean;
  /** Is shown every message sent, and every one received that was no stranger's, without secrets. Must not throw. */
  readonly onTrace?: (entry: TraceEntry) => void;
}

export interface SipEndpoint {
  readonly local: { readonly address: string; readonly port: number };
  /**
   * Builds the INVITE without sending it, so that its identity can be stored first. Throws when number, caller id or
   * From user is no plain SIP user, and OutdialError `sip-proxy-unreadable`.
   */
  prepare(order: DialOrder): PreparedLeg;
  /** BYE (answered) or CANCEL (ringing) for a dialog of a process that died. */
  hangUpOrphan(dialog: SavedDialog, target: SipTarget, answered: boolean): void;
  /** One OPTIONS, to the next server when one does not answer; never rejects. */
  probe(target: SipTarget): Promise<ProbeResult>;
  /**
   * Keeps an account registered until the handle is closed. Calls to the same target go by its registrar's proxies.
   * Throws when the user cannot stand in a SIP URI, and OutdialError `sip-proxy-unreadable`.
   */
  register(order: RegisterOrder): RegistrationHandle;
  /** Hangs up every leg, takes registrations back, gives the goodbyes a moment to be confirmed, and frees the port. */
  close(): Promise<void>;
}

/** How long `close` waits for peers to confirm BYE, CANCEL and REGISTER: two repetitions. */
const farewellMs = 1_600;

/** Binds the sockets. Rejects with OutdialError `sip-port-busy` when the address cannot be bound. */
export async function openSipEndpoint(options: SipEndpointOptions): Promise<SipEndpoint> {
  const { clock, entropy, log } = options;
  const { socket, streams } = await openSockets(options, {
    received(bytes, source) {
      let taken = false;
      attempt(() => (taken = agent.receive(bytes, source, clock.now())));
      if (taken) transmitter.received(bytes, source);
      flush();
      return taken;
    },
    connectionEnded: (peer) => act(() => agent.flowLost(peer)),
    needed: (address) => agent.relies(address),
  });
  const names = options.names ?? systemNames();
  const locator = createServerLocator({ names, clock, entropy, family: socket.family });
  const servers = createServers({ locator, streams, clock });
  const desk = createCallDesk({
    log,
    act,
    ...(options.onInvite === undefined ? {} : { onInvite: options.onInvite }),
  });
  const transmitter = createTransmitter({
    socket,
    streams,
    locator,
    clock,
    log,
    onTrace: options.onTrace,
    failed: (key, problem) => act(() => agent.sendFailed(key, problem)),
  });
  const agent: UserAgent = createUserAgent({
    entropy,
    hashes: options.hashes,
    userAgentName: options.userAgentName,
    trusts: options.trusts ?? (() => false),
    takesCalls: options.onInvite !== undefined,
    ...(options.sessionTimer === undefined ? {} : { sessionTimer: options.sessionTimer }),
    largeOverTcp: true,
    learnsAddress: options.publicAddress === undefined,
    localTo: (peer) => ({
      address: localAddressTo(peer, socket.local.address, options.publicAddress),
      port: socket.local.port,
    }),
    connectedTo(peer) {
      const own = streams.localTo(peer);
      if (own === undefined || options.publicAddress === undefined) return own;
      return { ...own, address: localAddressTo(peer.address, own.address, options.publicAddress) };
    },
  });
  const registrations = createRegistrations({ agent, servers, log, act });
  const probes = createProbes({ agent, servers, clock, act, isClosing: () => closing !== undefined });
  /** The servers left for calls not yet answered for. */
  const searches = new Map<OutgoingCall, ServerSearch>();
  let alarm: { readonly at: number; readonly handle: Disposable } | undefined;
  let flushing = false;
  let closing: { readonly quiet: () => void } | undefined;
  let closed = false;

  return {
    local: socket.local,
    prepare,
    hangUpOrphan,
    probe: (target) => probes.probe(target),
    register: (order) => registrations.register(order),
    close,
  };

  function prepare(order: DialOrder): PreparedLeg {
    const { target } = order;
    const account = registrations.find(target);
    const query = queryOf(target, account?.serviceRoute ?? []);
    const { host, port = defaultPort(query.transport), transport, domain } = query;
    const call = act(() =>
      agent.prepare({
        host: target.host,
        port: uriPortOf(target),
        server: {
          address: host,
          port,
          ...(transport === undefined || transport === "udp" ? {} : { transport }),
          ...(domain === undefined ? {} : { domain }),
        },
        ...(target.domain === undefined ? {} : { domain: target.domain }),
        ...(target.fromUser === undefined ? {} : { fromUser: target.fromUser }),
        routes: routesOf(target, account?.serviceRoute ?? []),
        ...credentialsOf(target),
        ...identityOf(order),
        number: order.number,
        callerId: order.callerId,
        callId: order.sipCallId,
        media: order.media,
        ringTimeoutMs: order.ringTimeoutMs,
      }),
    );
    let sent = false;
    return {
      dialog: call.dialog,
      send() {
        if (sent) throw new Error("the INVITE was sent already");
        sent = true;
        desk.follow(call, order.onEvent);
        inBackground(
          call,
          dial(call, () => servers.search(query, account?.server)),
        );
        return {
          hangUp: () => act(() => call.hangUp()),
          hold: () => act(() => call.hold()),
          resume: () => act(() => call.resume()),
          offer: (local) => act(() => call.offer(local)),
          transfer: (targetUri) => act(() => call.transfer(targetUri)),
          sendInfoDtmf: (digit, durationMs) => act(() => call.sendInfoDtmf(digit, durationMs)),
        };
      },
    };
  }

  async function dial(call: OutgoingCall, find: () => Promise<ServerSearch>): Promise<void> {
    const search = await find();
    const server = await search.next();
    if (server === undefined) {
      log.warn("SIP server not reached", { problem: search.problem });
      act(() => call.abandon(search.problem));
    } else if (closing === undefined) {
      searches.set(call, search);
      const { port, transport } = call.destination;
      const announced = search.size > 1 || server.port !== port || server.transport !== transport;
      act(() => agent.send(call, server, { another: () => search.more, announced }));
    } else act(() => call.hangUp());
  }

  async function redial(call: OutgoingCall): Promise<void> {
    const search = searches.get(call);
    if (search === undefined) return;
    search.failed();
    const server = await search.next();
    if (server === undefined) log.warn("no other SIP server reached", { problem: search.problem });
    act(() => (server === undefined ? call.abandon(search.problem) : agent.move(call, server)));
  }

  /** A fault on the way to a server ends its call, and only that. */
  function inBackground(call: OutgoingCall, work: Promise<void>): void {
    work.catch((error: unknown) => {
      log.error("fault while dialling; the call is given up", { error: describeError(error) });
      attempt(() => act(() => call.abandon()));
    });
  }

  function hangUpOrphan(dialog: SavedDialog, target: SipTarget, answered: boolean): void {
    void (async () => {
      try {
        const address = await locator.resolve(dialog.destination.address);
        const saved = { ...dialog, destination: { ...dialog.destination, address } };
        act(() => agent.endOrphan(saved, credentialsOf(target).credentials, answered));
      } catch (error) {
        log.warn("a lost call cannot be hung up", { host: target.host, error: describeError(error) });
      }
    })();
  }

  async function close(): Promise<void> {
    if (closing !== undefined) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    closing = { quiet: resolve };
    const limit = clock.alarm(clock.now() + farewellMs, resolve);
    act(() => {
      desk.hangUpAll();
      agent.hangUpAll();
      registrations.closeAll();
    });
    await promise;
    limit[Symbol.dispose]();
    act(() => desk.abandonAll());
    flush();
    closed = true;
    alarm?.handle[Symbol.dispose]();
    probes.abandonAll();
    registrations.abandonAll();
    transmitter.close();
    await Promise.all([streams.close(), socket.close()]);
  }

  /** Gives an order to the user agent; what comes of it is done after the caller has gone on. */
  function act<T>(order: () => T): T {
    attempt(() => agent.tick(clock.now())); // A fault of another call is not this caller's.
    const result = order();
    queueMicrotask(flush);
    return result;
  }

  /** The error boundary: a fault in dealing with one message or one timer stops neither the others nor the process. */
  function attempt(deed: () => void): void {
    try {
      deed();
    } catch (error) {
      log.error("fault in SIP handling", { error: describeError(error) });
    }
  }

  function flush(): void {
    if (flushing || closed) return;
    flushing = true;
    for (let outputs = agent.drain(); outputs.length > 0; outputs = agent.drain()) {
      for (const output of outputs) attempt(() => perform(output));
    }
    flushing = false;
    arm();
    if (agent.waiting === 0 && desk.legs === 0 && registrations.size === 0) closing?.quiet();
  }

  function perform(output: UserAgentOutput): void {
    switch (output.type) {
      case "send":
        return transmitter.send(output);
      case "probe-ended":
        return probes.deliver(output.probe, output.result);
      case "server-wanted":
        return inBackground(output.call, redial(output.call));
      case "registration-changed":
      case "registrar-wanted":
      case "registration-closed":
        return registrations.deliver(output);
      case "leg-event":
        if (output.event.type === "leg-ended") searches.delete(output.call);
        return desk.deliver(output);
      case "call-received":
      case "call-event":
        return desk.deliver(output);
    }
  }

  function arm(): void {
    const at = agent.deadline();
    if (alarm?.at === at) return;
    alarm?.handle[Symbol.dispose]();
    alarm = at === Infinity ? undefined : { at, handle: clock.alarm(at, ring) };
  }

  function ring(): void {
    alarm = undefined;
    attempt(() => agent.tick(clock.now()));
    flush();
  }
}

/** The port that stands in a target's URIs: none when it is the usual one, or left to DNS. */
function uriPortOf(target: SipTarget): number {
  const usual = defaultPort(target.transport);
  return target.port === undefined || target.port === 0 || target.port === usual ? 5060 : target.port;
}

function identityOf({ identity }: DialOrder): { readonly identity?: CallIdentity } {
  if (identity === undefined) return {};
  const { privacy, ...others } = identity;
  if (privacy === undefined || privacy === false) return { identity: others };
  return { identity: { ...others, privacy: privacy === true ? "id" : privacy } };
}

function credentialsOf(target: SipTarget): {
  readonly credentials?: { readonly username: string; readonly password: string };
} {
  const { username, password } = target;
  return username === undefined || password === undefined ? {} : { credentials: { username, password } };
}
