import { acceptance, startAcceptance, type AcceptanceInput } from "./acceptance.ts";
import { contactFor, type AgentCore } from "./agent-core.ts";
import { allowedMethods, responseTo, sdpOf } from "./compose.ts";
import { createDescriptions, type LocalSession } from "./descriptions.ts";
import { cseqOf } from "./dialog.ts";
import type { DialogRequests } from "./dialog-requests.ts";
import { headerValue, headerValues, parseRetryAfter } from "./header.ts";
import type { SipHeader, SipRequest, SipResponse } from "./message.ts";
import { negotiation, startNegotiation } from "./negotiation.ts";
import { runMachine } from "./run-machine.ts";
import { readAnswer, type LineMedia, type LocalMedia } from "./sdp.ts";
import type { ServerTransaction } from "./server-transactions.ts";
import {
  agreedInterval,
  askForInterval,
  grantInterval,
  intervalTooSmall,
  longerInterval,
  type GrantedInterval,
  type SessionInterval,
  type SessionTimerPolicy,
} from "./session-expires.ts";
import { sessionTimer, startSessionTimer } from "./session-timer.ts";
import type { Driver } from "#base";

export type SessionEvent =
  /** The ACK of a 2xx of ours. */
  | { readonly type: "acknowledged" }
  | { readonly type: "media-changed"; readonly media: LineMedia }
  /** What was wanted of `want` is in force, or refused with the session as it was; `status` is the peer's word on it. */
  | { readonly type: "offer-settled"; readonly agreed: boolean; readonly status?: number }
  /** The session cannot go on: a 2xx never acknowledged, nobody refreshed it, or (`gone`) the peer knows no such call. */
  | { readonly type: "session-lost"; readonly why: "unacknowledged" | "expired" | "timeout" | "gone" };

/** What we want the session to be. */
export interface SessionWish {
  readonly local: LocalMedia;
  readonly held: boolean;
}

/** What a 200 of ours carries. */
export type AcceptedBody =
  | { readonly type: "answer"; readonly sdp: string }
  /** An offer of ours; the answer comes with the ACK. */
  | { readonly type: "offer" }
  | { readonly type: "nothing" };

/** Offers and answers of a dialog in both directions (RFC 3264, RFC 3261 14, RFC 3311) and its timer (RFC 4028). */
export interface CallSession {
  /** What is agreed; undefined while our offer has not been answered yet. */
  readonly media: LineMedia | undefined;
  /** The 2xx of the INVITE that began the call, ours. */
  confirm(response: SipResponse): void;
  /** Answers an INVITE with 200, repeated until its ACK: with a description, with an offer of ours, or with neither. */
  accept(transaction: ServerTransaction, body: AcceptedBody): void;
  /** INVITE or UPDATE of the peer. A refused one leaves the session as it is. */
  renegotiate(transaction: ServerTransaction): void;
  /** A description in another message of the peer: the answer to ours. */
  takeAnswer(sdp: string): void;
  acknowledge(ack: SipRequest): void;
  /** Asks the peer for another session as soon as it may be asked; wishes that come meanwhile are joined. */
  want(change: Partial<SessionWish>): void;
  close(): void;
}

interface Waiting {
  readonly driver: Driver<AcceptanceInput>;
  readonly ourOffer: boolean;
}

export interface CallSessionStart {
  readonly requests: DialogRequests;
  readonly session: LocalSession;
  readonly media: LineMedia | undefined;
  /** User part of our Contact. */
  readonly contactUser: string;
  /** Who began the call: the Call-ID is the caller's, and so is the longer pause after a collision. */
  readonly caller: "us" | "them";
  readonly timers: SessionTimerPolicy;
}

export function createCallSession(
  core: AgentCore,
  start: CallSessionStart,
  report: (event: SessionEvent) => void,
): CallSession {
  const { requests, timers } = start;
  const descriptions = createDescriptions(start.session);
  /** 2xx of ours still without ACK, by CSeq number. */
  const waiting = new Map<number, Waiting>();
  let { media } = start;
  let agreed: SessionWish = { local: start.session.local, held: false };
  let wanted = agreed;
  /** Somebody waits to hear what becomes of `wanted`, or of what is being asked. */
  let heard = { wanted: false, asked: false };
  /** An INVITE of ours in the dialog is out. */
  let asking = false;
  let interval: SessionInterval | undefined;
  let { minimumS } = timers;
  let takesUpdates = false;
  let lastStatus: number | undefined;
  /** The INVITE that began the call has been answered with 2xx: from then on the session has a timer. */
  let confirmed = false;
  let over = false;

  const timer = runMachine(sessionTimer, startSessionTimer(), core.clock, {
    effect: (effect) =>
      effect.type === "refresh" ? refresh() : report({ type: "session-lost", why: "expired" }),
  });
  const talks = runMachine(negotiation, startNegotiation(start.caller === "us"), core.clock, {
    effect: (effect) => (effect.type === "ask" ? ask() : settle(effect.agreed)),
  });

  return {
    get media() {
      return media;
    },
    confirm,
    accept: (transaction, body) => accept(transaction, body, "new"),
    renegotiate,
    takeAnswer(sdp) {
      const answer = readAnswer(answering(), sdp);
      if (answer.ok) change(answer.media);
    },
    acknowledge,
    want(change) {
      if (over) return;
      wanted = { ...wanted, ...change };
      heard = { ...heard, wanted: true };
      talks.feed({ type: "wanted" });
    },
    close,
  };

  function confirm(response: SipResponse): void {
    confirmed = true;
    noteAllowed(response);
    agreeOn(agreedInterval(response));
    talks.feed({ type: "agreed" });
  }

  // ── The peer asks ───────────────────────────────────────────────────────────────────────────────

  function renegotiate(transaction: ServerTransaction): void {
    const { request } = transaction;
    const offer = sdpOf(request);
    const refusal = glare(request, offer) ?? intervalTooSmall(request, timers);
    if (refusal !== undefined) return transaction.respond(refusal);
    noteAllowed(request);
    if (offer === undefined) {
      if (request.method === "INVITE") return accept(transaction, { type: "offer" }, interval);
      return transaction.respond(okTo(request, undefined, interval));
    }
    const answer = descriptions.answer(offer, answering());
    if (answer === undefined) return transaction.respond(responseTo(request, 488));
    if (request.method === "INVITE") accept(transaction, { type: "answer", sdp: answer.sdp }, interval);
    else transaction.respond(okTo(request, answer.sdp, interval));
    change(answer.media);
  }

  /** An offer of ours is still unanswered, or an INVITE of ours is out (RFC 3261 14.2, RFC 3311 5.2). */
  function glare(request: SipRequest, offer: string | undefined): SipResponse | undefined {
    const offering = request.method === "INVITE" || offer !== undefined;
    const ours = asking || [...waiting.values()].some((entry) => entry.ourOffer);
    return offering && ours ? responseTo(request, 491) : undefined;
  }

  function accept(
    transaction: ServerTransaction,
    body: AcceptedBody,
    inForce: SessionInterval | "new" | undefined,
  ): void {
    const { request } = transaction;
    const ourOffer = body.type === "offer";
    const answer = body.type === "answer" ? body.sdp : undefined;
    const sdp = ourOffer ? descriptions.offer(offering(agreed)) : answer;
    confirmed = true;
    if (inForce === "new") noteAllowed(request);
    const response = okTo(request, sdp, inForce);
    const number = cseqOf(request);
    talks.feed({ type: "peer-busy" });
    transaction.watch({ cancelled: () => undefined, acknowledged: acknowledge });
    const driver = runMachine(acceptance, startAcceptance(core.clock.now()), core.clock, {
      effect(effect) {
        if (effect.type === "send-response") return transaction.respond(response);
        waiting.delete(number);
        report({ type: "session-lost", why: "unacknowledged" });
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
      const answer = sdp === undefined ? undefined : readAnswer(offering(agreed), sdp);
      if (answer?.ok === true) change(answer.media);
    }
    report({ type: "acknowledged" });
    if (waiting.size === 0) talks.feed({ type: "peer-free" });
  }

  function okTo(
    request: SipRequest,
    sdp: string | undefined,
    inForce: SessionInterval | "new" | undefined,
  ): SipResponse {
    const granted: GrantedInterval = confirmed ? grantInterval(request, timers, inForce) : { headers: [] };
    agreeOn(granted.interval);
    const { dialog } = requests;
    const recorded = headerValues(request, "Record-Route").map((value) => ({ name: "Record-Route", value }));
    return responseTo(request, 200, {
      toTag: dialog.localTag,
      headers: [
        ...(request.method === "INVITE" ? recorded : []),
        contactFor(core, dialog.fallback, start.contactUser),
        { name: "Allow", value: allowedMethods },
        { name: "Supported", value: "timer" },
        ...granted.headers,
      ],
      ...(sdp === undefined ? {} : { sdp }),
    });
  }

  // ── We ask ──────────────────────────────────────────────────────────────────────────────────────

  function ask(): void {
    const wish = wanted;
    const local = offering(wish);
    const text = descriptions.offer(local);
    asking = true;
    heard = { wanted: false, asked: heard.asked || heard.wanted };
    requests.send({
      method: "INVITE",
      compose: () => ({ headers: refreshing(), body: { type: "application/sdp", text } }),
      response: (response) => answered(response, wish, local),
      failed: (reason) => failed(reason, wish),
    });
  }

  function answered(response: SipResponse, wish: SessionWish, local: LocalMedia): void {
    const { status } = response;
    asking = false;
    lastStatus = status;
    if (over) return;
    if (status < 300) {
      noteAllowed(response);
      agreeOn(agreedInterval(response));
      const sdp = sdpOf(response);
      const answer = sdp === undefined ? undefined : readAnswer(local, sdp);
      if (answer?.ok !== true) return refused(wish);
      agreed = wish;
      change(answer.media);
      return talks.feed({ type: "agreed" });
    }
    if (status === 481 || status === 408) return lost(status);
    const pauseMs = pauseAfter(response);
    if (pauseMs === undefined) return refused(wish);
    talks.feed({ type: "collided", pauseMs });
  }

  function failed(reason: "timeout" | "transport", wish: SessionWish): void {
    asking = false;
    lastStatus = undefined;
    if (over) return;
    if (reason === "timeout") return lost(408);
    refused(wish);
  }

  /** The session stays as it is, and so does what we want, unless that has changed again since. */
  function refused(wish: SessionWish): void {
    if (wanted === wish) wanted = agreed;
    talks.feed({ type: "refused" });
    timer.feed({ type: "refresh-failed" });
  }

  /** How long to wait until the same may be asked again; undefined: it is refused. */
  function pauseAfter(response: SipResponse): number | undefined {
    if (response.status === 491) return collisionPauseMs();
    if (response.status === 422) return raiseMinimum(response) ? 0 : undefined;
    const retryAfter = response.status === 500 ? headerValue(response, "Retry-After") : undefined;
    const seconds = retryAfter === undefined ? undefined : parseRetryAfter(retryAfter);
    return seconds === undefined || seconds > 10 ? undefined : seconds * 1000; // RFC 3261 14.2.
  }

  /** RFC 3261 14.1: in steps of 10 ms, 2.1 to 4 s for the owner of the Call-ID, 0 to 2 s for the other. */
  function collisionPauseMs(): number {
    const [high = 0, low = 0] = core.entropy.bytes(2);
    const share = (high * 256 + low) / 65_536;
    return 10 * (start.caller === "us" ? 210 + Math.floor(share * 191) : Math.floor(share * 201));
  }

  function settle(isAgreed: boolean): void {
    if (!heard.asked) return;
    heard = { ...heard, asked: false };
    const status = lastStatus === undefined ? {} : { status: lastStatus };
    report({ type: "offer-settled", agreed: isAgreed, ...status });
  }

  // ── The session's timer ─────────────────────────────────────────────────────────────────────────

  /** By UPDATE where the peer takes it, else by an INVITE that offers what we have (RFC 4028 7.4). */
  function refresh(): void {
    if (asking) return; // It refreshes the session, or says by its failure that it did not.
    if (!takesUpdates) return talks.feed({ type: "wanted" });
    requests.send({
      method: "UPDATE",
      compose: () => ({ headers: refreshing() }),
      response: refreshed,
      failed: (reason) => (reason === "timeout" ? lost(408) : timer.feed({ type: "refresh-failed" })),
    });
  }

  function refreshed(response: SipResponse): void {
    const { status } = response;
    if (status < 300) return agreeOn(agreedInterval(response));
    if (status === 481 || status === 408) return lost(status);
    raiseMinimum(response);
    if (status !== 405 && status !== 501) return timer.feed({ type: "refresh-failed" });
    takesUpdates = false;
    refresh();
  }

  function raiseMinimum(refusal: SipResponse): boolean {
    const longer = longerInterval(refusal, interval?.intervalS ?? 0);
    if (longer === undefined || interval === undefined) return false;
    minimumS = longer;
    interval = { ...interval, intervalS: longer };
    return true;
  }

  function agreeOn(next: SessionInterval | undefined): void {
    interval = next;
    if (next === undefined) timer.feed({ type: "dropped" });
    else timer.feed({ type: "agreed", intervalMs: next.intervalS * 1000, byUs: next.byUs });
  }

  /** Headers of a request that refreshes target and session. */
  function refreshing(): readonly SipHeader[] {
    return [
      contactFor(core, requests.dialog.fallback, start.contactUser),
      { name: "Allow", value: allowedMethods },
      { name: "Supported", value: "timer" },
      ...(interval === undefined ? [] : askForInterval(interval.intervalS, minimumS, interval.byUs)),
    ];
  }

  function noteAllowed(message: SipRequest | SipResponse): void {
    const methods = headerValues(message, "Allow");
    if (methods.length > 0) takesUpdates = methods.includes("UPDATE");
  }

  /** RFC 3261 12.2.1.2: a session that cannot be refreshed for these is over. */
  function lost(status: 408 | 481): void {
    if (!over) report({ type: "session-lost", why: status === 481 ? "gone" : "timeout" });
  }

  // ── What holds for both ─────────────────────────────────────────────────────────────────────────

  /** RFC 3264 8.4: a stream on which the peer holds us becomes inactive when we hold it too. */
  function offering({ local, held }: SessionWish): LocalMedia {
    if (!held) return local;
    const theirs = media?.audio.direction;
    const both = theirs === "recvonly" || theirs === "inactive";
    return { ...local, direction: both ? "inactive" : "sendonly" };
  }

  function answering(): LocalMedia {
    return agreed.held ? { ...agreed.local, direction: "sendonly" } : agreed.local;
  }

  function change(next: LineMedia): void {
    if (JSON.stringify(next) === JSON.stringify(media)) return;
    media = next;
    report({ type: "media-changed", media: next });
  }

  function close(): void {
    if (over) return;
    over = true;
    timer.feed({ type: "ended" });
    talks.feed({ type: "ended" });
    for (const entry of waiting.values()) entry.driver.feed({ type: "settled" });
    waiting.clear();
  }
}
