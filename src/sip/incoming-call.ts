import { contactFor, type AgentCore } from "./agent-core.ts";
import { createAuthenticator } from "./authenticator.ts";
import { allowedMethods, randomToken, responseTo, sdpOf, tagOf } from "./compose.ts";
import { cseqOf, dialogOfRequest } from "./dialog.ts";
import { createEstablishedCall, type EstablishedCall, type EstablishedEvent } from "./established-call.ts";
import { headerValue, headerValues } from "./header.ts";
import type { IncomingCallEvent } from "./leg.ts";
import type { SipHeader, SipRequest, SipResponse } from "./message.ts";
import { capabilities, refusedMethod } from "./plain-answers.ts";
import { answerTo, type LineMedia, type LocalMedia } from "./sdp.ts";
import type { ServerTransaction } from "./server-transactions.ts";
import { parseUri } from "./uri.ts";

export interface RefusalDetails {
  readonly reason?: string;
  /** Goes into a Reason header (RFC 3326). */
  readonly q850?: number;
  readonly retryAfterS?: number;
}

/** A call that came in, from its INVITE to its end. */
export interface ReceivedCall {
  readonly callId: string;
  readonly localTag: string;
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
  let phase: Phase = { type: "unanswered" };
  /** Said goodbye before the ACK: BYE waits for it (RFC 3261 15). */
  let byeWanted = false;

  transaction.watch({ cancelled: cancel, acknowledged: acknowledge });
  return {
    callId: dialog.callId,
    localTag,
    ring: () => (phase.type === "unanswered" ? transaction.respond(respond(180)) : undefined),
    earlyMedia,
    answer,
    reject,
    hangUp,
    receive,
    acknowledge,
  };

  function earlyMedia(local: LocalMedia): LineMedia | undefined {
    if (phase.type !== "unanswered" || offer === undefined) return undefined;
    const answer = answerTo(offer, local, { id: sdpId, version: 1 });
    if (!answer.ok) return undefined;
    transaction.respond(respond(183, { sdp: answer.sdp }));
    return answer.media;
  }

  function answer(local: LocalMedia): LineMedia | undefined {
    if (phase.type !== "unanswered") return undefined;
    if (offer === undefined) {
      establish({ local, id: sdpId, version: 0, sdp: "" }, undefined).accept(transaction, undefined);
      return undefined;
    }
    const answer = answerTo(offer, local, { id: sdpId, version: 1 });
    if (!answer.ok) {
      reject(answer.status);
      return undefined;
    }
    const session = { local, id: sdpId, version: 1, sdp: answer.sdp };
    establish(session, answer.media).accept(transaction, answer.sdp);
    return answer.media;
  }

  function establish(
    session: { local: LocalMedia; id: number; version: number; sdp: string },
    media: LineMedia | undefined,
  ): EstablishedCall {
    ringAlarm[Symbol.dispose]();
    const authenticator = createAuthenticator(undefined, core.entropy, core.hashes);
    const start = { dialog, session, media, authenticator, contactUser };
    const established = createEstablishedCall(core, start, follow);
    phase = { type: "answered", established, acknowledged: false };
    return established;
  }

  function follow(event: EstablishedEvent): void {
    switch (event.type) {
      case "acknowledged":
        return confirm();
      case "media-changed":
        return phase.type === "answered" ? report({ type: "media-changed", media: event.media }) : undefined;
      case "key-pressed":
        return phase.type === "answered" ? report({ type: "dtmf", digit: event.key }) : undefined;
      case "left":
        return end("them");
      case "unacknowledged":
        return end("nobody");
    }
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
    phase = { type: "over" };
    ringAlarm[Symbol.dispose]();
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
    if (phase.type === "answered") return phase.established.receive(inside);
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
      contactFor(core, transaction.source.address, contactUser),
      { name: "Allow", value: allowedMethods },
    ];
    return responseTo(request, status, {
      ...others,
      toTag: localTag,
      headers: status < 300 ? [...early, ...headers] : headers,
    });
  }

  function end(by: "us" | "them" | "nobody"): void {
    if (phase.type === "over") return;
    phase = { type: "over" };
    ringAlarm[Symbol.dispose]();
    if (!byeWanted) report({ type: "ended", by });
  }
}

/** What tells one INVITE from another that reached us by a second way (RFC 3261 8.2.2.2). */
export function mergeKeyOf(invite: SipRequest): string {
  return `${headerValue(invite, "Call-ID") ?? ""} ${tagOf(invite, "From") ?? ""} ${cseqOf(invite)}`;
}
