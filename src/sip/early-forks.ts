import type { AgentCore } from "./agent-core.ts";
import type { Authenticator } from "./authenticator.ts";
import { sdpOf, tagOf, type SipAddress } from "./compose.ts";
import { dialogOfResponse, type Dialog } from "./dialog.ts";
import { createDialogRequests, type DialogRequests } from "./dialog-requests.ts";
import type { EstablishedCall } from "./established-call.ts";
import type { SipRequest, SipResponse } from "./message.ts";
import { isNextReliable, rackOf, reliableNumberOf } from "./reliable-order.ts";
import { readAnswer, type LineMedia, type LocalMedia } from "./sdp.ts";

/** The early dialogs of an INVITE of ours (RFC 3261 12.1.2) and the media they send, by To tag. */
export interface EarlyForks {
  /**
   * Takes a provisional response: acknowledges a reliable one with PRACK, in the order of their numbers (RFC 3262 4),
   * and forgets a fork that has ended (199, RFC 6228). `listen`: the media to hear from now on, when they changed.
   * `passed-over`: it came before, or too early, and must not be looked at.
   */
  take(
    invite: SipRequest,
    response: SipResponse,
    destination: SipAddress,
  ): { readonly listen?: LineMedia } | "passed-over";
  /** New media of a fork; false when they are not the ones to hear. */
  changeMedia(tag: string, media: LineMedia): boolean;
  /** The session of a fork whose reliable response answered our offer (RFC 3262 5). */
  callOf(tag: string): EstablishedCall | undefined;
  /** A fork answered with 2xx: our side of its dialog from now on. */
  confirm(dialog: Dialog): DialogRequests;
  /** What a fork that answers with 2xx has agreed to: the first description it gave as an answer counts. */
  answerOf(tag: string, response: SipResponse): LineMedia | undefined;
  close(): void;
}

interface Fork {
  readonly requests: DialogRequests;
  last: number;
  call: EstablishedCall | undefined;
}

/** Beyond this many early dialogs of one call the network is not forking but playing with us. */
const maxForks = 32;

export function createEarlyForks(
  core: AgentCore,
  parts: {
    readonly local: LocalMedia;
    readonly authenticator: Authenticator;
    readonly establish: (requests: DialogRequests, media: LineMedia) => EstablishedCall;
    /** Hears of every new state of a dialog. */
    readonly changed: (dialog: Dialog) => void;
  },
): EarlyForks {
  const { authenticator, changed, establish, local } = parts;
  const reliable = new Map<string, Fork>();
  /** The latest fork to send media comes last: it is the one listened to. */
  const heard = new Map<string, LineMedia>();

  return {
    take,
    changeMedia(tag, media) {
      if (!heard.has(tag)) return false;
      heard.set(tag, media);
      return listened() === media;
    },
    callOf: (tag) => reliable.get(tag)?.call,
    confirm,
    answerOf,
    close() {
      for (const { call, requests } of reliable.values()) {
        call?.close();
        requests.close();
      }
    },
  };

  function take(
    invite: SipRequest,
    response: SipResponse,
    destination: SipAddress,
  ): ReturnType<EarlyForks["take"]> {
    const tag = tagOf(response, "To") ?? "";
    const number = tag === "" ? undefined : reliableNumberOf(response);
    const fork =
      number === undefined ? undefined : acknowledge(tag, number, { invite, response, destination });
    if (number !== undefined && fork === undefined) return "passed-over";
    if (response.status === 199) return forget(tag);
    const before = listened();
    const media = readMedia(response);
    if (media === undefined || reliable.get(tag)?.call !== undefined) return {};
    if (fork !== undefined) fork.call = establish(fork.requests, media);
    const same = sameMedia(media, before);
    if (!heard.delete(tag) && heard.size >= maxForks) return {};
    heard.set(tag, media);
    return same ? {} : { listen: media };
  }

  function acknowledge(
    tag: string,
    number: number,
    from: { readonly invite: SipRequest; readonly response: SipResponse; readonly destination: SipAddress },
  ): Fork | undefined {
    const known = reliable.get(tag);
    const rack = rackOf(from.response, number);
    if (rack === undefined || !isNextReliable(known?.last, number)) return undefined;
    if (known === undefined && reliable.size >= maxForks) return undefined;
    const fork = known ?? open(dialogOfResponse(from.invite, from.response, from.destination));
    fork.last = number;
    reliable.set(tag, fork);
    fork.requests.send({
      method: "PRACK",
      compose: () => ({ headers: [{ name: "RAck", value: rack }] }),
      response: () => undefined,
      failed: () => undefined, // The INVITE's own answer tells what becomes of the call.
    });
    return fork;
  }

  function open(dialog: Dialog): Fork {
    return {
      requests: createDialogRequests(core, { dialog, authenticator }, changed),
      last: 0,
      call: undefined,
    };
  }

  function forget(tag: string): { readonly listen?: LineMedia } {
    const before = listened();
    heard.delete(tag);
    reliable.get(tag)?.call?.close();
    reliable.delete(tag);
    const after = listened();
    return after === undefined || sameMedia(after, before) ? {} : { listen: after };
  }

  function confirm(dialog: Dialog): DialogRequests {
    const fork = reliable.get(dialog.remoteTag);
    if (fork === undefined) return createDialogRequests(core, { dialog, authenticator }, changed);
    fork.requests.confirm(dialog);
    return fork.requests;
  }

  function answerOf(tag: string, response: SipResponse): LineMedia | undefined {
    const answered = reliable.get(tag)?.call?.media;
    if (answered !== undefined) return answered; // RFC 3261 13.2.1: what comes after the answer is none.
    return sdpOf(response) === undefined ? (heard.get(tag) ?? heard.get("")) : readMedia(response);
  }

  function listened(): LineMedia | undefined {
    return [...heard.values()].at(-1);
  }

  function readMedia(response: SipResponse): LineMedia | undefined {
    const answer = sdpOf(response);
    const read = answer === undefined ? undefined : readAnswer(local, answer);
    return read?.ok === true ? read.media : undefined;
  }
}

function sameMedia(a: LineMedia, b: LineMedia | undefined): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}
