import type { LegEvent, LocalMedia, SavedDialog } from "#sip";

/** Where calls go: a host name or an address, and the credentials to give when it asks. */
export interface SipTarget {
  readonly host: string;
  readonly port: number;
  readonly username?: string;
  readonly password?: string;
}

export interface DialOrder {
  readonly target: SipTarget;
  /** E.164 with `+`. */
  readonly number: string;
  /** Empty: the call goes out anonymously. */
  readonly callerId: string;
  /** Chosen by the caller and stored before; the INVITE's Call-ID. */
  readonly sipCallId: string;
  readonly media: LocalMedia;
  /** From the sending of the INVITE to our CANCEL, in ms. */
  readonly ringTimeoutMs: number;
  /** Called in order, never from inside `prepare`, `send` or `hangUp`; `leg-ended` comes exactly once, last. */
  readonly onEvent: (event: LegEvent) => void;
}

export interface PreparedLeg {
  readonly dialog: SavedDialog;
  /** Sends the INVITE; once. */
  send(): Leg;
}

export interface Leg {
  /** CANCEL or BYE, whichever fits; the end comes as `leg-ended`. */
  hangUp(): void;
}

/** What an OPTIONS brought: any status is a sign of life (RFC 3261 11). */
export type ProbeResult =
  | { readonly status: number; readonly ms: number }
  | { readonly failure: "timeout" | "transport" };
