import type { Driver } from "#base";
import { agentHeader, contactFor, freshVia, type AgentCore } from "./agent-core.ts";
import { createAuthenticator, type AuthenticationAttempt, type SipCredentials } from "./authenticator.ts";
import { hostText, isReliable, randomToken, request, taggedUri, type SipAddress } from "./compose.ts";
import { headerValue, headerValues, parseNameAddr, parseRetryAfter } from "./header.ts";
import { keepOpen } from "./keep-alive.ts";
import type { SipHeader, SipRequest, SipResponse } from "./message.ts";
import {
  registration,
  startRegistration,
  type RegistrationEffect,
  type RegistrationInput,
  type RegistrationState,
} from "./registration.ts";
import { runMachine } from "./run-machine.ts";
import { readNumber } from "./scan.ts";
import { parseUri, sameUri } from "./uri.ts";

/** An account to register. */
export interface RegistrationOrder {
  /** Host of the address of record: the provider's domain, a host name or an address. */
  readonly domain: string;
  /** User part of the address of record and of our Contact. */
  readonly user: string;
  readonly credentials?: SipCredentials;
  /** Seconds to ask for. */
  readonly expiresS: number;
  /** Route values, first hop first. */
  readonly routes?: readonly string[];
}

/** An account of ours at a registrar (RFC 3261 10). */
export interface Registration {
  readonly callId: string;
  readonly state: RegistrationState;
  /** Route values for calls of this account, first hop first (RFC 3608). */
  readonly serviceRoute: readonly string[];
  /** Where the registrar was asked last. */
  readonly server: SipAddress | undefined;
  /** Registers; once. */
  start(): void;
  /** A server to ask: the answer to `wanted`. */
  ask(server: SipAddress): void;
  /** There is none, or no other: the answer to `wanted`. `problem` is a sentence. */
  unreachable(problem: string): void;
  /** The connection to a peer is gone. */
  flowLost(peer: SipAddress): void;
  /** Takes the registration back. */
  close(): void;
}

/** What a registration does in the world. */
export interface RegistrarSink {
  changed(state: RegistrationState): void;
  /** A server is wanted; `another` than the one asked, which failed. `ask` or `unreachable` answers. */
  wanted(another: boolean): void;
  /** Requests of this peer are trusted until the hold is disposed. */
  hold(address: string): Disposable;
  closed(): void;
}

interface Flow extends Disposable {
  readonly server: SipAddress;
}

const plainUser = /^[+]?[A-Za-z0-9._*~!'()&=$,;?/%-]{1,128}$/;

/** An account, not registered yet. Throws when user or domain cannot stand in a SIP URI: a bug of the caller. */
export function createRegistration(
  core: AgentCore,
  order: RegistrationOrder,
  sink: RegistrarSink,
): Registration {
  const aor = `sip:${order.user}@${hostText(order.domain)}`;
  if (!plainUser.test(order.user) || parseUri(aor) === undefined) {
    throw new Error("the account to register is no plain SIP user and host");
  }
  const registrarUri = `sip:${hostText(order.domain)}`;
  const authenticator = createAuthenticator(order.credentials, core.entropy, core.hashes);
  const callId = `${randomToken(core.entropy, 12)}@outdial`;
  const localTag = randomToken(core.entropy, 8);
  let cseq = 0;
  let state: RegistrationState = { type: "registering" };
  let serviceRoute: readonly string[] = [];
  let server: SipAddress | undefined;
  let flow: Flow | undefined;
  let askedS = order.expiresS;
  /** The Contact that the registrar keeps for us. */
  let bound: string | undefined;
  /** Contacts found wrong in a row: a mapping that changes with every datagram is not run after. */
  let corrections = 0;
  let failure: RegistrationInput | undefined;
  let driver: Driver<RegistrationInput> | undefined;
  let closing = false;

  return {
    callId,
    get state() {
      return state;
    },
    get serviceRoute() {
      return state.type === "registered" ? serviceRoute : [];
    },
    get server() {
      return server;
    },
    start() {
      const first = startRegistration(order.expiresS);
      driver ??= runMachine(registration, first, core.clock, { effect: perform, over: close });
    },
    ask(at) {
      if (closing) return fail("The registration was given up.");
      server = at;
      send(at, authenticator.attempt());
    },
    unreachable: (problem) => (failure === undefined ? fail(problem) : driver?.feed(failure)),
    flowLost(peer) {
      const lost = flow?.server;
      if (lost === undefined || !isReliable(lost)) return;
      if (lost.address !== peer.address || lost.port !== peer.port) return;
      driver?.feed({ type: "flow-lost", chance: chance() });
    },
    close() {
      closing = true;
      driver?.feed({ type: "close" });
    },
  };

  function perform(effect: RegistrationEffect): void {
    if (effect.type === "report") {
      state = effect.state;
      if (state.type !== "registered" && state.type !== "registering") release();
      return sink.changed(state);
    }
    askedS = effect.expiresS;
    failure = undefined;
    // Taking the binding back is not worth a search.
    if (askedS > 0) sink.wanted(false);
    else if (server !== undefined) send(server, authenticator.attempt());
  }

  function send(to: SipAddress, attempt: AuthenticationAttempt): void {
    cseq += 1;
    const contact = contactFor(core, to, order.user).value;
    const bare = build(to, contact, []);
    const message = build(to, contact, authenticator.headersFor(bare));
    core.clients.sendRequest(message, to, {
      response(response) {
        if (response.status < 200) return;
        const challenged = response.status === 401 || response.status === 407;
        if (challenged && attempt.learn(response, message)) return send(to, attempt);
        if (response.status < 300) return agreed(response, contact, to);
        failure = rejectionOf(response);
        if (response.status === 503 && askedS > 0) return sink.wanted(true);
        driver?.feed(failure);
      },
      failed(reason, problem) {
        const sentence =
          problem ??
          (reason === "timeout" ? "The registrar does not answer." : "The registrar cannot be reached.");
        failure = { type: "failed", reason: sentence, chance: chance() };
        if (askedS > 0) sink.wanted(true);
        else driver?.feed(failure);
      },
    });
  }

  function build(to: SipAddress, contact: string, credentials: readonly SipHeader[]): SipRequest {
    const old = bound === undefined || bound === contact ? [] : [`${bound};expires=0`];
    const contacts = askedS === 0 ? [bound ?? contact] : [contact];
    return request("REGISTER", registrarUri, [
      freshVia(core, to),
      { name: "Max-Forwards", value: "70" },
      ...(order.routes ?? []).map((value) => ({ name: "Route", value })),
      { name: "From", value: taggedUri(aor, localTag) },
      { name: "To", value: taggedUri(aor, null) },
      { name: "Call-ID", value: callId },
      { name: "CSeq", value: `${cseq} REGISTER` },
      ...contacts.map((value) => ({ name: "Contact", value: `${value};expires=${askedS}` })),
      ...(askedS === 0 ? [] : old.map((value) => ({ name: "Contact", value }))),
      { name: "Expires", value: `${askedS}` },
      { name: "Supported", value: "path" },
      agentHeader(core),
      ...credentials,
    ]);
  }

  function agreed(response: SipResponse, contact: string, to: SipAddress): void {
    if (askedS === 0) return driver?.feed({ type: "granted", expiresS: 0, chance: chance() });
    bound = contact;
    serviceRoute = headerValues(response, "Service-Route").slice(0, 16);
    const expiresS = grantedTo(contact, response) ?? askedS;
    if (expiresS === 0) return fail("The registrar took the registration but granted no time.");
    settle(to);
    driver?.feed({ type: "granted", expiresS, chance: chance() });
    const moved = contactFor(core, to, order.user).value !== contact;
    corrections = moved ? corrections + 1 : 0;
    if (moved && corrections <= 2) driver?.feed({ type: "address-changed" });
  }

  /** Holds on to the server that registered us: its calls are taken, and over UDP the way back is kept open. */
  function settle(to: SipAddress): void {
    const { server: before } = flow ?? {};
    if (before?.address === to.address && before.port === to.port) return;
    release();
    const hold = sink.hold(to.address);
    const open = isReliable(to) ? undefined : keepOpen(core, to);
    flow = {
      server: to,
      [Symbol.dispose]() {
        hold[Symbol.dispose]();
        open?.[Symbol.dispose]();
      },
    };
  }

  function release(): void {
    flow?.[Symbol.dispose]();
    flow = undefined;
  }

  function fail(reason: string): void {
    driver?.feed({ type: "failed", reason, chance: chance() });
  }

  function close(): void {
    release();
    sink.closed();
  }

  function rejectionOf(response: SipResponse): RegistrationInput {
    const minExpiresS = readNumber(headerValue(response, "Min-Expires") ?? "", 0xffff_ffff);
    const retryAfterS = parseRetryAfter(headerValue(response, "Retry-After") ?? "");
    return {
      type: "rejected",
      status: response.status,
      reason: response.reason,
      ...(minExpiresS === undefined ? {} : { minExpiresS }),
      ...(retryAfterS === undefined ? {} : { retryAfterS }),
      chance: chance(),
    };
  }

  function chance(): number {
    return (core.entropy.bytes(1)[0] ?? 0) / 256;
  }
}

/** Seconds the registrar keeps a Contact: its own parameter counts, then the Expires header (RFC 3261 10.2.4). */
function grantedTo(contact: string, response: SipResponse): number | undefined {
  const uri = parseUri(parseNameAddr(contact)?.uri ?? "");
  const bindings = headerValues(response, "Contact")
    .slice(0, 64)
    .flatMap((value) => parseNameAddr(value) ?? []);
  const ours = bindings.find((binding) => {
    const candidate = parseUri(binding.uri);
    return uri !== undefined && candidate !== undefined && sameUri(candidate, uri);
  });
  const only = bindings.length === 1 ? bindings[0] : undefined;
  const granted = (ours ?? only)?.params.get("expires") ?? headerValue(response, "Expires");
  return granted === undefined ? undefined : readNumber(granted, 0xffff_ffff);
}
