export type Codec = "PCMU" | "PCMA" | "G722";

/** Crypto suites of RFC 4568 6.2 and RFC 7714 14.1. */
export type SrtpSuite = "AES_CM_128_HMAC_SHA1_80" | "AES_CM_128_HMAC_SHA1_32" | "AEAD_AES_128_GCM";

/** A suite with a key for what its owner sends. */
export interface SdesKey {
  readonly suite: SrtpSuite;
  /** Base64, padded, of master key and master salt. */
  readonly key: string;
}

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
  /** What we are willing to do with the audio; absent: `sendrecv`. Narrower: we hold the call. */
  readonly direction?: Direction;
  /**
   * Present: the audio must be encrypted (SRTP, RFC 3711, with keys in the description, RFC 4568) with one of these,
   * dearest first; a peer that will not is refused. One set a call. Only for a signalling path that is itself encrypted.
   */
  readonly srtp?: readonly SdesKey[];
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
    /** Present exactly when our side asked for it: the keys of what we send and of what the peer sends. */
    readonly srtp?: { readonly suite: SrtpSuite; readonly localKey: string; readonly remoteKey: string };
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

/** What both allow: the meeting of two directions, each as seen from us. */
export function narrower(a: Direction, b: Direction = "sendrecv"): Direction {
  const sends = (one: Direction): boolean => one === "sendrecv" || one === "sendonly";
  const receives = (one: Direction): boolean => one === "sendrecv" || one === "recvonly";
  if (sends(a) && sends(b)) return receives(a) && receives(b) ? "sendrecv" : "sendonly";
  return receives(a) && receives(b) ? "recvonly" : "inactive";
}
