import type { SipAddress } from "./compose.ts";
import type { LineMedia, LocalMedia } from "./sdp.ts";

/** What is needed to end a call from another process: its dialog, or the INVITE that is still out. */
export interface SavedDialog {
  readonly sipCallId: string;
  readonly localTag: string;
  readonly remoteTag: string | null;
  readonly localUri: string;
  readonly remoteUri: string;
  readonly remoteTarget: string;
  readonly routeSet: readonly string[];
  readonly localCSeq: number;
  /** Branch of the INVITE, for a CANCEL; null once answered. */
  readonly inviteBranch: string | null;
  readonly requestUri: string;
  readonly destination: SipAddress;
}

/** What happens to a call of ours. */
export type LegEvent =
  /**
   * The INVITE that is out is another than the one told of last: challenged (401/407), it went again with credentials
   * and the next CSeq; or it went to another server, or to the one that a host name led to.
   */
  | { readonly type: "leg-invited-again"; readonly dialog: SavedDialog }
  | { readonly type: "leg-ringing"; readonly status: number }
  | { readonly type: "leg-early-media"; readonly media: LineMedia }
  | { readonly type: "leg-answered"; readonly media: LineMedia; readonly dialog: SavedDialog }
  | { readonly type: "leg-media-changed"; readonly media: LineMedia }
  /** The answered call is now found elsewhere, or its CSeq grew: what a BYE of another process needs. */
  | { readonly type: "leg-dialog-changed"; readonly dialog: SavedDialog }
  /**
   * What `hold`, `resume` and `offer` wanted is in force (`leg-media-changed` came before if that changed anything), or
   * was refused and the session is as it was. Wishes given while one is being asked are settled together, later.
   */
  | { readonly type: "leg-offer-settled"; readonly agreed: boolean; readonly status?: number }
  /**
   * How a transfer stands: `status` is the latest the peer said, of its call to the target or of our REFER. Not
   * `accepted`: the peer refused it and the call is as it was. `done`: nothing more comes; a status below 200 then
   * means that the outcome is not known.
   */
  | {
      readonly type: "leg-transfer";
      readonly status: number;
      readonly accepted: boolean;
      readonly done: boolean;
    }
  /** The peer did not take a digit of ours by INFO; no status: it said nothing. */
  | { readonly type: "leg-dtmf-refused"; readonly digit: string; readonly status?: number }
  /** INFO with application/dtmf-relay or application/dtmf. */
  | { readonly type: "leg-dtmf"; readonly digit: string }
  /** Exactly once, last. */
  | { readonly type: "leg-ended"; readonly end: LegEnd };

/** What can be asked of an answered call; without effect before and after. */
export interface LegControls {
  /** Stops the peer's audio: offers `sendonly`, or `inactive` while the peer holds us (RFC 3264 8.4). */
  hold(): void;
  /** Takes a held call back. */
  resume(): void;
  /** Offers other media of ours: another address, port or codecs. A call on hold stays so. */
  offer(local: LocalMedia): void;
  /** Blind transfer: asks the peer to call a sip, sips or tel URI (REFER, RFC 3515). Throws when it is none, or during another transfer. */
  transfer(targetUri: string): void;
  /** One of `0-9*#A-D` by INFO (application/dtmf-relay), in turn. Throws for other digits and durations beyond a minute. */
  sendInfoDtmf(digit: string, durationMs: number): void;
}

export interface LegEnd {
  /** `us`: hangUp() or the ring timeout; `them`: BYE or a final failure; `nobody`: timeout, transport or protocol failure. */
  readonly by: "us" | "them" | "nobody";
  /** Whether `leg-answered` came before. */
  readonly answered: boolean;
  /** Whether `leg-ringing` came before. */
  readonly ringing: boolean;
  /** Why we ended it, when we did. */
  readonly ourAct?: "hang-up" | "ring-timeout" | "cancel";
  /** Final response to the INVITE. */
  readonly status?: number;
  readonly reason?: string;
  /** Q.850 cause of the final response or of the BYE (RFC 3326). */
  readonly q850?: number;
  readonly q850Text?: string;
  /** Seconds, of a refusal that names them. */
  readonly retryAfterS?: number;
  readonly failure?: "timeout" | "transport" | "auth" | "media";
  /** What was wrong with the way to the server, in one sentence, where that is known. */
  readonly problem?: string;
}

/** What happens to a call that came in. Exactly one `cancelled` or `ended` comes, last. */
export type IncomingCallEvent =
  /** The ACK of our answer came. */
  | { readonly type: "acknowledged" }
  | { readonly type: "media-changed"; readonly media: LineMedia }
  | { readonly type: "dtmf"; readonly digit: string }
  /** What `hold`, `resume` and `offer` wanted is in force, or was refused. */
  | { readonly type: "offer-settled"; readonly agreed: boolean; readonly status?: number }
  | { readonly type: "cancelled" }
  /** `nobody`: our answer was never acknowledged, or the session was not refreshed. */
  | { readonly type: "ended"; readonly by: "us" | "them" | "nobody" };
