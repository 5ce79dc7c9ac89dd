import type { Clock, Driver } from "#base";
import { ackOfRefusal, type SipAddress } from "./compose.ts";
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
export interface ResponseReader {
  response(response: SipResponse): void;
  failed(reason: "timeout" | "transport"): void;
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
  /** The datagrams of a transaction cannot leave, or nobody listens where they go. */
  sendFailed(key: string): void;
  /** How many are still without a final response. */
  readonly waiting: number;
  readonly size: number;
}

interface Entry {
  /** What is fed and answered is the same for both kinds. */
  readonly driver: Driver<RequestClientInput>;
  latest: SipResponse | undefined;
  waiting: boolean;
}

export function createClientTransactions(clock: Clock, send: SendDatagram): ClientTransactions {
  const entries = new Map<string, Entry>();
  let waiting = 0;

  return {
    sendInvite: (invite, to, reader) => openInvite(invite, to, reader, startInviteClient(clock.now())),
    resumeInvite: (invite, to, reader) =>
      void openInvite(invite, to, reader, resumeInviteClient(clock.now())),
    sendRequest,
    receive,
    sendFailed: (key) => entries.get(key)?.driver.feed({ type: "transport-failed" }),
    get waiting() {
      return waiting;
    },
    get size() {
      return entries.size;
    },
  };

  function openInvite(
    invite: SipRequest,
    to: SipAddress,
    reader: ResponseReader,
    first: ReturnType<typeof startInviteClient>,
  ): OpenInvite {
    const key = keyOf(invite);
    const bytes = printMessage(invite);
    let resend = 0;
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
          case "fail":
            return reader.failed(effect.reason);
        }
      },
    });
    const entry = open(key, driver);
    return { cancelled: () => driver.feed({ type: "cancelled" }) };
  }

  function sendRequest(request: SipRequest, to: SipAddress, reader: ResponseReader): void {
    const key = keyOf(request);
    const bytes = printMessage(request);
    let resend = 0;
    const driver = runMachine(requestClient, startRequestClient(clock.now()), clock, {
      over: () => close(key),
      effect: (effect) => {
        switch (effect.type) {
          case "send-request":
            return send(bytes, to, { key, resend: resend++ });
          case "pass-up":
            return passUp(entry, reader);
          case "fail":
            return reader.failed(effect.reason);
        }
      },
    });
    const entry = open(key, driver);
  }

  function open(key: string, driver: Driver<RequestClientInput>): Entry {
    const entry: Entry = { driver, latest: undefined, waiting: true };
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
    entry.driver.feed({ type: "response", status: response.status });
    return true;
  }

  function passUp(entry: Entry, reader: ResponseReader): void {
    if (entry.latest === undefined) return;
    if (entry.latest.status >= 200) settle(entry);
    reader.response(entry.latest);
  }
}

function keyOf(message: SipRequest | SipResponse): string {
  const via = headerValues(message, "Via")[0];
  const branch = via === undefined ? "" : (parseVia(via)?.branch ?? "");
  const method = parseCSeq(headerValue(message, "CSeq") ?? "")?.method ?? "";
  return `${method} ${branch}`;
}
