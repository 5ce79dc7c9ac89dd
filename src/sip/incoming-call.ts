import { contactFor, type AgentCore } from "./agent-core.ts";
import { createAuthenticator } from "./authenticator.ts";
import type { AcceptedBody } from "./call-session.ts";
import { allowedMethods, randomToken, responseTo, sdpOf, tagOf } from "./compose.ts";
import type { LocalSession } from "./descriptions.ts";
import { cseqOf, dialogOfRequest } from "./dialog.ts";
import { createDialogRequests } from "./dialog-requests.ts";
import { createEstablishedCall, type EstablishedCall, type EstablishedEvent } from "./established-call.ts";
import { headerValue, headerValues } from "./header.ts";
import type { IncomingCallEvent, LegControls } from "./leg.ts";
import type { SipHeader, SipRequest, SipResponse } from "./message.ts";
import { capabilities, refusedMethod, supported } from "./plain-answers.ts";
import { createReliableResponses, wantsReliable } from "./reliable-responses.ts";
import { answerTo, offerOf, type LineMedia, type LocalMedia } from "./sdp.ts";
import type { ServerTransaction } from "./server-transactions.ts";
import { parseUri } from "./uri.ts";

interface RefusalDetails {
  readonly reason?: string;
  /** Goes into a Reason header (RFC 3326). */
  readonly q850?: number;
  readonly retryAfterS?: number;
}

/** A call that came in, from its INVITE to its end. */
export interface ReceivedCall extends Pick<LegControls, "hold" | "resume" | "offer"> {
  readonly callId: string;
  readonly localTag: string;
  /** 180; not sent where it must be reliable and carry an offer that is not there yet (RFC 3262 5). */
  ring(): void;
  earlyMedia(local: LocalMedia): LineMedia | undefined;
  answer(local: LocalMedia): LineMedia | undefined;
  reject(status: number, details?: RefusalDetails): void;
  hangUp(): void;
  /** A request inside the dialog. */
  receive(transaction: ServerTransaction): void;
  acknowledge(ack: SipRequest): void;
}

/** How long an INVITE may stay unanswered: that of timer C (RFC 3261 16.6), ms. */
const longestRingMs = 180_000;

type Phase =
  | { readonly type: "unanswered" }
  | { readonly type: "answered"; readonly established: EstablishedCall; readonly acknowledged: boolean }
  | { readonly type: "over" };

export function createReceivedCall(
  core: AgentCore,
  transaction: ServerTransaction,
  report: (event: IncomingCallEvent) => void,
): ReceivedCall {
  const { request } = transaction;
  const localTag = randomToken(core.entropy, 8);
  const sdpId = Number.parseInt(randomToken(core.entropy, 4), 16);
  const dialog = dialogOfRequest(request, localTag, transaction.source);
  const offer = sdpOf(request);
  const contactUser = parseUri(dialog.localUri)?.user?.replace(/[^A-Za-z0-9+._*-]/g, "") || "outdial";
  const ringAlarm = core.clock.alarm(core.clock.now() + longestRingMs, () => reject(480));
  const authenticator = createAuthenticator(undefined, core.entropy, core.hashes);
  const requests = createDialogRequests(core, { dialog, authenticator }, () => undefined);
  const reliable = wantsReliable(request)
    ? createReliableResponses(core, transaction, unacknowledged)
    : undefined;
  /** The session that a reliable response described, and whether the caller has said that it came. */
  let early: { readonly call: EstablishedCall; readonly confirmed: boolean } | undefined;
  /** The answer waits for that. */
  let answering = false;
  let phase: Phase = { type: "unanswered" };
  /** Said goodbye before the ACK: BYE waits for it (RFC 3261 15). */
  let byeWanted = false;

  transaction.watch({ cancelled: cancel, acknowledged: acknowledge });
  return {
    callId: dialog.callId,
    localTag,
    ring,
    earlyMedia,
    answer,
    reject,
    hangUp,
    receive,
    acknowledge,
    hold: () => answered()?.hold(),
    resume: () => answered()?.resume(),
    offer: (local) => answered()?.offer(local),
  };

  function answered(): EstablishedCall | undefined {
    return phase.type === "answered" && !byeWanted ? phase.established : undefined;
  }

  function ring(): void {
    if (phase.type !== "unanswered") return;
    if (reliable === undefined) return transaction.respond(respond(180));
    if (offer !== undefined || early !== undefined)
      reliable.send(respond(180), (prack) => pracked(prack, false));
  }

  function earlyMedia(local: LocalMedia): LineMedia | undefined {
    if (phase.type !== "unanswered") return undefined;
    if (early !== undefined) return early.call.media;
    const made = describe(local);
    if (made === undefined || (reliable === undefined && offer === undefined)) return undefined;
    const response = respond(183, { sdp: made.sdp });
    if (reliable === undefined) transaction.respond(response);
    else {
      early = {
        call: establish({ local, id: sdpId, version: 1, sdp: made.sdp }, made.media),
        confirmed: false,
      };
      reliable.send(response, (prack) => pracked(prack, true));
    }
    return made.media;
  }

  /** Our answer, or our offer when the INVITE has none; undefined when nothing can be agreed. */
  function describe(local: LocalMedia): { readonly sdp: string; readonly media?: LineMedia } | undefined {
    const session = { id: sdpId, version: 1 };
    if (offer === undefined) return { sdp: offerOf(local, session) };
    const made = answerTo(offer, local, session);
    return made.ok ? made : undefined;
  }

  function answer(local: LocalMedia): LineMedia | undefined {
    if (phase.type !== "unanswered") return undefined;
    if (early !== undefined) {
      answering = true;
      answerEarly();
      return early.call.media;
    }
    const made = describe(local);
    if (made === undefined) {
      reject(488);
      return undefined;
    }
    const session = { local, id: sdpId, version: 1, sdp: made.sdp };
    const established = establish(session, made.media);
    accept(established, offer === undefined ? { type: "offer" } : { type: "answer", sdp: made.sdp });
    return made.media;
  }

  /** A 2xx must not overtake a description that is still unacknowledged (RFC 3262 3); that one was the answer, so it has none. */
  function answerEarly(): void {
    if (answering && early?.confirmed === true && phase.type === "unanswered")
      accept(early.call, { type: "nothing" });
  }

  function accept(established: EstablishedCall, body: AcceptedBody): void {
    ringAlarm[Symbol.dispose]();
    reliable?.close();
    phase = { type: "answered", established, acknowledged: false };
    established.accept(transaction, body);
  }

  function establish(session: LocalSession, media: LineMedia | undefined): EstablishedCall {
    const start = { requests, session, media, contactUser, caller: "them" } as const;
    return createEstablishedCall(core, { ...start, timers: core.sessionTimer }, follow);
  }

  function pracked(prack: ServerTransaction, describing: boolean): void {
    const sdp = sdpOf(prack.request);
    if (sdp !== undefined && early?.call.media !== undefined) early.call.renegotiate(prack);
    else {
      prack.respond(responseTo(prack.request, 200));
      if (sdp !== undefined) early?.call.takeAnswer(sdp);
    }
    if (!describing || early === undefined) return;
    early = { ...early, confirmed: true };
    answerEarly();
  }

  function unacknowledged(): void {
    if (phase.type !== "unanswered") return;
    transaction.respond(respond(504));
    end("nobody");
  }

  function follow(event: EstablishedEvent): void {
    switch (event.type) {
      case "acknowledged":
        return confirm();
      case "media-changed":
        return tell({ type: "media-changed", media: event.media });
      case "key-pressed":
        return phase.type === "answered" ? tell({ type: "dtmf", digit: event.key }) : undefined;
      case "offer-settled":
        return tell(event);
      case "key-refused":
      case "transfer": // Neither is asked of a call that came in.
        return;
      case "left":
        return end("them");
      case "session-lost":
        return end(event.why === "gone" ? "them" : "nobody");
    }
  }

  /** Nothing follows the end, also while our BYE still waits for the ACK. */
  function tell(event: IncomingCallEvent): void {
    if (phase.type !== "over" && !byeWanted) report(event);
  }

  function confirm(): void {
    if (phase.type !== "answered" || phase.acknowledged) return;
    phase = { ...phase, acknowledged: true };
    if (byeWanted) phase.established.bye();
    else report({ type: "acknowledged" });
  }

  function reject(status: number, details: RefusalDetails = {}): void {
    if (phase.type !== "unanswered") return;
    const { reason, q850, retryAfterS } = details;
    const headers: SipHeader[] = [
      ...(q850 === undefined ? [] : [{ name: "Reason", value: `Q.850;cause=${q850}` }]),
      ...(retryAfterS === undefined ? [] : [{ name: "Retry-After", value: `${retryAfterS}` }]),
    ];
    const chosen = Number.isInteger(status) && status >= 300 && status <= 699 ? status : 500;
    transaction.respond(respond(chosen, { headers, ...(reason === undefined ? {} : { reason }) }));
    end("us");
  }

  function cancel(): void {
    if (phase.type !== "unanswered") return;
    transaction.respond(respond(487));
    close();
    report({ type: "cancelled" });
  }

  function hangUp(): void {
    if (phase.type === "unanswered") return reject(480);
    if (phase.type === "over" || byeWanted) return;
    byeWanted = true;
    report({ type: "ended", by: "us" });
    if (phase.acknowledged) phase.established.bye();
  }

  function receive(inside: ServerTransaction): void {
    if (inside.request.method === "PRACK" && reliable !== undefined) return reliable.acknowledge(inside);
    if (phase.type === "answered") return phase.established.receive(inside);
    const renegotiable = phase.type === "unanswered" && early?.confirmed === true;
    if (inside.request.method === "UPDATE" && renegotiable) return early?.call.receive(inside);
    switch (inside.request.method) {
      case "INVITE":
      case "UPDATE": // The first offer is still unanswered (RFC 3261 14.2, RFC 3311 5.2).
        return inside.respond(overlapping(inside.request));
      case "BYE": // Allowed to the caller in an early dialog (RFC 3261 15.1.2).
        inside.respond(responseTo(inside.request, phase.type === "over" ? 481 : 200));
        return cancel();
      case "OPTIONS":
        return inside.respond(capabilities(inside.request));
      case "INFO":
        return inside.respond(responseTo(inside.request, phase.type === "over" ? 481 : 200));
      default:
        return inside.respond(refusedMethod(inside.request));
    }
  }

  function overlapping(inside: SipRequest): SipResponse {
    if (phase.type === "over") return responseTo(inside, 481);
    const seconds = 1 + ((core.entropy.bytes(1)[0] ?? 0) % 10);
    return responseTo(inside, 500, { headers: [{ name: "Retry-After", value: `${seconds}` }] });
  }

  function acknowledge(ack: SipRequest): void {
    if (phase.type === "answered") phase.established.acknowledge(ack);
  }

  function respond(
    status: number,
    parts: { reason?: string; headers?: readonly SipHeader[]; sdp?: string } = {},
  ): SipResponse {
    const { headers = [], ...others } = parts;
    const recorded = headerValues(request, "Record-Route").map((value) => ({ name: "Record-Route", value }));
    const early: SipHeader[] = [
      ...recorded,
      contactFor(core, transaction.source, contactUser),
      { name: "Allow", value: allowedMethods },
      supported,
    ];
    return responseTo(request, status, {
      ...others,
      toTag: localTag,
      headers: status < 300 ? [...early, ...headers] : headers,
    });
  }

  function end(by: "us" | "them" | "nobody"): void {
    if (phase.type === "over") return;
    close();
    if (!byeWanted) report({ type: "ended", by });
  }

  function close(): void {
    phase = { type: "over" };
    ringAlarm[Symbol.dispose]();
    reliable?.close();
    early?.call.close();
  }
}

/** What tells one INVITE from another that reached us by a second way (RFC 3261 8.2.2.2). */
export function mergeKeyOf(invite: SipRequest): string {
  return `${headerValue(invite, "Call-ID") ?? ""} ${tagOf(invite, "From") ?? ""} ${cseqOf(invite)}`;
}
