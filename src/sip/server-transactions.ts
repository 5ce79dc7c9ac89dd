import type { Clock, Driver } from "#base";
import { isReliable, responseAddress, type SipAddress } from "./compose.ts";
import type { SendDatagram } from "./client-transactions.ts";
import { headerValue, headerValues, parseCSeq, parseVia } from "./header.ts";
import { inviteServer, startInviteServer, type InviteServerInput } from "./invite-server.ts";
import type { SipRequest, SipResponse } from "./message.ts";
import { printMessage } from "./print.ts";
import { requestServer, startRequestServer } from "./request-server.ts";
import { runMachine } from "./run-machine.ts";

/** Who answers an INVITE: hears what the peer makes of it. */
interface InviteWatcher {
  /** A CANCEL came. */
  cancelled(): void;
  /** An ACK of a 2xx came with the INVITE's own branch. */
  acknowledged(ack: SipRequest): void;
}

/** A request of the peer that awaits our answer. */
export interface ServerTransaction {
  /** The request, its Via completed with the source. */
  readonly request: SipRequest;
  readonly source: SipAddress;
  /** Provisional, final, or the same 2xx once more. */
  respond(response: SipResponse): void;
  /** INVITE only: who to tell. */
  watch(watcher: InviteWatcher): void;
}

/** The peers' requests, found by branch, sent-by and method (RFC 3261 17.2.3). */
export interface ServerTransactions {
  /** True: a repeated request or an ACK, dealt with. */
  receive(request: SipRequest): boolean;
  /** `trying` goes out at once. */
  openInvite(invite: SipRequest, source: SipAddress, trying: SipResponse): ServerTransaction;
  openRequest(request: SipRequest, source: SipAddress): ServerTransaction;
  /** Tells the INVITE that a CANCEL names. False: there is none. */
  cancel(cancel: SipRequest): boolean;
  readonly size: number;
}

interface Entry {
  latest: Uint8Array | undefined;
  /** Status of the final response, once given: no other may follow it. */
  final: number | undefined;
  watcher: InviteWatcher | undefined;
  receive(request: SipRequest): void;
}

export function createServerTransactions(clock: Clock, send: SendDatagram): ServerTransactions {
  const entries = new Map<string, Entry>();

  return {
    receive,
    openInvite,
    openRequest,
    cancel,
    get size() {
      return entries.size;
    },
  };

  function openInvite(invite: SipRequest, source: SipAddress, trying: SipResponse): ServerTransaction {
    const key = keyOf(invite, "INVITE");
    const to = responseAddress(invite, source);
    const entry: Entry = {
      latest: printMessage(trying),
      final: undefined,
      watcher: undefined,
      receive: take,
    };
    let ack: SipRequest | undefined;
    entries.set(key, entry);
    const driver: Driver<InviteServerInput> = runMachine(
      inviteServer,
      startInviteServer(isReliable(source)),
      clock,
      {
        over: () => entries.delete(key),
        effect: (effect) => {
          switch (effect.type) {
            case "send-response":
              return entry.latest === undefined ? undefined : send(entry.latest, to);
            case "pass-ack":
              return ack === undefined ? undefined : entry.watcher?.acknowledged(ack);
            case "fail": // A refusal nobody acknowledged: the call is over all the same.
              return undefined;
          }
        },
      },
    );
    return { request: invite, source, respond, watch: (watcher) => void (entry.watcher = watcher) };

    function take(message: SipRequest): void {
      if (message.method === "ACK") ack = message;
      driver.feed({ type: message.method === "ACK" ? "ack" : "request" });
    }

    function respond(response: SipResponse): void {
      if (keep(entry, response)) driver.feed({ type: "respond", status: response.status });
    }
  }

  function openRequest(request: SipRequest, source: SipAddress): ServerTransaction {
    const key = keyOf(request, request.method);
    const to = responseAddress(request, source);
    const entry: Entry = {
      latest: undefined,
      final: undefined,
      watcher: undefined,
      receive: () => driver.feed({ type: "request" }),
    };
    entries.set(key, entry);
    const driver = runMachine(requestServer, startRequestServer(clock.now(), isReliable(source)), clock, {
      over: () => entries.delete(key),
      effect: () => (entry.latest === undefined ? undefined : send(entry.latest, to)),
    });
    return { request, source, respond, watch: () => undefined };

    function respond(response: SipResponse): void {
      if (keep(entry, response)) driver.feed({ type: "respond", status: response.status });
    }
  }

  function receive(request: SipRequest): boolean {
    const entry = entries.get(keyOf(request, request.method === "ACK" ? "INVITE" : request.method));
    entry?.receive(request);
    return entry !== undefined;
  }

  function cancel(request: SipRequest): boolean {
    const entry = entries.get(keyOf(request, "INVITE"));
    entry?.watcher?.cancelled();
    return entry !== undefined;
  }
}

/** False: another final response was given before. */
function keep(entry: Entry, response: SipResponse): boolean {
  if (entry.final !== undefined && entry.final !== response.status) return false;
  if (response.status >= 200) entry.final = response.status;
  entry.latest = printMessage(response);
  return true;
}

/** Peers older than RFC 3261 give no unique branch: their requests are told apart by what a call has of its own. */
function keyOf(request: SipRequest, method: string): string {
  const value = headerValues(request, "Via")[0] ?? "";
  const via = parseVia(value);
  if (via?.branch?.startsWith("z9hG4bK") === true) {
    return `${method} ${via.branch} ${via.host.toLowerCase()} ${via.port ?? 5060}`;
  }
  const number = parseCSeq(headerValue(request, "CSeq") ?? "")?.number ?? 0;
  const from = headerValue(request, "From") ?? "";
  return `${method} ${headerValue(request, "Call-ID") ?? ""} ${number} ${from} ${via?.host ?? ""}`;
}
