/** The crypto suites spoken here, by their SDES names (RFC 4568 6.2, RFC 7714 14.1). */
export type SrtpSuite = "AES_CM_128_HMAC_SHA1_80" | "AES_CM_128_HMAC_SHA1_32" | "AEAD_AES_128_GCM";

/** Key material of one direction: 16 octets of master key, then the salt (14 octets, with GCM 12). */
export interface SrtpKey {
  readonly suite: SrtpSuite;
  readonly key: Uint8Array;
}

/** The primitives SRTP is made of. What they answer may be reused by their next call. */
export interface SrtpCrypto {
  /** AES-128 of whole 16-octet blocks, each for itself. */
  blockCipher(key: Uint8Array): (blocks: Uint8Array) => Uint8Array;
  /** The 20 octets of HMAC-SHA1. */
  hmacSha1(key: Uint8Array): (message: Uint8Array) => Uint8Array;
  /** AES-128-GCM with a tag of 16 octets. */
  gcm(key: Uint8Array): SrtpAead;
}

/** Authenticated encryption; `into` must not overlap the input. */
export interface SrtpAead {
  /** Writes the encrypted `text` and its tag to the start of `into`. */
  seal(nonce: Uint8Array, aad: Uint8Array, text: Uint8Array, into: Uint8Array): void;
  /** Writes the decrypted text to the start of `into`; false, with `into` undefined, when the tag is wrong. */
  open(nonce: Uint8Array, aad: Uint8Array, sealed: Uint8Array, into: Uint8Array): boolean;
}

/** Octets of a tag of AES-GCM, and the most that SRTP adds to an RTP packet. */
export const srtpTagBytes = 16;
const masterKeyBytes = 16;
const gcmSaltBytes = 12;
const cmSaltBytes = 14;

/** The keys that are used on packets (RFC 3711 4.3); the salt as long as the master's. */
export interface SessionKeys {
  readonly cipher: Uint8Array;
  /** For HMAC-SHA1; of no use to GCM. */
  readonly auth: Uint8Array;
  readonly salt: Uint8Array;
}

/** Octets of key and salt together that the suite wants. */
export function srtpKeyBytes(suite: SrtpSuite): number {
  return masterKeyBytes + (suite === "AEAD_AES_128_GCM" ? gcmSaltBytes : cmSaltBytes);
}

/**
 * Derives the session keys for RTP or RTCP with a key derivation rate of zero (RFC 3711 4.3.1, RFC 7714 11).
 * Throws a plain Error for key material of the wrong length.
 */
export function deriveSessionKeys(
  { suite, key }: SrtpKey,
  stream: "rtp" | "rtcp",
  crypto: SrtpCrypto,
): SessionKeys {
  if (key.length !== srtpKeyBytes(suite)) throw new Error("SRTP key material of the wrong length");
  const encrypt = crypto.blockCipher(key.subarray(0, masterKeyBytes));
  const salt = key.subarray(masterKeyBytes);
  const firstLabel = stream === "rtp" ? 0 : 3;
  const derive = (label: number, length: number): Uint8Array => {
    const blocks = new Uint8Array(16 * Math.ceil(length / 16));
    for (let at = 0; at < blocks.length; at += 16) {
      blocks.set(salt, at);
      blocks[at + 7] = (blocks[at + 7] ?? 0) ^ label;
      blocks[at + 15] = at / 16;
    }
    return encrypt(blocks).slice(0, length);
  };
  return {
    cipher: derive(firstLabel, masterKeyBytes),
    auth: derive(firstLabel + 1, 20),
    salt: derive(firstLabel + 2, salt.length),
  };
}
