import type { Codec, SrtpSuite } from "#media";

/** What both sides agreed on for the media of one call; addresses are the peer's, directions ours. */
export interface LineMedia {
  readonly audio: {
    readonly remote: { readonly address: string; readonly port: number; readonly rtcpPort: number };
    readonly codec: Codec;
    readonly payloadType: number;
    /** telephone-event (RFC 4733), when agreed. */
    readonly dtmfPayloadType?: number;
    readonly direction: "sendrecv" | "sendonly" | "recvonly" | "inactive";
    /** Present: the audio is encrypted with these keys (base64 of master key and salt). */
    readonly srtp?: { readonly suite: SrtpSuite; readonly localKey: string; readonly remoteKey: string };
  };
  readonly text?: {
    readonly remote: { readonly address: string; readonly port: number };
    readonly payloadType: number;
    /** RFC 2198 redundancy, when agreed. */
    readonly redPayloadType?: number;
  };
}

/** Where a line listens; ready to be put into SDP. */
export interface LineAddress {
  readonly address: string;
  readonly audioPort: number;
  readonly textPort?: number;
}
