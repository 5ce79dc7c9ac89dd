import { read32, rtpPayloadOffset, write32 } from "./rtp.ts";
import { createGuard, longestGuardedPacket, type GuardedSpan, type PacketGuard } from "./srtp-guard.ts";
import { deriveSessionKeys, type SrtpCrypto, type SrtpKey } from "./srtp-suite.ts";
import { estimateIndex, ReplayWindow } from "./srtp-window.ts";

const rtcpHeaderBytes = 8;
const indexBytes = 4;
const encryptedFlag = 0x8000_0000;
/** A peer has one source, or a few one after the other; only authenticated packets make one known. */
const mostSources = 64;

/** Protects one outgoing stream: RTP in place, RTCP in a copy (RFC 3711, RFC 7714). */
export class SrtpSender {
  readonly #rtp: PacketGuard;
  readonly #rtcp: PacketGuard;
  readonly #span: GuardedSpan = { from: 0, to: 0, ssrc: 0, index: 0 };
  readonly #trailer = new Uint8Array(indexBytes);
  #highest = -1;
  #rtcpIndex = 0;

  /** Throws a plain Error for key material of the wrong length. */
  constructor(key: SrtpKey, crypto: SrtpCrypto) {
    this.#rtp = guardOf(key, "rtp", crypto);
    this.#rtcp = guardOf(key, "rtcp", crypto);
  }

  /**
   * Encrypts the RTP packet in the first `length` octets and appends the tag, for which there must be 16 octets of room;
   * answers the new length. Sequence numbers must rise from packet to packet, by less than half of their range: an index
   * used twice would give the keystream away, so that is a plain Error.
   */
  protect(packet: Uint8Array, length: number): number {
    const from = rtpPayloadOffset(packet, length);
    if (from < 0) throw new Error("not an RTP packet");
    const index = estimateIndex(sequenceOf(packet), this.#highest);
    if (index <= this.#highest) throw new Error("an RTP sequence number was used twice");
    this.#highest = index;
    const span = place(this.#span, from, length, index);
    span.ssrc = read32(packet, 8);
    write32(this.#trailer, 0, Math.floor(index / 65_536));
    this.#rtp.seal(packet, span, this.#trailer, length);
    return length + this.#rtp.tagBytes;
  }

  /** The compound RTCP packet, protected, in an array of its own. */
  protectRtcp(packet: Uint8Array): Uint8Array {
    const to = packet.length;
    const { tagBytes } = this.#rtcp;
    this.#rtcpIndex = (this.#rtcpIndex + 1) % encryptedFlag;
    const index = this.#rtcpIndex;
    const whole = new Uint8Array(to + indexBytes + tagBytes);
    whole.set(packet);
    write32(this.#trailer, 0, encryptedFlag + index);
    const span = place(this.#span, rtcpHeaderBytes, to, index);
    span.ssrc = read32(packet, 4);
    const { tagAt, indexAt } = rtcpLayout(this.#rtcp, to);
    this.#rtcp.seal(whole, span, this.#trailer, tagAt);
    whole.set(this.#trailer, indexAt);
    return whole;
  }
}

interface Source {
  readonly rtp: ReplayWindow;
  readonly rtcp: ReplayWindow;
}

/**
 * Opens what comes from one peer. A packet changes nothing before its tag was found right: neither the roll-over counter
 * nor the list of what was seen (RFC 3711 3.3).
 */
export class SrtpReceiver {
  readonly #rtp: PacketGuard;
  readonly #rtcp: PacketGuard;
  readonly #sources = new Map<number, Source>();
  readonly #span: GuardedSpan = { from: 0, to: 0, ssrc: 0, index: 0 };
  readonly #trailer = new Uint8Array(indexBytes);
  readonly #packet = new Uint8Array(longestGuardedPacket);
  #newcomer = createSource();

  /** Throws a plain Error for key material of the wrong length. */
  constructor(key: SrtpKey, crypto: SrtpCrypto) {
    this.#rtp = guardOf(key, "rtp", crypto);
    this.#rtcp = guardOf(key, "rtcp", crypto);
  }

  /** The RTP packet inside, in a buffer that the next call reuses; undefined when it is forged, a repetition, too old or no such packet. */
  unprotect(sealed: Uint8Array): Uint8Array | undefined {
    const to = sealed.length - this.#rtp.tagBytes;
    const from = rtpPayloadOffset(sealed, to);
    if (from < 0 || sealed.length > longestGuardedPacket) return undefined;
    const ssrc = read32(sealed, 8);
    const source = this.#sourceOf(ssrc);
    const index = estimateIndex(sequenceOf(sealed), source.rtp.highest);
    if (index < 0 || !source.rtp.isFresh(index)) return undefined;
    this.#packet.set(sealed);
    write32(this.#trailer, 0, Math.floor(index / 65_536));
    const span = place(this.#span, from, to, index);
    span.ssrc = ssrc;
    if (!this.#rtp.open(this.#packet, span, this.#trailer, to) || !this.#know(ssrc, source)) return undefined;
    source.rtp.note(index);
    return this.#packet.subarray(0, to);
  }

  /** The compound RTCP packet inside, as with `unprotect`; one that is not encrypted is refused even if its tag is right. */
  unprotectRtcp(sealed: Uint8Array): Uint8Array | undefined {
    const to = sealed.length - this.#rtcp.tagBytes - indexBytes;
    if (to < rtcpHeaderBytes || sealed.length > longestGuardedPacket) return undefined;
    const { tagAt, indexAt } = rtcpLayout(this.#rtcp, to);
    const word = read32(sealed, indexAt);
    const index = word % encryptedFlag;
    const ssrc = read32(sealed, 4);
    const source = this.#sourceOf(ssrc);
    if (word < encryptedFlag || !source.rtcp.isFresh(index)) return undefined;
    this.#packet.set(sealed);
    write32(this.#trailer, 0, word);
    const span = place(this.#span, rtcpHeaderBytes, to, index);
    span.ssrc = ssrc;
    if (!this.#rtcp.open(this.#packet, span, this.#trailer, tagAt) || !this.#know(ssrc, source))
      return undefined;
    source.rtcp.note(index);
    return this.#packet.subarray(0, to);
  }

  #sourceOf(ssrc: number): Source {
    return this.#sources.get(ssrc) ?? this.#newcomer;
  }

  /** False for yet another source after too many: to forget one would allow its packets to be repeated. */
  #know(ssrc: number, source: Source): boolean {
    if (source !== this.#newcomer) return true;
    if (this.#sources.size >= mostSources) return false;
    this.#sources.set(ssrc, source);
    this.#newcomer = createSource();
    return true;
  }
}

function guardOf(key: SrtpKey, stream: "rtp" | "rtcp", crypto: SrtpCrypto): PacketGuard {
  return createGuard(key.suite, stream, deriveSessionKeys(key, stream, crypto), crypto);
}

function createSource(): Source {
  return { rtp: new ReplayWindow(), rtcp: new ReplayWindow() };
}

function place(span: GuardedSpan, from: number, to: number, index: number): GuardedSpan {
  span.from = from;
  span.to = to;
  span.index = index;
  return span;
}

function sequenceOf(packet: Uint8Array): number {
  return ((packet[2] ?? 0) << 8) | (packet[3] ?? 0);
}

/** HMAC covers the index word and so comes after it (RFC 3711 3.4); the tag of GCM ends the encrypted text (RFC 7714 9.2). */
function rtcpLayout(guard: PacketGuard, to: number): { readonly tagAt: number; readonly indexAt: number } {
  return guard.tagBytes === 16
    ? { tagAt: to, indexAt: to + guard.tagBytes }
    : { tagAt: to + indexBytes, indexAt: to };
}
