import type { Socket } from "node:net";
import type { Clock, Entropy } from "#base";
import { createFramer, nextPingMs, type SipAddress } from "#sip";
import { connectionProblem } from "./certificate.ts";

/** One TCP or TLS connection, from its opening to its end. */
export interface StreamConnection {
  readonly peer: SipAddress;
  /** Whether the peer opened it. */
  readonly accepted: boolean;
  /** Our end; undefined until it is open. */
  readonly local: SipAddress | undefined;
  /** When the peer last gave a sign of life. */
  readonly heardAt: number;
  /** Resolves when it is open; rejects with one sentence when it does not come about. */
  readonly opened: Promise<void>;
  /**
   * Sends in order, waiting until it is open. `failed` hears of it when the connection ends within a transaction's
   * time, and whether the peer had said anything since.
   */
  send(bytes: Uint8Array, failed?: SendFailed): void;
  close(): void;
}

/** Hears the reason, and whether the peer had said anything since. */
type SendFailed = (problem: string, heard: boolean) => void;

interface StreamConnectionOptions {
  readonly clock: Clock;
  readonly entropy: Entropy;
  /** A whole message. False: its sender is a stranger. */
  readonly received: (bytes: Uint8Array) => boolean;
  /** The connection is gone; once, whether it was ever open or not. */
  readonly ended: (problem: string) => void;
  /** Whether a call or a registration needs it now. */
  readonly needed: () => boolean;
  /** True: the peer opened it. It must say something we take at once, and pings are its business. */
  readonly accepted: boolean;
}

const connectMs = 4_000;
/** RFC 5626 4.4.1: a ping without an answer for so long means a dead connection. */
const pongMs = 10_000;
/** A connection nobody needs is closed after so long without a message. */
const idleMs = 300_000;
/** How soon the opener of a connection has to say something that we take. */
const introductionMs = 10_000;
/** A peer that leaves so much unread is gone or hostile. */
const mostUnreadBytes = 1 << 20;
/** How long somebody may wait for the answer to what was sent: 64*T1. */
const answerMs = 32_000;
const ping = "\r\n\r\n";
const pong = "\r\n";

/** Carries SIP on a socket that is connecting (`openEvent` tells when it is done) or connected (undefined). */
export function carryStream(
  socket: Socket,
  peer: SipAddress,
  openEvent: "connect" | "secureConnect" | undefined,
  options: StreamConnectionOptions,
): StreamConnection {
  const { clock, entropy, accepted } = options;
  const framer = createFramer();
  const { promise: opened, resolve, reject } = Promise.withResolvers<void>();
  opened.catch(() => undefined); // Who only sends hears of it by `failed`.
  const awaiting: { readonly until: number; readonly chunks: number; readonly failed: SendFailed }[] = [];
  const alarms = new Map<"connect" | "ping" | "pong" | "idle", Disposable>();
  let local: SipAddress | undefined;
  let problem: string | undefined;
  let lastMessageAt = clock.now();
  let heardAt = clock.now();
  let introduced = !accepted;
  let pongDue = false;
  let answersPings = false;
  let lineEnds = 0;
  /** How often the peer said something. */
  let chunks = 0;
  let over = false;

  socket.setNoDelay(true);
  socket.on("error", (error) => (problem ??= connectionProblem(error, peer)));
  socket.on("data", take);
  socket.on("close", end);
  if (openEvent === undefined) open();
  else {
    socket.once(openEvent, open);
    set("connect", connectMs, () => fail(`The server at ${peer.address}:${peer.port} does not answer.`));
  }
  return {
    peer,
    accepted,
    get local() {
      return local;
    },
    get heardAt() {
      return heardAt;
    },
    opened,
    send,
    close: () => void (local === undefined ? socket.destroy() : socket.end()),
  };

  function open(): void {
    clear("connect");
    heardAt = clock.now();
    local = {
      address: socket.localAddress ?? "",
      port: socket.localPort ?? 0,
      ...(peer.transport === undefined ? {} : { transport: peer.transport }),
    };
    resolve();
    if (accepted) set("idle", introductionMs, watch);
    else set("ping", nextPingMs(entropy), keepAlive);
  }

  function send(bytes: Uint8Array, failed?: SendFailed): void {
    if (over || socket.writableLength + bytes.length > mostUnreadBytes) {
      const reason = problem ?? `The server at ${peer.address}:${peer.port} reads nothing.`;
      failed?.(reason, true);
      return fail(reason);
    }
    lastMessageAt = clock.now();
    while ((awaiting[0]?.until ?? Infinity) <= clock.now()) awaiting.shift();
    if (failed !== undefined) awaiting.push({ until: clock.now() + answerMs, chunks, failed });
    socket.write(bytes);
  }

  function take(chunk: Uint8Array): void {
    chunks += 1;
    heardAt = clock.now();
    for (const framed of framer.push(chunk)) {
      if (over) return;
      switch (framed.type) {
        case "message":
          lineEnds = 0;
          lastMessageAt = clock.now();
          if (options.received(framed.bytes)) introduced = true;
          break;
        case "line-end":
          heardLineEnd();
          break;
        case "broken":
          fail(`The server at ${peer.address}:${peer.port} does not speak SIP: ${framed.reason}.`);
      }
    }
  }

  /** Two line ends are a ping of the peer, one the answer to ours. */
  function heardLineEnd(): void {
    if (pongDue) {
      pongDue = false;
      answersPings = true;
      return clear("pong");
    }
    lineEnds += 1;
    if (lineEnds < 2) return;
    lineEnds = 0;
    if (introduced && socket.writableLength < mostUnreadBytes) socket.write(pong);
  }

  function keepAlive(): void {
    if (isIdle()) return void socket.end();
    socket.write(ping);
    pongDue = true;
    // Only one that has answered before is known to answer at all.
    if (answersPings) {
      set("pong", pongMs, () => fail(`The server at ${peer.address}:${peer.port} answers no more.`));
    }
    set("ping", nextPingMs(entropy), keepAlive);
  }

  function watch(): void {
    if (!introduced || isIdle()) return void socket.destroy();
    set("idle", idleMs, watch);
  }

  function isIdle(): boolean {
    return clock.now() - lastMessageAt >= idleMs && !options.needed();
  }

  function fail(reason: string): void {
    problem ??= reason;
    socket.destroy();
  }

  function end(): void {
    if (over) return;
    over = true;
    for (const alarm of alarms.values()) alarm[Symbol.dispose]();
    const reason = problem ?? `The server at ${peer.address}:${peer.port} closed the connection.`;
    reject(new Error(reason));
    options.ended(reason);
    for (const sent of awaiting.splice(0)) {
      if (sent.until > clock.now()) sent.failed(reason, sent.chunks < chunks);
    }
  }

  function set(name: "connect" | "ping" | "pong" | "idle", ms: number, ring: () => void): void {
    clear(name);
    alarms.set(name, clock.alarm(clock.now() + ms, ring));
  }

  function clear(name: "connect" | "ping" | "pong" | "idle"): void {
    alarms.get(name)?.[Symbol.dispose]();
    alarms.delete(name);
  }
}
