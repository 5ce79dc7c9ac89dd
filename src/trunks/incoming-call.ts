import type { IncomingCallEvent, LegControls, LineMedia, LocalMedia } from "#sip";

/** A call that came in: the callee's side of an INVITE (RFC 3261 13.3). */
export interface IncomingCall extends Pick<LegControls, "hold" | "resume"> {
  readonly sipCallId: string;
  /** User part of the Request-URI, unescaped. */
  readonly number: string;
  /** User part of From, unescaped; empty when there is none. */
  readonly from: string;
  /** User part of To, unescaped; empty when there is none. */
  readonly to: string;
  /** The SDP offer as it came; undefined when the INVITE had none. */
  readonly offer?: string;
  readonly offered: { readonly text: boolean; readonly language?: string };
  /** Where the INVITE came from. */
  readonly remote: { readonly address: string; readonly port: number };
  /** 180 Ringing. */
  ring(): void;
  /** 183 with SDP. Undefined: nothing could be agreed; the call is still unanswered. */
  earlyMedia(local: LocalMedia): LineMedia | undefined;
  /**
   * 200 with SDP, repeated until the ACK. Undefined: 488 was sent (`ended` follows), or the INVITE had no offer
   * (ours went out, `media-changed` follows with the ACK).
   */
  answer(local: LocalMedia): LineMedia | undefined;
  /** A final refusal, 300 to 699; `q850` goes into a Reason header (RFC 3326). */
  reject(
    status: number,
    details?: { readonly reason?: string; readonly q850?: number; readonly retryAfterS?: number },
  ): void;
  /** BYE, or 480 while unanswered. */
  hangUp(): void;
  /** Set it inside `onInvite`; exactly one `cancelled` or `ended` comes, last. */
  onEvent: (event: IncomingCallEvent) => void;
}
