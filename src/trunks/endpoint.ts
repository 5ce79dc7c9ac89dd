import { isIP } from "node:net";
import type { Clock, Entropy } from "#base";
import { describeError, type Log } from "#host";
import {
  createUserAgent,
  type DigestHashes,
  type OutgoingCall,
  type ProbeOutcome,
  type SavedDialog,
  type UserAgent,
  type UserAgentOutput,
} from "#sip";
import { createCallDesk } from "./call-desk.ts";
import type { DialOrder, PreparedLeg, ProbeResult, SipTarget } from "./dialling.ts";
import { createHostNames } from "./host-names.ts";
import type { IncomingCall } from "./incoming-call.ts";
import { localAddressTo } from "./local-address.ts";
import { isPortRefused } from "./refused-port.ts";
import { openUdpSocket } from "./udp-socket.ts";

export interface SipEndpointOptions {
  /** Local address to bind, IPv4 or IPv6. A wildcard is allowed. */
  readonly address: string;
  /** 0: the system chooses. */
  readonly port: number;
  /** Address to name in Via and Contact, when peers do not reach us at the bound one. */
  readonly publicAddress?: string;
  /** Best one that never jumps: it drives the protocol's timers. */
  readonly clock: Clock;
  readonly entropy: Entropy;
  readonly hashes: DigestHashes;
  readonly userAgentName: string;
  readonly log: Log;
  /** Absent: INVITEs of trusted peers are answered 480. */
  readonly onInvite?: (call: IncomingCall) => void;
  /** Peers besides those dialled lately whose requests get an answer. */
  readonly trusts?: (address: string, port: number) => boolean;
}

export interface SipEndpoint {
  readonly local: { readonly address: string; readonly port: number };
  /** Builds the INVITE without sending it, so that its identity can be stored first. Throws when number or caller id is no plain SIP user. */
  prepare(order: DialOrder): PreparedLeg;
  /** BYE (answered) or CANCEL (ringing) for a dialog of a process that died. */
  hangUpOrphan(dialog: SavedDialog, target: SipTarget, answered: boolean): void;
  /** One OPTIONS; never rejects. */
  probe(target: SipTarget): Promise<ProbeResult>;
  /** Hangs up every leg, gives the goodbyes a moment to be confirmed, and frees the port. */
  close(): Promise<void>;
}

/** How long `close` waits for peers to confirm BYE and CANCEL: two repetitions. */
const farewellMs = 1_600;

/** Binds the socket. Rejects with OutdialError `sip-port-busy` when the address cannot be bound. */
export async function openSipEndpoint(options: SipEndpointOptions): Promise<SipEndpoint> {
  const { clock, log } = options;
  const socket = await openUdpSocket(options, {
    datagram: (bytes, source) => guard(() => agent.receive(bytes, source, clock.now())),
    error: (error) => log.warn("SIP socket error", { error: describeError(error) }),
  });
  const names = createHostNames(clock, socket.family);
  const desk = createCallDesk({
    log,
    act,
    ...(options.onInvite === undefined ? {} : { onInvite: options.onInvite }),
  });
  const agent: UserAgent = createUserAgent({
    entropy: options.entropy,
    hashes: options.hashes,
    userAgentName: options.userAgentName,
    trusts: options.trusts ?? (() => false),
    takesCalls: options.onInvite !== undefined,
    localTo: (peer) => ({
      address: localAddressTo(peer, socket.local.address, options.publicAddress),
      port: socket.local.port,
    }),
  });
  const probes = new Map<string, (outcome: ProbeOutcome) => void>();
  let alarm: { readonly at: number; readonly handle: Disposable } | undefined;
  let flushing = false;
  let closing: { readonly quiet: () => void } | undefined;
  let closed = false;

  return { local: socket.local, prepare, hangUpOrphan, probe, close };

  function prepare(order: DialOrder): PreparedLeg {
    const { target } = order;
    const call = act(() =>
      agent.prepare({
        host: target.host,
        port: target.port,
        ...credentialsOf(target),
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
        void dial(call, target);
        return { hangUp: () => act(() => call.hangUp()) };
      },
    };
  }

  async function dial(call: OutgoingCall, target: SipTarget): Promise<void> {
    try {
      const address = await names.resolve(target.host);
      act(() => (closing === undefined ? agent.send(call, { address, port: target.port }) : call.hangUp()));
    } catch (error) {
      log.warn("SIP host not found", { host: target.host, error: describeError(error) });
      act(() => call.abandon());
    }
  }

  function hangUpOrphan(dialog: SavedDialog, target: SipTarget, answered: boolean): void {
    void (async () => {
      try {
        const { port } = dialog.destination;
        const address = await names.resolve(dialog.destination.address);
        const saved = { ...dialog, destination: { address, port } };
        act(() => agent.endOrphan(saved, credentialsOf(target).credentials, answered));
      } catch (error) {
        log.warn("a lost call cannot be hung up", { host: target.host, error: describeError(error) });
      }
    })();
  }

  async function probe(target: SipTarget): Promise<ProbeResult> {
    const startedAt = clock.now();
    const { promise, resolve } = Promise.withResolvers<ProbeResult>();
    try {
      const address = await names.resolve(target.host);
      if (closing !== undefined) return { failure: "transport" };
      const id = act(() => agent.probe(target.host, target.port, { address, port: target.port }));
      probes.set(id, (outcome) =>
        resolve("status" in outcome ? { ...outcome, ms: clock.now() - startedAt } : outcome),
      );
    } catch (error) {
      log.warn("SIP host not found", { host: target.host, error: describeError(error) });
      return { failure: "transport" };
    }
    return promise;
  }

  async function close(): Promise<void> {
    if (closing !== undefined) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    closing = { quiet: resolve };
    const limit = clock.alarm(clock.now() + farewellMs, resolve);
    act(() => {
      desk.hangUpAll();
      agent.hangUpAll();
    });
    await promise;
    limit[Symbol.dispose]();
    act(() => desk.abandonAll());
    flush();
    closed = true;
    alarm?.handle[Symbol.dispose]();
    for (const settle of probes.values()) settle({ failure: "transport" });
    await socket.close();
  }

  /** Gives an order to the user agent; what comes of it is done after the caller has gone on. */
  function act<T>(order: () => T): T {
    agent.tick(clock.now());
    const result = order();
    queueMicrotask(flush);
    return result;
  }

  /** The error boundary: a fault in dealing with one datagram or one timer stops neither the others nor the process. */
  function guard(deed: () => void): void {
    try {
      deed();
    } catch (error) {
      log.error("fault in SIP handling", { error: describeError(error) });
    }
    flush();
  }

  function flush(): void {
    if (flushing || closed) return;
    flushing = true;
    for (let outputs = agent.drain(); outputs.length > 0; outputs = agent.drain()) {
      for (const output of outputs) perform(output);
    }
    flushing = false;
    arm();
    if (agent.waiting === 0 && desk.legs === 0) closing?.quiet();
  }

  function perform(output: UserAgentOutput): void {
    switch (output.type) {
      case "send":
        return send(output);
      case "probe-ended": {
        const settle = probes.get(output.probe);
        probes.delete(output.probe);
        return settle?.(output.result);
      }
      case "leg-event":
      case "call-received":
      case "call-event":
        return desk.deliver(output);
    }
  }

  function send(output: Extract<UserAgentOutput, { type: "send" }>): void {
    const { bytes, to, request } = output;
    const failed = (): void => {
      log.debug("SIP datagram not sent", { port: to.port });
      if (request !== undefined && !closed) act(() => agent.sendFailed(request.key));
    };
    if (request?.resend === 1) void watchPort(request.key, to);
    if (isIP(to.address) !== 0) return socket.send(bytes, to, failed);
    names
      .resolve(to.address)
      .then((address) => socket.send(bytes, { address, port: to.port }, failed), failed);
  }

  /** A request without an answer after 500 ms: twice refused in a second, its port is closed for good. */
  async function watchPort(
    key: string,
    to: { readonly address: string; readonly port: number },
  ): Promise<void> {
    if (isIP(to.address) === 0 || !(await isPortRefused(to))) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    clock.alarm(clock.now() + 1_000, resolve);
    await promise;
    if (!closed && (await isPortRefused(to)) && !closed) act(() => agent.sendFailed(key));
  }

  function arm(): void {
    const at = agent.deadline();
    if (alarm?.at === at) return;
    alarm?.handle[Symbol.dispose]();
    alarm = at === Infinity ? undefined : { at, handle: clock.alarm(at, ring) };
  }

  function ring(): void {
    alarm = undefined;
    guard(() => agent.tick(clock.now()));
  }
}

function credentialsOf(target: SipTarget): {
  readonly credentials?: { readonly username: string; readonly password: string };
} {
  const { username, password } = target;
  return username === undefined || password === undefined ? {} : { credentials: { username, password } };
}
