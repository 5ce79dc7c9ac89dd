import type { Clock, Driver } from "#base";
import { ackOfRefusal, isReliable, overTransport, type SipAddress } from "./compose.ts";
import { headerValue, headerValues, parseCSeq, parseVia } from "./header.ts";
import {
  inviteClient,
  resumeInviteClient,
  startInviteClient,
  type InviteClientEffect,
  type InviteClientInput,
} from "./invite-client.ts";
import type { SipRequest, SipResponse } from "./message.ts";
import { printMessage } from "./print.ts";
import { requestClient, startRequestClient, type RequestClientInput } from "./request-client.ts";
import { runMachine } from "./run-machine.ts";

/** Who asked: hears of every response that its transaction passes up, or once of its failure. */
interface ResponseReader {
  response(response: SipResponse): void;
  failed(reason: "timeout" | "transport", problem?: string): void;
}

/** Sends bytes; `request` names the client transaction they belong to and counts its sendings from 0. */
export type SendDatagram = (
  bytes: Uint8Array,
  to: SipAddress,
  request?: { readonly key: string; readonly resend: number },
) => void;

/** An INVITE that is out. */
export interface OpenInvite {
  /** A CANCEL went out: a final response is awaited for 64*T1 more. */
  cancelled(): void;
}

/** Our requests that are out, found by branch and method (RFC 3261 17.1.3). */
export interface ClientTransactions {
  sendInvite(invite: SipRequest, to: SipAddress, reader: ResponseReader): OpenInvite;
  /** Awaits the answers to an INVITE of an earlier process that is being cancelled; sends nothing. */
  resumeInvite(invite: SipRequest, to: SipAddress, reader: ResponseReader): void;
  sendRequest(request: SipRequest, to: SipAddress, reader: ResponseReader): void;
  /** False: no transaction waits for it. */
  receive(response: SipResponse): boolean;
  /** The messages of a transaction cannot leave, or nobody listens where they go; `problem` is a sentence on it. */
  sendFailed(key: string, problem?: string): void;
  /** How many are still without a final response. */
  readonly waiting: number;
  readonly size: number;
}

interface Entry {
  /** What is fed and answered is the same for both kinds. */
  readonly driver: Driver<RequestClientInput>;
  readonly to: SipAddress;
  latest: SipResponse | undefined;
  problem: string | undefined;
  waiting: boolean;
}

/** The way of a request: where it goes, and where instead when it cannot leave there. */
interface Way {
  readonly to: SipAddress;
  readonly otherwise?: SipAddress;
}

/** RFC 3261 18.1.1, for a path whose MTU is not known. */
const largestDatagramBytes = 1_300;
/** How long a peer that took no TCP connection is sent large datagrams instead. */
const refusalMs = 3_600_000;

/** `largeOverTcp`: requests too large for a datagram go over TCP, and over UDP all the same when no connection comes about. */
export function createClientTransactions(
  clock: Clock,
  send: SendDatagram,
  options: {
    readonly largeOverTcp?: boolean;
    /** Hears of every response to a request of ours before its reader does. */
    readonly answered?: (response: SipResponse, by: SipAddress) => void;
  } = {},
): ClientTransactions {
  const entries = new Map<string, Entry>();
  const withoutTcp = new Set<string>();
  let waiting = 0;

  return {
    sendInvite: (invite, to, reader) => openInvite(invite, wayOf(invite, to), reader, startInviteClient),
    resumeInvite: (invite, to, reader) => void openInvite(invite, { to }, reader, resumeInviteClient),
    sendRequest: (request, to, reader) => openRequest(request, wayOf(request, to), reader),
    receive,
    sendFailed(key, problem) {
      const entry = entries.get(key);
      if (entry === undefined) return;
      entry.problem = problem;
      entry.driver.feed({ type: "transport-failed" });
    },
    get waiting() {
      return waiting;
    },
    get size() {
      return entries.size;
    },
  };

  function openInvite(
    message: SipRequest,
    way: Way,
    reader: ResponseReader,
    start: typeof startInviteClient,
  ): OpenInvite {
    const { to } = way;
    const invite = overTransport(message, to.transport);
    const key = keyOf(invite);
    const bytes = printMessage(invite);
    const first = start(clock.now(), isReliable(to));
    let resend = 0;
    let detour: OpenInvite | undefined;
    const driver: Driver<InviteClientInput> = runMachine(inviteClient, first, clock, {
      over: () => close(key),
      effect: (effect: InviteClientEffect) => {
        switch (effect.type) {
          case "send-invite":
            return send(bytes, to, { key, resend: resend++ });
          case "send-ack": {
            const refusal = entry.latest;
            return refusal === undefined ? undefined : send(printMessage(ackOfRefusal(invite, refusal)), to);
          }
          case "pass-up":
            return passUp(entry, reader);
          case "fail": {
            const otherwise = detourOf(way, effect.reason);
            if (otherwise === undefined) return reader.failed(effect.reason, entry.problem);
            detour = openInvite(message, { to: otherwise }, reader, start);
          }
        }
      },
    });
    const entry = open(key, to, driver);
    return {
      cancelled: () => (detour === undefined ? driver.feed({ type: "cancelled" }) : detour.cancelled()),
    };
  }

  function openRequest(message: SipRequest, way: Way, reader: ResponseReader): void {
    const { to } = way;
    const request = overTransport(message, to.transport);
    const key = keyOf(request);
    const bytes = printMessage(request);
    const first = startRequestClient(clock.now(), isReliable(to));
    let resend = 0;
    const driver = runMachine(requestClient, first, clock, {
      over: () => close(key),
      effect: (effect) => {
        switch (effect.type) {
          case "send-request":
            return send(bytes, to, { key, resend: resend++ });
          case "pass-up":
            return passUp(entry, reader);
          case "fail": {
            const otherwise = detourOf(way, effect.reason);
            if (otherwise === undefined) return reader.failed(effect.reason, entry.problem);
            openRequest(message, { to: otherwise }, reader);
          }
        }
      },
    });
    const entry = open(key, to, driver);
  }

  /** A CANCEL goes where its INVITE went (RFC 3261 9.1). */
  function wayOf(request: SipRequest, to: SipAddress): Way {
    if (request.method === "CANCEL") {
      const invite = entries.get(keyOf(request).replace("CANCEL", "INVITE"));
      return { to: invite?.to ?? to };
    }
    if (options.largeOverTcp !== true || isReliable(to) || withoutTcp.has(placeOf(to))) return { to };
    if (printMessage(request).length <= largestDatagramBytes) return { to };
    return { to: { ...to, transport: "tcp" }, otherwise: to };
  }

  /** The same branch serves again: should the first copy have arrived after all, the second counts as its repetition. */
  function detourOf(way: Way, reason: "timeout" | "transport"): SipAddress | undefined {
    if (way.otherwise === undefined || reason === "timeout") return undefined;
    const place = placeOf(way.otherwise);
    withoutTcp.add(place);
    clock.alarm(clock.now() + refusalMs, () => withoutTcp.delete(place));
    return way.otherwise;
  }

  function open(key: string, to: SipAddress, driver: Driver<RequestClientInput>): Entry {
    const entry: Entry = { driver, to, latest: undefined, problem: undefined, waiting: true };
    entries.set(key, entry);
    waiting += 1;
    return entry;
  }

  function close(key: string): void {
    const entry = entries.get(key);
    if (entry !== undefined) settle(entry);
    entries.delete(key);
  }

  function settle(entry: Entry): void {
    if (entry.waiting) waiting -= 1;
    entry.waiting = false;
  }

  function receive(response: SipResponse): boolean {
    const entry = entries.get(keyOf(response));
    if (entry === undefined) return false;
    entry.latest = response;
    options.answered?.(response, entry.to);
    entry.driver.feed({ type: "response", status: response.status });
    return true;
  }

  function passUp(entry: Entry, reader: ResponseReader): void {
    if (entry.latest === undefined) return;
    if (entry.latest.status >= 200) settle(entry);
    reader.response(entry.latest);
  }
}

function placeOf({ address, port }: SipAddress): string {
  return `${address} ${port}`;
}

function keyOf(message: SipRequest | SipResponse): string {
  const via = headerValues(message, "Via")[0];
  const branch = via === undefined ? "" : (parseVia(via)?.branch ?? "");
  const method = parseCSeq(headerValue(message, "CSeq") ?? "")?.method ?? "";
  return `${method} ${branch}`;
}
