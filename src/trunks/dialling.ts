import type {
  CallIdentity,
  LegControls,
  LegEvent,
  LocalMedia,
  SavedDialog,
  SipAddress,
  SipTransport,
} from "#sip";

/** Where calls go, and the credentials to give when it asks. */
export interface SipTarget {
  /** A host name or an address. */
  readonly host: string;
  /** Absent or 0: host, port and transport are found by DNS (RFC 3263). */
  readonly port?: number;
  /** Absent: udp, or what DNS says when there is no port. */
  readonly transport?: SipTransport;
  /** Host of From, To and Request-URI, and the name a TLS certificate must bear; absent: `host`. */
  readonly domain?: string;
  /** The server that requests go to first: `host`, `host:port` or a sip URI. */
  readonly outboundProxy?: string;
  /** User part of From in place of the caller id. */
  readonly fromUser?: string;
  readonly username?: string;
  readonly password?: string;
}

export interface DialOrder {
  readonly target: SipTarget;
  /** E.164 with `+`. */
  readonly number: string;
  /** Empty: the call goes out anonymously. */
  readonly callerId: string;
  /** Who calls, beyond the caller id; `privacy: true` is RFC 3323's `id`. */
  readonly identity?: Omit<CallIdentity, "privacy"> & {
    readonly privacy?: boolean | NonNullable<CallIdentity["privacy"]>;
  };
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

export interface Leg extends LegControls {
  /** CANCEL or BYE, whichever fits; the end comes as `leg-ended`. */
  hangUp(): void;
}

/** What an OPTIONS brought: any status is a sign of life (RFC 3261 11). */
export type ProbeResult =
  | {
      readonly status: number;
      readonly ms: number;
      /** Which server answered. */
      readonly server: SipAddress;
      /** Where it saw us, when it says. */
      readonly received?: SipAddress;
    }
  | {
      readonly failure: "timeout" | "transport";
      /** What is wrong, in one sentence, where that is known. */
      readonly problem?: string;
    };
