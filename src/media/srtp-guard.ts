import { srtpTagBytes, type SessionKeys, type SrtpCrypto, type SrtpSuite } from "./srtp-suite.ts";

const longestPacket = 4096;

/** A packet in a buffer: `from` to `to` is what is encrypted, everything up to `to` is authenticated. */
export interface GuardedSpan {
  from: number;
  to: number;
  ssrc: number;
  /** The 48-bit packet index of RTP, or the 31-bit one of RTCP. */
  index: number;
}

/**
 * Encrypts and authenticates spans of packets with one set of session keys. `trailer` is four octets that are
 * authenticated besides the packet: the roll-over counter, or SRTCP's index word.
 */
export interface PacketGuard {
  readonly tagBytes: number;
  /** Encrypts the span in place and writes the tag to `tagAt`; returns nothing to be kept. */
  seal(packet: Uint8Array, span: GuardedSpan, trailer: Uint8Array, tagAt: number): void;
  /** Checks the tag at `tagAt`, then decrypts in place; false, with the packet as it was, when it is forged. */
  open(packet: Uint8Array, span: GuardedSpan, trailer: Uint8Array, tagAt: number): boolean;
}

/** The guard of a suite; RTCP always has the long tag (RFC 4568 6.2.2). */
export function createGuard(
  suite: SrtpSuite,
  stream: "rtp" | "rtcp",
  keys: SessionKeys,
  crypto: SrtpCrypto,
): PacketGuard {
  if (suite === "AEAD_AES_128_GCM") return new GcmGuard(keys, stream, crypto);
  return new CounterGuard(keys, suite.endsWith("_32") && stream === "rtp" ? 4 : 10, crypto);
}

/** AES in counter mode with HMAC-SHA1 (RFC 3711 4.1.1, 4.2.1). */
class CounterGuard implements PacketGuard {
  readonly tagBytes: number;
  readonly #salt: Uint8Array;
  readonly #encrypt: (blocks: Uint8Array) => Uint8Array;
  readonly #authenticate: (message: Uint8Array) => Uint8Array;
  readonly #iv = new Uint8Array(16);
  readonly #counters = new Uint8Array(longestPacket);
  readonly #message = new Uint8Array(longestPacket + 4);

  constructor(keys: SessionKeys, tagBytes: number, crypto: SrtpCrypto) {
    this.tagBytes = tagBytes;
    this.#salt = keys.salt;
    this.#encrypt = crypto.blockCipher(keys.cipher);
    this.#authenticate = crypto.hmacSha1(keys.auth);
  }

  seal(packet: Uint8Array, span: GuardedSpan, trailer: Uint8Array, tagAt: number): void {
    this.#crypt(packet, span);
    const tag = this.#tagOf(packet, span.to, trailer);
    for (let i = 0; i < this.tagBytes; i++) packet[tagAt + i] = tag[i] ?? 0;
  }

  open(packet: Uint8Array, span: GuardedSpan, trailer: Uint8Array, tagAt: number): boolean {
    const tag = this.#tagOf(packet, span.to, trailer);
    let difference = 0; // all octets are looked at: how long it takes says nothing of where they differ
    for (let i = 0; i < this.tagBytes; i++) difference |= (tag[i] ?? 0) ^ (packet[tagAt + i] ?? 0);
    if (difference !== 0) return false;
    this.#crypt(packet, span);
    return true;
  }

  #tagOf(packet: Uint8Array, length: number, trailer: Uint8Array): Uint8Array {
    const message = this.#message;
    message.set(packet.subarray(0, length));
    message.set(trailer, length);
    return this.#authenticate(message.subarray(0, length + 4));
  }

  #crypt(packet: Uint8Array, span: GuardedSpan): void {
    const { from, to } = span;
    const iv = this.#iv;
    iv.fill(0);
    iv.set(this.#salt);
    xor32(iv, 4, span.ssrc);
    xorIndex(iv, 8, span.index);
    const size = 16 * Math.ceil((to - from) / 16);
    const counters = this.#counters;
    for (let at = 0; at < size; at += 16) {
      for (let i = 0; i < 14; i++) counters[at + i] = iv[i] ?? 0;
      counters[at + 14] = at >> 12;
      counters[at + 15] = at >> 4;
    }
    const stream = this.#encrypt(counters.subarray(0, size));
    for (let i = from; i < to; i++) packet[i] = (packet[i] ?? 0) ^ (stream[i - from] ?? 0);
  }
}

/** AES-GCM (RFC 7714 8, 9). */
class GcmGuard implements PacketGuard {
  readonly tagBytes = srtpTagBytes;
  readonly #salt: Uint8Array;
  readonly #withTrailer: boolean;
  readonly #aead: ReturnType<SrtpCrypto["gcm"]>;
  readonly #nonce = new Uint8Array(12);
  readonly #aad = new Uint8Array(longestPacket);
  readonly #sealed = new Uint8Array(longestPacket + srtpTagBytes);
  readonly #text = new Uint8Array(longestPacket + srtpTagBytes);

  constructor(keys: SessionKeys, stream: "rtp" | "rtcp", crypto: SrtpCrypto) {
    this.#salt = keys.salt;
    // the roll-over counter of RTP is in the nonce
    this.#withTrailer = stream === "rtcp";
    this.#aead = crypto.gcm(keys.cipher);
  }

  seal(packet: Uint8Array, span: GuardedSpan, trailer: Uint8Array, tagAt: number): void {
    const { from, to } = span;
    const length = to - from;
    const sealed = this.#sealed;
    this.#aead.seal(
      this.#nonceOf(span),
      this.#aadOf(packet, from, trailer),
      packet.subarray(from, to),
      sealed,
    );
    packet.set(sealed.subarray(0, length), from);
    packet.set(sealed.subarray(length, length + srtpTagBytes), tagAt);
  }

  open(packet: Uint8Array, span: GuardedSpan, trailer: Uint8Array, tagAt: number): boolean {
    const { from, to } = span;
    const length = to - from;
    const sealed = this.#sealed;
    sealed.set(packet.subarray(from, to));
    sealed.set(packet.subarray(tagAt, tagAt + srtpTagBytes), length);
    const input = sealed.subarray(0, length + srtpTagBytes);
    if (!this.#aead.open(this.#nonceOf(span), this.#aadOf(packet, from, trailer), input, this.#text))
      return false;
    packet.set(this.#text.subarray(0, length), from);
    return true;
  }

  #nonceOf(span: GuardedSpan): Uint8Array {
    const nonce = this.#nonce;
    nonce.set(this.#salt);
    xor32(nonce, 2, span.ssrc);
    xorIndex(nonce, 6, span.index);
    return nonce;
  }

  #aadOf(packet: Uint8Array, length: number, trailer: Uint8Array): Uint8Array {
    const aad = this.#aad;
    aad.set(packet.subarray(0, length));
    if (!this.#withTrailer) return aad.subarray(0, length);
    aad.set(trailer, length);
    return aad.subarray(0, length + 4);
  }
}

/** The longest packet a guard can take, tag included. */
export const longestGuardedPacket = longestPacket - srtpTagBytes - 4;

function xor32(octets: Uint8Array, at: number, value: number): void {
  octets[at] = (octets[at] ?? 0) ^ (value >>> 24);
  octets[at + 1] = (octets[at + 1] ?? 0) ^ (value >>> 16);
  octets[at + 2] = (octets[at + 2] ?? 0) ^ (value >>> 8);
  octets[at + 3] = (octets[at + 3] ?? 0) ^ value;
}

/** 48 bits. */
function xorIndex(octets: Uint8Array, at: number, index: number): void {
  const high = Math.floor(index / 2 ** 32);
  octets[at] = (octets[at] ?? 0) ^ (high >>> 8);
  octets[at + 1] = (octets[at + 1] ?? 0) ^ high;
  xor32(octets, at + 2, index);
}
