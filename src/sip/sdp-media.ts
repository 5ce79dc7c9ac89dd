export type Codec = "PCMU" | "PCMA";

export type Direction = "sendrecv" | "sendonly" | "recvonly" | "inactive";

/** Our side of an offer or answer. */
export interface LocalMedia {
  /** IPv4 or IPv6, without brackets. */
  readonly address: string;
  readonly audioPort: number;
  /** Present: offer or accept real-time text (RFC 4103). */
  readonly textPort?: number;
  readonly codecs: readonly Codec[];
  /** RFC 8866 6.12 `a=lang`. */
  readonly language?: string;
}

/** What both sides agreed on. */
export interface LineMedia {
  readonly audio: {
    readonly remote: { readonly address: string; readonly port: number; readonly rtcpPort: number };
    readonly codec: Codec;
    readonly payloadType: number;
    /** telephone-event (RFC 4733), when agreed. */
    readonly dtmfPayloadType?: number;
    /** As seen from us: `recvonly` when the peer holds the call. */
    readonly direction: Direction;
  };
  readonly text?: {
    readonly remote: { readonly address: string; readonly port: number };
    readonly payloadType: number;
    /** RFC 2198 redundancy, when agreed. */
    readonly redPayloadType?: number;
  };
}

/** Identity of our description in its `o=` line; the version grows with every changed one (RFC 3264 8). */
export interface SdpSession {
  readonly id: number;
  readonly version: number;
  readonly username?: string;
}
