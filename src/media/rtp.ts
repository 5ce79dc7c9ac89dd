/** Octets of an RTP header without contributing sources or extension. */
export const rtpHeaderBytes = 12;

/** The fields of RFC 3550 5.1, with the place of the payload; one object is reused for all packets. */
export interface RtpHeader {
  payloadType: number;
  marker: boolean;
  sequence: number;
  timestamp: number;
  ssrc: number;
  /** Where the payload starts in the packet. */
  offset: number;
  /** Octets of payload, padding taken off. */
  length: number;
}

export function createRtpHeader(): RtpHeader {
  return { payloadType: 0, marker: false, sequence: 0, timestamp: 0, ssrc: 0, offset: 0, length: 0 };
}

/**
 * Reads the header of `packet` into `header` (RFC 3550 5.1, A.1). False, with `header` untouched, for anything
 * that is not a whole RTP version 2 packet or that is RTCP by its type (RFC 5761 4).
 */
export function readRtp(packet: Uint8Array, header: RtpHeader): boolean {
  const size = packet.length;
  const offset = rtpPayloadOffset(packet, size);
  if (offset < 0) return false;
  const second = packet[1] ?? 0;
  let length = size - offset;
  if (((packet[0] ?? 0) & 0x20) !== 0) {
    const padding = packet[size - 1] ?? 0;
    if (padding === 0 || padding > length) return false;
    length -= padding;
  }
  header.marker = (second & 0x80) !== 0;
  header.payloadType = second & 0x7f;
  header.sequence = ((packet[2] ?? 0) << 8) | (packet[3] ?? 0);
  header.timestamp = read32(packet, 4);
  header.ssrc = read32(packet, 8);
  header.offset = offset;
  header.length = length;
  return true;
}

/** Where the payload starts in a packet of `size` octets; −1 for anything that is no RTP version 2 or whose header is cut short. */
export function rtpPayloadOffset(packet: Uint8Array, size: number): number {
  if (size < rtpHeaderBytes) return -1;
  const first = packet[0] ?? 0;
  const second = packet[1] ?? 0;
  if (first >> 6 !== 2 || (second >= 192 && second <= 223)) return -1;
  let offset = rtpHeaderBytes + 4 * (first & 0x0f);
  if ((first & 0x10) !== 0) {
    if (offset + 4 > size) return -1;
    offset += 4 + 4 * (((packet[offset + 2] ?? 0) << 8) | (packet[offset + 3] ?? 0));
  }
  return offset > size ? -1 : offset;
}

/** Writes the 12 octets of a plain header at the start of `packet`; `offset` and `length` are not looked at. */
export function writeRtpHeader(packet: Uint8Array, header: RtpHeader): void {
  packet[0] = 0x80;
  packet[1] = (header.marker ? 0x80 : 0) | (header.payloadType & 0x7f);
  packet[2] = header.sequence >>> 8;
  packet[3] = header.sequence;
  write32(packet, 4, header.timestamp);
  write32(packet, 8, header.ssrc);
}

/** The 32-bit number at `at`, big-endian, unsigned. */
export function read32(octets: Uint8Array, at: number): number {
  return (
    (((octets[at] ?? 0) << 24) |
      ((octets[at + 1] ?? 0) << 16) |
      ((octets[at + 2] ?? 0) << 8) |
      (octets[at + 3] ?? 0)) >>>
    0
  );
}

/** Puts the low 32 bits of `value` at `at`, big-endian. */
export function write32(octets: Uint8Array, at: number, value: number): void {
  octets[at] = value >>> 24;
  octets[at + 1] = value >>> 16;
  octets[at + 2] = value >>> 8;
  octets[at + 3] = value;
}
