import type { AgentCore } from "./agent-core.ts";
import { createCallSession, type CallSession, type SessionEvent } from "./call-session.ts";
import { responseTo } from "./compose.ts";
import type { LocalSession } from "./descriptions.ts";
import type { DialogRequests } from "./dialog-requests.ts";
import { evidenceOf } from "./evidence.ts";
import type { LegControls, LegEnd } from "./leg.ts";
import type { SipRequest } from "./message.ts";
import { capabilities, pressedKey, refusedMethod, unsupportedExtension } from "./plain-answers.ts";
import type { LineMedia } from "./sdp.ts";
import type { ServerTransaction } from "./server-transactions.ts";
import type { SessionTimerPolicy } from "./session-expires.ts";
import { createTransfers, type TransferEvent } from "./transfer.ts";

export type EstablishedEvent =
  | SessionEvent
  | TransferEvent
  | { readonly type: "key-pressed"; readonly key: string }
  /** The peer did not take a key of ours; no status: it said nothing. */
  | { readonly type: "key-refused"; readonly key: string; readonly status?: number }
  /** BYE of the peer. */
  | { readonly type: "left"; readonly evidence: Pick<LegEnd, "q850" | "q850Text"> };

/** A dialog with media: answers the peer's requests and makes ours until one side says BYE. */
export interface EstablishedCall
  extends LegControls, Pick<CallSession, "media" | "confirm" | "accept" | "renegotiate" | "takeAnswer"> {
  readonly remoteTag: string;
  /** A request inside the dialog. */
  receive(transaction: ServerTransaction): void;
  /** An ACK inside the dialog. */
  acknowledge(ack: SipRequest): void;
  bye(): void;
  /** Ends it without BYE: another fork answered, or the INVITE was refused. */
  close(): void;
}

export interface EstablishedStart {
  readonly requests: DialogRequests;
  readonly session: LocalSession;
  /** Undefined: our offer has not been answered yet. */
  readonly media: LineMedia | undefined;
  readonly contactUser: string;
  readonly caller: "us" | "them";
  readonly timers: SessionTimerPolicy;
}

export function createEstablishedCall(
  core: AgentCore,
  start: EstablishedStart,
  report: (event: EstablishedEvent) => void,
): EstablishedCall {
  const { requests } = start;
  let over = false;
  const session = createCallSession(core, start, (event) => {
    if (event.type === "session-lost") bye();
    report(event);
  });
  const transfers = createTransfers(core.clock, requests, report);

  return {
    remoteTag: requests.dialog.remoteTag,
    get media() {
      return session.media;
    },
    confirm: (response) => session.confirm(response),
    accept: (transaction, body) => session.accept(transaction, body),
    renegotiate: (transaction) => session.renegotiate(transaction),
    takeAnswer: (sdp) => session.takeAnswer(sdp),
    receive,
    acknowledge: (ack) => session.acknowledge(ack),
    hold: () => session.want({ held: true }),
    resume: () => session.want({ held: false }),
    offer: (local) => session.want({ local }),
    transfer: (targetUri) => (over ? undefined : transfers.start(targetUri)),
    sendInfoDtmf,
    bye,
    close,
  };

  function receive(transaction: ServerTransaction): void {
    const { request } = transaction;
    if (over) {
      const status = request.method === "BYE" ? 200 : 481;
      return transaction.respond(responseTo(request, status));
    }
    if (!requests.take(request)) return transaction.respond(responseTo(request, 500));
    const unsupported = unsupportedExtension(request);
    if (unsupported !== undefined) return transaction.respond(unsupported);
    switch (request.method) {
      case "BYE":
        return leave(transaction);
      case "INVITE":
      case "UPDATE":
        return session.renegotiate(transaction);
      case "INFO":
        return inform(transaction);
      case "NOTIFY":
        return transfers.notified(transaction);
      case "OPTIONS":
        return transaction.respond(capabilities(request));
      case "PRACK": // Nothing of ours asked for one (RFC 3262 3).
        return transaction.respond(responseTo(request, 481));
      default:
        return transaction.respond(refusedMethod(request));
    }
  }

  function leave(transaction: ServerTransaction): void {
    transaction.respond(responseTo(transaction.request, 200));
    close();
    const { q850, q850Text } = evidenceOf(transaction.request);
    report({
      type: "left",
      evidence: { ...(q850 === undefined ? {} : { q850 }), ...(q850Text === undefined ? {} : { q850Text }) },
    });
  }

  function inform(transaction: ServerTransaction): void {
    transaction.respond(responseTo(transaction.request, 200));
    const key = pressedKey(transaction.request);
    if (key !== undefined) report({ type: "key-pressed", key });
  }

  function sendInfoDtmf(digit: string, durationMs: number): void {
    if (!/^[0-9*#A-D]$/.test(digit)) throw new Error("the digit to send is none of 0-9, *, # and A-D");
    const ms = Math.round(durationMs);
    if (!(ms >= 1 && ms <= 60_000)) throw new Error("a digit lasts 1 to 60000 ms");
    if (over) return;
    requests.send({
      method: "INFO",
      compose: () => ({
        headers: [],
        body: { type: "application/dtmf-relay", text: `Signal=${digit}\r\nDuration=${ms}\r\n` },
      }),
      response: ({ status }) =>
        status < 300 ? undefined : report({ type: "key-refused", key: digit, status }),
      failed: () => report({ type: "key-refused", key: digit }),
    });
  }

  function bye(): void {
    if (over) return;
    close();
    requests.bye();
  }

  function close(): void {
    over = true;
    session.close();
    transfers.close();
    requests.close();
  }
}
