import { contactFor, type AgentCore } from "./agent-core.ts";
import { acceptance, startAcceptance, type AcceptanceInput } from "./acceptance.ts";
import type { Authenticator } from "./authenticator.ts";
import { allowedMethods, responseTo, sdpOf } from "./compose.ts";
import { advanceDialog, cseqOf, type Dialog } from "./dialog.ts";
import { evidenceOf } from "./evidence.ts";
import { sendBye } from "./farewell.ts";
import { headerValues } from "./header.ts";
import type { LegEnd } from "./leg.ts";
import type { SipHeader, SipRequest, SipResponse } from "./message.ts";
import { capabilities, pressedKey, refusedMethod, unsupportedExtension } from "./plain-answers.ts";
import { runMachine } from "./run-machine.ts";
import { answerTo, offerOf, readAnswer, type LineMedia, type LocalMedia } from "./sdp.ts";
import type { ServerTransaction } from "./server-transactions.ts";
import type { Driver } from "#base";

export type EstablishedEvent =
  /** The ACK of a 2xx of ours. */
  | { readonly type: "acknowledged" }
  | { readonly type: "media-changed"; readonly media: LineMedia }
  | { readonly type: "key-pressed"; readonly key: string }
  /** BYE of the peer. */
  | { readonly type: "left"; readonly evidence: Pick<LegEnd, "q850" | "q850Text"> }
  /** A 2xx of ours was never acknowledged: BYE went out. */
  | { readonly type: "unacknowledged" };

/** A confirmed dialog with media: answers the peer's requests until one side says BYE. */
export interface EstablishedCall {
  readonly remoteTag: string;
  /** A request inside the dialog. */
  receive(transaction: ServerTransaction): void;
  /** An ACK inside the dialog. */
  acknowledge(ack: SipRequest): void;
  /** Answers an INVITE with 200, repeated until its ACK; without `sdp` it carries our offer. */
  accept(transaction: ServerTransaction, sdp: string | undefined): void;
  bye(): void;
}

/** Our side of the session so far: the description sent last and its version (RFC 3264 8). */
export interface LocalSession {
  readonly local: LocalMedia;
  readonly id: number;
  readonly version: number;
  readonly sdp: string;
}

interface Waiting {
  readonly driver: Driver<AcceptanceInput>;
  readonly ourOffer: boolean;
}

export function createEstablishedCall(
  core: AgentCore,
  start: {
    readonly dialog: Dialog;
    readonly session: LocalSession;
    /** Undefined: our offer has not been answered yet. */
    readonly media: LineMedia | undefined;
    readonly authenticator: Authenticator;
    /** User part of our Contact. */
    readonly contactUser: string;
  },
  report: (event: EstablishedEvent) => void,
): EstablishedCall {
  let { dialog, session, media } = start;
  let over = false;
  /** 2xx of ours still without ACK, by CSeq number. */
  const waiting = new Map<number, Waiting>();

  return { remoteTag: dialog.remoteTag, receive, acknowledge, accept, bye };

  function receive(transaction: ServerTransaction): void {
    const { request } = transaction;
    if (over) {
      const status = request.method === "BYE" ? 200 : 481;
      return transaction.respond(responseTo(request, status));
    }
    const advanced = advanceDialog(dialog, request);
    if (advanced === undefined) return transaction.respond(responseTo(request, 500));
    dialog = advanced;
    const unsupported = unsupportedExtension(request);
    if (unsupported !== undefined) return transaction.respond(unsupported);
    switch (request.method) {
      case "BYE":
        return leave(transaction);
      case "INVITE":
      case "UPDATE":
        return renegotiate(transaction);
      case "INFO":
        return inform(transaction);
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
    finish();
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

  /** Re-INVITE and UPDATE: the offer is answered with the media we have; a refused one leaves the call as it is. */
  function renegotiate(transaction: ServerTransaction): void {
    const { request } = transaction;
    const offer = sdpOf(request);
    if ([...waiting.values()].some((entry) => entry.ourOffer)) {
      return transaction.respond(responseTo(request, 491)); // Our own offer is still out (RFC 3261 14.2).
    }
    if (offer === undefined) {
      if (request.method === "INVITE") return accept(transaction, undefined);
      return transaction.respond(okTo(request, undefined));
    }
    const answer = describe((version) => {
      const made = answerTo(offer, session.local, { id: session.id, version });
      return made.ok ? made : undefined;
    });
    if (answer === undefined) return transaction.respond(responseTo(request, 488));
    if (request.method === "INVITE") accept(transaction, answer.sdp);
    else transaction.respond(okTo(request, answer.sdp));
    change(answer.media);
  }

  function accept(transaction: ServerTransaction, sdp: string | undefined): void {
    const { request } = transaction;
    const ourOffer = sdp === undefined;
    const body =
      sdp ??
      describe((version) => ({ sdp: offerOf(session.local, { id: session.id, version }) }))?.sdp ??
      session.sdp;
    const response = okTo(request, body);
    const number = cseqOf(request);
    transaction.watch({ cancelled: () => undefined, acknowledged: acknowledge });
    const driver = runMachine(acceptance, startAcceptance(core.clock.now()), core.clock, {
      effect(effect) {
        if (effect.type === "send-response") return transaction.respond(response);
        waiting.delete(number);
        bye();
        report({ type: "unacknowledged" });
      },
    });
    waiting.set(number, { driver, ourOffer });
  }

  function acknowledge(ack: SipRequest): void {
    const entry = waiting.get(cseqOf(ack));
    if (entry === undefined) return;
    waiting.delete(cseqOf(ack));
    entry.driver.feed({ type: "settled" });
    if (entry.ourOffer) {
      const sdp = sdpOf(ack);
      const answer = sdp === undefined ? undefined : readAnswer(session.local, sdp);
      if (answer?.ok === true) change(answer.media);
    }
    report({ type: "acknowledged" });
  }

  /** A description of ours: the version grows only when the text differs from the one sent last. */
  function describe<Made extends { readonly sdp: string }>(
    make: (version: number) => Made | undefined,
  ): Made | undefined {
    const same = make(session.version);
    if (same === undefined || same.sdp === session.sdp) return same;
    const version = session.version + 1;
    const made = make(version);
    if (made !== undefined) session = { ...session, version, sdp: made.sdp };
    return made;
  }

  function change(next: LineMedia): void {
    if (JSON.stringify(next) === JSON.stringify(media)) return;
    media = next;
    report({ type: "media-changed", media: next });
  }

  function okTo(request: SipRequest, sdp: string | undefined): SipResponse {
    const recorded = headerValues(request, "Record-Route").map((value) => ({ name: "Record-Route", value }));
    const headers: readonly SipHeader[] = [
      ...(request.method === "INVITE" ? recorded : []),
      contactFor(core, dialog.fallback.address, start.contactUser),
      { name: "Allow", value: allowedMethods },
    ];
    return responseTo(request, 200, {
      toTag: dialog.localTag,
      headers,
      ...(sdp === undefined ? {} : { sdp }),
    });
  }

  function bye(): void {
    if (over) return;
    finish();
    sendBye(core, dialog, start.authenticator);
  }

  function finish(): void {
    over = true;
    for (const entry of waiting.values()) entry.driver.feed({ type: "settled" });
    waiting.clear();
  }
}
