/*
 * What the application needs of SIP. The adapter (trunks) fits structurally. All times are epoch milliseconds
 * unless a name says otherwise.
 */

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
  readonly destination: SipPlace;
}

/** Our side of an SDP offer or answer. */
export interface LocalMedia {
  readonly address: string;
  readonly audioPort: number;
  /** Present: offer or accept real-time text (RFC 4103). */
  readonly textPort?: number;
  readonly codecs: readonly ("PCMU" | "PCMA" | "G722")[];
  /** RFC 8866 6.12 `a=lang`. */
  readonly language?: string;
  /** Present: the audio must be encrypted (SRTP with SDES), with one of these keys, dearest first. Only for a signalling path that is itself encrypted. */
  readonly srtp?: readonly SdesKey[];
}

/** A suite of RFC 4568 and RFC 7714 with a key for what we send; a secret of one call, never stored or logged. */
export interface SdesKey {
  readonly suite: SrtpSuite;
  /** Base64 of master key and master salt. */
  readonly key: string;
}

type SrtpSuite = "AES_CM_128_HMAC_SHA1_80" | "AES_CM_128_HMAC_SHA1_32" | "AEAD_AES_128_GCM";

/** What both sides agreed on. */
export interface LineMedia {
  readonly audio: {
    readonly remote: { readonly address: string; readonly port: number; readonly rtcpPort: number };
    readonly codec: "PCMU" | "PCMA" | "G722";
    readonly payloadType: number;
    /** telephone-event (RFC 4733), when agreed. */
    readonly dtmfPayloadType?: number;
    readonly direction: "sendrecv" | "sendonly" | "recvonly" | "inactive";
    /** Present: the audio is encrypted with these keys (base64 of master key and salt); never to be stored or logged. */
    readonly srtp?: { readonly suite: SrtpSuite; readonly localKey: string; readonly remoteKey: string };
  };
  readonly text?: {
    readonly remote: { readonly address: string; readonly port: number };
    readonly payloadType: number;
    /** RFC 2198 redundancy, when agreed. */
    readonly redPayloadType?: number;
  };
}

export interface SipTarget {
  readonly host: string;
  /** 0: by DNS (RFC 3263). */
  readonly port: number;
  readonly username?: string;
  readonly password?: string;
  /** Absent: udp. */
  readonly transport?: "udp" | "tcp" | "tls";
  /** Name in SIP URIs and in the TLS certificate; absent: the host. */
  readonly domain?: string;
  readonly outboundProxy?: string;
  /** User of From; absent: the caller id. */
  readonly fromUser?: string;
}

/** Who an INVITE says is calling, beyond From's number. */
export interface CallIdentity {
  readonly displayName?: string;
  readonly fromUser?: string;
  readonly fromHost?: string;
  /** RFC 3325. */
  readonly assertedIdentity?: string;
  readonly preferredIdentity?: string;
  readonly remotePartyId?: string;
  /** RFC 3323: told to the provider, not to the called person. */
  readonly privacy?: boolean;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface DialOrder {
  readonly target: SipTarget;
  /** As the provider wants it dialled: digits, with or without `+`. */
  readonly number: string;
  readonly identity?: CallIdentity;
  readonly callerId: string;
  /** Chosen by the caller and stored before; the INVITE's Call-ID. */
  readonly sipCallId: string;
  readonly media: LocalMedia;
  readonly ringTimeoutMs: number;
  readonly onEvent: (event: LegEvent) => void;
}

export type LegEvent =
  /** Challenged (401/407): the INVITE went again with credentials, same Call-ID, next CSeq. */
  | { readonly type: "leg-invited-again"; readonly dialog: SavedDialog }
  | { readonly type: "leg-ringing"; readonly status: number }
  | { readonly type: "leg-early-media"; readonly media: LineMedia }
  | { readonly type: "leg-answered"; readonly media: LineMedia; readonly dialog: SavedDialog }
  | { readonly type: "leg-media-changed"; readonly media: LineMedia }
  /** The answered call is now found elsewhere, or its CSeq grew: what a BYE of another process needs. */
  | { readonly type: "leg-dialog-changed"; readonly dialog: SavedDialog }
  /** What we offered in a call is in force, or was refused and all is as it was. */
  | { readonly type: "leg-offer-settled"; readonly agreed: boolean; readonly status?: number }
  /** How a transfer that we asked for stands. */
  | {
      readonly type: "leg-transfer";
      readonly status: number;
      readonly accepted: boolean;
      readonly done: boolean;
    }
  | { readonly type: "leg-dtmf-refused"; readonly digit: string; readonly status?: number }
  | { readonly type: "leg-dtmf"; readonly digit: string } // INFO (application/dtmf-relay)
  /** Exactly once, last. */
  | { readonly type: "leg-ended"; readonly end: LegEnd };

export interface LegEnd {
  /** `us`: hangUp() or the ring timeout; `them`: BYE or a final failure; `nobody`: timeout, transport or protocol failure. */
  readonly by: "us" | "them" | "nobody";
  readonly answered: boolean;
  readonly ringing: boolean;
  /** Why we ended it, when we did. */
  readonly ourAct?: "hang-up" | "ring-timeout" | "cancel";
  readonly status?: number;
  readonly reason?: string;
  readonly q850?: number;
  readonly q850Text?: string;
  /** Seconds, of a 503. */
  readonly retryAfterS?: number;
  readonly failure?: "timeout" | "transport" | "auth" | "media";
  /** What was wrong with the way to the server, in one sentence, where that is known. */
  readonly problem?: string;
}

interface PreparedLeg {
  readonly dialog: SavedDialog;
  /** Sends the INVITE; once. */
  send(): Leg;
}

interface Leg {
  /** CANCEL or BYE, whichever fits; the end comes as `leg-ended`. */
  hangUp(): void;
}

/** How a registration stands. */
export type RegistrationState =
  | { readonly type: "registering" }
  /** Known to the registrar until then, unless renewed before. */
  | { readonly type: "registered"; readonly expiresAt: number }
  /** Not tried again: a person has to change something. */
  | { readonly type: "refused"; readonly status: number; readonly reason: string; readonly advice: string }
  /** Tried again at `until`; `reason` is a sentence. */
  | { readonly type: "waiting"; readonly until: number; readonly reason: string };

export interface Registration {
  readonly state: RegistrationState;
  /** Takes it back at the registrar; resolves when that is done, or no more can be. */
  close(): Promise<void>;
}

interface SipPlace {
  readonly address: string;
  readonly port: number;
  /** Absent: udp. */
  readonly transport?: "udp" | "tcp" | "tls";
  readonly domain?: string;
}

/** What an OPTIONS brought: any status is a sign of life. */
export type ProbeResult =
  | {
      readonly status: number;
      readonly ms: number;
      /** Which server answered. */
      readonly server: SipPlace;
      /** Where it saw us, when it says. */
      readonly received?: SipPlace;
    }
  | { readonly failure: "timeout" | "transport"; readonly problem?: string };

export interface Telephony {
  /** Builds the INVITE without sending it, so that its identity can be stored first. */
  prepare(order: DialOrder): PreparedLeg;
  /** Registers at once, and for as long as it is not closed; `onChange` never comes from inside. Throws when the names cannot stand in a SIP URI. */
  register(order: {
    readonly target: SipTarget;
    readonly expiresS: number;
    readonly onChange: (state: RegistrationState) => void;
  }): Registration;
  /** One OPTIONS; never rejects. */
  probe(target: SipTarget): Promise<ProbeResult>;
  /** BYE (answered) or CANCEL (ringing) for a dialog of a process that died. */
  hangUpOrphan(dialog: SavedDialog, target: SipTarget, answered: boolean): void;
  close(): Promise<void>;
}
