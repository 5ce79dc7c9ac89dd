import { createAcceptedForks } from "./accepted-forks.ts";
import type { AgentCore } from "./agent-core.ts";
import { createAuthenticator } from "./authenticator.ts";
import type { OpenInvite } from "./client-transactions.ts";
import { cancelOf, newBranch, randomToken, responseTo, tagOf, type SipAddress } from "./compose.ts";
import type { Dialog } from "./dialog.ts";
import type { DialogRequests } from "./dialog-requests.ts";
import { createEarlyForks } from "./early-forks.ts";
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
import type { LegControls, LegEnd, LegEvent, SavedDialog } from "./leg.ts";
import type { SipRequest, SipResponse } from "./message.ts";
import { capabilities, refusedMethod } from "./plain-answers.ts";
import { offerOf, type LineMedia } from "./sdp.ts";
import type { ServerTransaction } from "./server-transactions.ts";
import { longerInterval } from "./session-expires.ts";

/** A call of ours from its INVITE to its end. */
export interface OutgoingCall extends LegControls {
  readonly callId: string;
  readonly localTag: string;
  readonly dialog: SavedDialog;
  /** The address the INVITE goes to; a host name until `send`. */
  readonly destination: SipAddress;
  readonly over: boolean;
  /** Sends the INVITE, once; `ended` is called at the end of the call. */
  send(destination: SipAddress, ended: () => void, options?: SendOptions): void;
  /** Sends the same INVITE to another server, after `elsewhere` has been answered with true. */
  moveTo(destination: SipAddress): void;
  /** Ends a call that cannot be sent, or no further; `problem` is a sentence on the reason. */
  abandon(problem?: string): void;
  /** CANCEL or BYE; a CANCEL waits for the first provisional response (RFC 3261 9.1). */
  hangUp(): void;
  /** A request inside the dialog. */
  receive(transaction: ServerTransaction): void;
  acknowledge(ack: SipRequest): void;
}

export interface SendOptions {
  /**
   * Asked when a server refused with 503 or could not be reached before it said more than 100 (RFC 3263 4.3): true
   * when there is another one, to which `moveTo` or `abandon` follows.
   */
  readonly elsewhere?: () => boolean;
  /** Tells of the INVITE by `leg-invited-again`: where it goes could not be known before. */
  readonly announced?: boolean;
}

type Phase =
  | { readonly type: "prepared" }
  /** Between two servers; `failure` is the end if there is none after all. */
  | { readonly type: "moving"; readonly failure: Ending }
  | {
      readonly type: "inviting";
      readonly invite: SipRequest;
      readonly transaction: OpenInvite;
      readonly provisional: boolean;
      /** A provisional response other than 100 came: the INVITE may have rung, and goes nowhere else. */
      readonly progressed: boolean;
      readonly cancelSent: boolean;
    }
  | { readonly type: "answered"; readonly established: EstablishedCall; readonly status: SipResponse }
  | { readonly type: "over" };

/** How often somebody on the way may want a longer session interval. */
const maxRaises = 3;

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
  const early = createEarlyForks(core, { local: order.media, authenticator, establish, changed });
  /** Forks that said BYE before their 200 reached us. */
  const leftEarly = new Set<string>();
  let identity: InviteIdentity = {
    localTag: randomToken(core.entropy, 8),
    branch: newBranch(core.entropy),
    cseq: 1,
  };
  let destination: SipAddress = order.server ?? { address: order.host, port: order.port };
  let phase: Phase = { type: "prepared" };
  let ringingStatus: number | undefined;
  let ourAct: LegEnd["ourAct"];
  let ringAlarm: Disposable | undefined;
  let whenEnded: (() => void) | undefined;
  let elsewhere: SendOptions["elsewhere"];
  /** The session interval to ask for (RFC 4028); undefined: none. */
  let timers = order.sessionTimer === "off" ? undefined : (order.sessionTimer ?? core.sessionTimer);
  let raises = 0;

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
    moveTo,
    abandon,
    hangUp,
    receive,
    acknowledge: (ack) => answered()?.acknowledge(ack),
    hold: () => answered()?.hold(),
    resume: () => answered()?.resume(),
    offer: (local) => answered()?.offer(local),
    transfer: (targetUri) => answered()?.transfer(targetUri),
    sendInfoDtmf: (digit, durationMs) => answered()?.sendInfoDtmf(digit, durationMs),
  };

  function answered(): EstablishedCall | undefined {
    return phase.type === "answered" ? phase.established : undefined;
  }

  function send(to: SipAddress, ended: () => void, options: SendOptions = {}): void {
    if (phase.type !== "prepared") return;
    destination = to;
    whenEnded = ended;
    elsewhere = options.elsewhere;
    ringAlarm = core.clock.alarm(core.clock.now() + order.ringTimeoutMs, () => stop("ring-timeout"));
    invite(false);
    if (options.announced === true) announce();
  }

  function moveTo(to: SipAddress): void {
    if (phase.type !== "moving") return;
    destination = to;
    identity = { ...identity, branch: newBranch(core.entropy) };
    invite(true);
    announce();
  }

  function abandon(problem?: string): void {
    const by = ourAct === undefined ? "nobody" : "us";
    const failure: Ending = phase.type === "moving" ? phase.failure : { by, failure: "transport" };
    end({ ...failure, ...(problem === undefined ? {} : { problem }) });
  }

  function announce(): void {
    report({ type: "leg-invited-again", dialog: savedInvite(order, identity, destination) });
  }

  function invite(authenticated: boolean): void {
    const parts = { sdp, destination, timers };
    const bare = buildInvite(core, order, identity, { ...parts, credentials: [] });
    const credentials = authenticated ? authenticator.headersFor(bare) : [];
    const message = buildInvite(core, order, identity, { ...parts, credentials });
    const transaction = core.clients.sendInvite(message, destination, {
      response: (response) => take(message, response),
      failed(reason, problem) {
        const more = problem === undefined ? {} : { problem };
        const failure = { by: ourAct === undefined ? "nobody" : "us", failure: reason, ...more } as const;
        if (goElsewhere(failure)) forsake(message, destination);
        else end(failure);
      },
    });
    phase = {
      type: "inviting",
      invite: message,
      transaction,
      provisional: false,
      progressed: false,
      cancelSent: false,
    };
  }

  function goElsewhere(failure: Ending): boolean {
    if (phase.type !== "inviting" || phase.progressed || ourAct !== undefined) return false;
    if (elsewhere?.() !== true) return false;
    phase = { type: "moving", failure };
    return true;
  }

  /** A server given up may answer yet: it is told to stop, and a 200 of it is hung up at once. */
  function forsake(invite: SipRequest, server: SipAddress): void {
    let cancelled = false;
    core.clients.resumeInvite(invite, server, {
      response(response) {
        if (response.status < 200 && !cancelled) {
          cancelled = true;
          core.clients.sendRequest(cancelOf(invite), server, unheard);
        }
        if (response.status < 200 || response.status >= 300) return;
        const dialog = forks.acknowledge(invite, response, server);
        if (dialog !== undefined) sendBye(core, dialog, authenticator);
      },
      failed: () => undefined,
    });
  }

  function take(invite: SipRequest, response: SipResponse): void {
    if (response.status < 200) return ring(invite, response);
    if (response.status < 300) return accept(invite, response);
    if (phase.type !== "inviting") return;
    const challenged = response.status === 401 || response.status === 407;
    if (challenged && ourAct === undefined && attempt.learn(response, invite)) return inviteAgain();
    if (ourAct === undefined && asksForLonger(response)) return inviteAgain();
    const ending: Ending = {
      by: ourAct === undefined ? "them" : "us",
      ...evidenceOf(response),
      ...(challenged && ourAct === undefined ? { failure: "auth" } : {}),
    };
    if (response.status !== 503 || !goElsewhere(ending)) end(ending);
  }

  function inviteAgain(): void {
    identity = { ...identity, branch: newBranch(core.entropy), cseq: identity.cseq + 1 };
    invite(true);
    announce();
  }

  /** 422: the interval was too short for somebody on the way (RFC 4028 7.3). */
  function asksForLonger(response: SipResponse): boolean {
    const longer = timers === undefined ? undefined : longerInterval(response, timers.expiresS);
    if (timers === undefined || longer === undefined || raises >= maxRaises) return false;
    raises += 1;
    timers = { ...timers, expiresS: longer, minimumS: longer };
    return true;
  }

  function ring(invite: SipRequest, response: SipResponse): void {
    if (phase.type !== "inviting") return;
    phase = { ...phase, provisional: true, progressed: phase.progressed || response.status > 100 };
    const taken = early.take(invite, response, destination);
    if (ourAct !== undefined) return cancel();
    if (taken === "passed-over" || response.status === 100) return;
    if (response.status !== 199 && response.status !== ringingStatus) {
      ringingStatus = response.status;
      report({ type: "leg-ringing", status: response.status });
    }
    if (taken.listen !== undefined) report({ type: "leg-early-media", media: taken.listen });
  }

  function accept(invite: SipRequest, response: SipResponse): void {
    const dialog = forks.acknowledge(invite, response, destination);
    if (dialog === undefined) return;
    const requests = early.confirm(dialog);
    if (phase.type !== "inviting") return requests.bye(); // A second fork, or too late.
    if (ourAct !== undefined) {
      requests.bye();
      return end({ by: "us", ...evidenceOf(response) });
    }
    const tag = dialog.remoteTag;
    const media = early.answerOf(tag, response);
    if (media === undefined) {
      requests.bye();
      return end({ by: "nobody", ...evidenceOf(response), failure: "media" });
    }
    ringAlarm?.[Symbol.dispose]();
    const established = early.callOf(tag) ?? establish(requests, media);
    phase = { type: "answered", established, status: response };
    report({ type: "leg-answered", media, dialog: savedAnswer(requests.dialog) });
    established.confirm(response);
    if (leftEarly.has(tag)) end({ by: "them", ...evidenceOf(response) });
  }

  function establish(requests: DialogRequests, media: LineMedia): EstablishedCall {
    const session = { local: order.media, id: sdpId, version: 1, sdp };
    const contactUser = contactUserOf(order);
    const start = { requests, session, media, contactUser, caller: "us" } as const;
    const { remoteTag } = requests.dialog;
    return createEstablishedCall(core, { ...start, timers: timers ?? core.sessionTimer }, (event) =>
      answered()?.remoteTag === remoteTag ? follow(event) : followEarly(event, remoteTag),
    );
  }

  function followEarly(event: EstablishedEvent, tag: string): void {
    if (phase.type !== "inviting" || ourAct !== undefined) return;
    if (event.type !== "media-changed" || !early.changeMedia(tag, event.media)) return;
    report({ type: "leg-early-media", media: event.media });
  }

  function changed(dialog: Dialog): void {
    if (answered()?.remoteTag !== dialog.remoteTag) return;
    report({ type: "leg-dialog-changed", dialog: savedAnswer(dialog) });
  }

  function follow(event: EstablishedEvent): void {
    switch (event.type) {
      case "acknowledged":
        return;
      case "media-changed":
        return report({ type: "leg-media-changed", media: event.media });
      case "offer-settled":
        return report({ ...event, type: "leg-offer-settled" });
      case "transfer":
        return report({ ...event, type: "leg-transfer" });
      case "key-pressed":
        return report({ type: "leg-dtmf", digit: event.key });
      case "key-refused": {
        const status = event.status === undefined ? {} : { status: event.status };
        return report({ type: "leg-dtmf-refused", digit: event.key, ...status });
      }
      case "left":
        return end({ by: "them", ...answerEvidence(), ...event.evidence });
      case "session-lost":
        if (event.why === "gone") return end({ by: "them", ...answerEvidence() });
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
      case "moving":
        ourAct = "cancel";
        return end({ by: "us" });
      case "inviting":
        return stop("cancel");
      case "over":
        return;
    }
  }

  function stop(act: "cancel" | "ring-timeout"): void {
    if ((phase.type !== "inviting" && phase.type !== "moving") || ourAct !== undefined) return;
    ourAct = act;
    if (phase.type === "moving") end({ by: "us" });
    else if (phase.provisional) cancel();
  }

  function cancel(): void {
    if (phase.type !== "inviting" || phase.cancelSent) return;
    phase = { ...phase, cancelSent: true };
    core.clients.sendRequest(cancelOf(phase.invite), destination, unheard);
    phase.transaction.cancelled();
  }

  function receive(transaction: ServerTransaction): void {
    const { request } = transaction;
    const tag = tagOf(request, "From") ?? "";
    if (phase.type === "answered" && phase.established.remoteTag === tag) {
      return phase.established.receive(transaction);
    }
    const fork = phase.type === "inviting" && request.method === "UPDATE" ? early.callOf(tag) : undefined;
    if (fork !== undefined) return fork.receive(transaction);
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

  function end(how: Ending): void {
    if (phase.type === "over") return;
    const established = answered();
    established?.close();
    phase = { type: "over" };
    early.close();
    ringAlarm?.[Symbol.dispose]();
    const act = how.by === "us" && ourAct !== undefined ? { ourAct } : {};
    report({
      type: "leg-ended",
      end: { ...how, answered: established !== undefined, ringing: ringingStatus !== undefined, ...act },
    });
    whenEnded?.();
  }
}

type Ending = Omit<LegEnd, "answered" | "ringing" | "ourAct">;

/** Of a CANCEL nobody awaits the answer: what counts is the INVITE's own final response. */
const unheard = { response: () => undefined, failed: () => undefined };
