import type { LineMedia } from "./sdp.ts";

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
  readonly destination: { readonly address: string; readonly port: number };
}

/** What happens to a call of ours. */
export type LegEvent =
  /** Challenged (401/407): the INVITE went again with credentials, same Call-ID, next CSeq. */
  | { readonly type: "leg-invited-again"; readonly dialog: SavedDialog }
  | { readonly type: "leg-ringing"; readonly status: number }
  | { readonly type: "leg-early-media"; readonly media: LineMedia }
  | { readonly type: "leg-answered"; readonly media: LineMedia; readonly dialog: SavedDialog }
  | { readonly type: "leg-media-changed"; readonly media: LineMedia }
  /** INFO with application/dtmf-relay or application/dtmf. */
  | { readonly type: "leg-dtmf"; readonly digit: string }
  /** Exactly once, last. */
  | { readonly type: "leg-ended"; readonly end: LegEnd };

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
}

/** What happens to a call that came in. Exactly one `cancelled` or `ended` comes, last. */
export type IncomingCallEvent =
  /** The ACK of our answer came. */
  | { readonly type: "acknowledged" }
  | { readonly type: "media-changed"; readonly media: LineMedia }
  | { readonly type: "dtmf"; readonly digit: string }
  | { readonly type: "cancelled" }
  /** `nobody`: our answer was never acknowledged. */
  | { readonly type: "ended"; readonly by: "us" | "them" | "nobody" };
