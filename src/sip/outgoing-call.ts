import { createAcceptedForks } from "./accepted-forks.ts";
import type { AgentCore } from "./agent-core.ts";
import { createAuthenticator } from "./authenticator.ts";
import type { OpenInvite } from "./client-transactions.ts";
import { cancelOf, newBranch, randomToken, responseTo, sdpOf, tagOf, type SipAddress } from "./compose.ts";
import type { Dialog } from "./dialog.ts";
import { createEstablishedCall, type EstablishedCall, type EstablishedEvent } from "./established-call.ts";
import { evidenceOf } from "./evidence.ts";
import { sendBye } from "./farewell.ts";
import {
  buildInvite,
  contactUserOf,
  savedAnswer,
  savedInvite,
  type InviteIdentity,
  type InviteOrder,
} from "./invite-message.ts";
import type { LegEnd, LegEvent, SavedDialog } from "./leg.ts";
import type { SipRequest, SipResponse } from "./message.ts";
import { capabilities, refusedMethod } from "./plain-answers.ts";
import { offerOf, readAnswer, type LineMedia } from "./sdp.ts";
import type { ServerTransaction } from "./server-transactions.ts";

/** A call of ours from its INVITE to its end. */
export interface OutgoingCall {
  readonly callId: string;
  readonly localTag: string;
  readonly dialog: SavedDialog;
  /** The address the INVITE goes to; a host name until `send`. */
  readonly destination: SipAddress;
  readonly over: boolean;
  /** Sends the INVITE, once; `ended` is called at the end of the call. */
  send(destination: SipAddress, ended: () => void): void;
  /** Ends a call that could not be sent. */
  abandon(): void;
  /** CANCEL or BYE; a CANCEL waits for the first provisional response (RFC 3261 9.1). */
  hangUp(): void;
  /** A request inside the dialog. */
  receive(transaction: ServerTransaction): void;
  acknowledge(ack: SipRequest): void;
}

type Phase =
  | { readonly type: "prepared" }
  | {
      readonly type: "inviting";
      readonly invite: SipRequest;
      readonly transaction: OpenInvite;
      readonly provisional: boolean;
      readonly cancelSent: boolean;
    }
  | { readonly type: "answered"; readonly established: EstablishedCall; readonly status: SipResponse }
  | { readonly type: "over" };

export function createOutgoingCall(
  core: AgentCore,
  order: InviteOrder,
  report: (event: LegEvent) => void,
): OutgoingCall {
  const sdpId = Number.parseInt(randomToken(core.entropy, 4), 16);
  const sdp = offerOf(order.media, { id: sdpId, version: 1 });
  const authenticator = createAuthenticator(order.credentials, core.entropy, core.hashes);
  const attempt = authenticator.attempt();
  const forks = createAcceptedForks(core);
  const earlyMedia = new Map<string, LineMedia>();
  /** Forks that said BYE before their 200 reached us. */
  const leftEarly = new Set<string>();
  let identity: InviteIdentity = {
    localTag: randomToken(core.entropy, 8),
    branch: newBranch(core.entropy),
    cseq: 1,
  };
  let destination: SipAddress = { address: order.host, port: order.port };
  let phase: Phase = { type: "prepared" };
  let ringingStatus: number | undefined;
  let ourAct: LegEnd["ourAct"];
  let ringAlarm: Disposable | undefined;
  let whenEnded: (() => void) | undefined;

  return {
    callId: order.callId,
    localTag: identity.localTag,
    dialog: savedInvite(order, identity, destination),
    get destination() {
      return destination;
    },
    get over() {
      return phase.type === "over";
    },
    send,
    abandon: () => end({ by: ourAct === undefined ? "nobody" : "us", failure: "transport" }),
    hangUp,
    receive,
    acknowledge: (ack) => (phase.type === "answered" ? phase.established.acknowledge(ack) : undefined),
  };

  function send(to: SipAddress, ended: () => void): void {
    if (phase.type !== "prepared") return;
    destination = to;
    whenEnded = ended;
    ringAlarm = core.clock.alarm(core.clock.now() + order.ringTimeoutMs, () => stop("ring-timeout"));
    invite(false);
  }

  function invite(authenticated: boolean): void {
    const bare = buildInvite(core, order, identity, { sdp, credentials: [] });
    const credentials = authenticated ? authenticator.headersFor(bare) : [];
    const message = buildInvite(core, order, identity, { sdp, credentials });
    const transaction = core.clients.sendInvite(message, destination, {
      response: (response) => take(message, response),
      failed: (reason) => end({ by: ourAct === undefined ? "nobody" : "us", failure: reason }),
    });
    phase = { type: "inviting", invite: message, transaction, provisional: false, cancelSent: false };
  }

  function take(invite: SipRequest, response: SipResponse): void {
    if (response.status < 200) return ring(response);
    if (response.status < 300) return accept(invite, response);
    if (phase.type !== "inviting") return;
    const challenged = response.status === 401 || response.status === 407;
    if (challenged && ourAct === undefined && attempt.learn(response, invite)) return inviteAgain();
    end({
      by: ourAct === undefined ? "them" : "us",
      ...evidenceOf(response),
      ...(challenged && ourAct === undefined ? { failure: "auth" } : {}),
    });
  }

  function inviteAgain(): void {
    identity = { ...identity, branch: newBranch(core.entropy), cseq: identity.cseq + 1 };
    invite(true);
    report({ type: "leg-invited-again", dialog: savedInvite(order, identity, destination) });
  }

  function ring(response: SipResponse): void {
    if (phase.type !== "inviting") return;
    phase = { ...phase, provisional: true };
    if (ourAct !== undefined) return cancel();
    const tag = tagOf(response, "To") ?? "";
    if (response.status === 199) earlyMedia.delete(tag); // RFC 6228: this fork has ended.
    if (response.status === 100 || response.status === 199) return;
    if (response.status !== ringingStatus) {
      ringingStatus = response.status;
      report({ type: "leg-ringing", status: response.status });
    }
    const media = readMedia(response);
    if (media === undefined || sameMedia(media, [...earlyMedia.values()].at(-1))) return;
    earlyMedia.delete(tag); // To the end: the latest fork to send media is the one listened to.
    if (earlyMedia.size < 32) earlyMedia.set(tag, media);
    report({ type: "leg-early-media", media });
  }

  function accept(invite: SipRequest, response: SipResponse): void {
    const dialog = forks.acknowledge(invite, response, destination);
    if (dialog === undefined) return;
    if (phase.type !== "inviting") return sendBye(core, dialog, authenticator); // A second fork, or too late.
    if (ourAct !== undefined) {
      sendBye(core, dialog, authenticator);
      return end({ by: "us", ...evidenceOf(response) });
    }
    const early = earlyMedia.get(dialog.remoteTag) ?? earlyMedia.get("");
    const media = sdpOf(response) === undefined ? early : readMedia(response);
    if (media === undefined) {
      sendBye(core, dialog, authenticator);
      return end({ by: "nobody", ...evidenceOf(response), failure: "media" });
    }
    ringAlarm?.[Symbol.dispose]();
    phase = { type: "answered", established: establish(dialog, media), status: response };
    report({ type: "leg-answered", media, dialog: savedAnswer(dialog, invite.uri) });
    if (leftEarly.has(dialog.remoteTag)) end({ by: "them", ...evidenceOf(response) });
  }

  function establish(dialog: Dialog, media: LineMedia): EstablishedCall {
    const session = { local: order.media, id: sdpId, version: 1, sdp };
    const start = { dialog, session, media, authenticator, contactUser: contactUserOf(order) };
    return createEstablishedCall(core, start, (event) => follow(event));
  }

  function follow(event: EstablishedEvent): void {
    switch (event.type) {
      case "acknowledged":
        return;
      case "media-changed":
        return report({ type: "leg-media-changed", media: event.media });
      case "key-pressed":
        return report({ type: "leg-dtmf", digit: event.key });
      case "left":
        return end({ by: "them", ...answerEvidence(), ...event.evidence });
      case "unacknowledged":
        return end({ by: "nobody", ...answerEvidence(), failure: "timeout" });
    }
  }

  function answerEvidence(): Pick<LegEnd, "status" | "reason"> {
    if (phase.type !== "answered") return {};
    return { status: phase.status.status, reason: phase.status.reason };
  }

  function hangUp(): void {
    switch (phase.type) {
      case "answered": {
        const evidence = answerEvidence();
        phase.established.bye();
        ourAct = "hang-up";
        return end({ by: "us", ...evidence });
      }
      case "prepared":
        ourAct = "cancel";
        return end({ by: "us" });
      case "inviting":
        return stop("cancel");
      case "over":
        return;
    }
  }

  function stop(act: "cancel" | "ring-timeout"): void {
    if (phase.type !== "inviting" || ourAct !== undefined) return;
    ourAct = act;
    if (phase.provisional) cancel();
  }

  function cancel(): void {
    if (phase.type !== "inviting" || phase.cancelSent) return;
    phase = { ...phase, cancelSent: true };
    core.clients.sendRequest(cancelOf(phase.invite), destination, {
      response: () => undefined, // What counts is the INVITE's own final response.
      failed: () => undefined,
    });
    phase.transaction.cancelled();
  }

  function receive(transaction: ServerTransaction): void {
    const { request } = transaction;
    const tag = tagOf(request, "From") ?? "";
    if (phase.type === "answered" && phase.established.remoteTag === tag) {
      return phase.established.receive(transaction);
    }
    switch (request.method) {
      case "BYE":
        if (phase.type === "inviting" && leftEarly.size < 32) leftEarly.add(tag);
        return transaction.respond(responseTo(request, phase.type === "prepared" ? 481 : 200));
      case "INVITE":
      case "UPDATE": // Our offer is still unanswered (RFC 3261 14.2, RFC 3311 5.2).
        return transaction.respond(responseTo(request, phase.type === "inviting" ? 491 : 481));
      case "OPTIONS":
        return transaction.respond(capabilities(request));
      case "INFO":
        return transaction.respond(responseTo(request, phase.type === "inviting" ? 200 : 481));
      default:
        return transaction.respond(refusedMethod(request));
    }
  }

  function readMedia(response: SipResponse): LineMedia | undefined {
    const answer = sdpOf(response);
    const read = answer === undefined ? undefined : readAnswer(order.media, answer);
    return read?.ok === true ? read.media : undefined;
  }

  function end(how: Omit<LegEnd, "answered" | "ringing" | "ourAct">): void {
    if (phase.type === "over") return;
    const answered = phase.type === "answered";
    phase = { type: "over" };
    ringAlarm?.[Symbol.dispose]();
    const act = how.by === "us" && ourAct !== undefined ? { ourAct } : {};
    report({ type: "leg-ended", end: { ...how, answered, ringing: ringingStatus !== undefined, ...act } });
    whenEnded?.();
  }
}

function sameMedia(a: LineMedia, b: LineMedia | undefined): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}
