import { isIPv4, isIPv6 } from "node:net";

/** A datagram to be written; `address:port` and `[v6]:port`. */
export interface Datagram {
  readonly atMs: number;
  readonly from: string;
  readonly to: string;
  readonly payload: Uint8Array;
}

const ethernet = 1;
const snapLength = 262_144;
const etherTypes = { 4: 0x0800, 6: 0x86dd } as const;
const udp = 17;
const longestPayload = 65_507;

/** The head of a capture file (libpcap 2.4, little endian, microseconds, Ethernet). */
export function pcapHeader(): Uint8Array {
  const view = new DataView(new ArrayBuffer(24));
  view.setUint32(0, 0xa1b2c3d4, true);
  view.setUint16(4, 2, true);
  view.setUint16(6, 4, true);
  view.setUint32(16, snapLength, true);
  view.setUint32(20, ethernet, true);
  return new Uint8Array(view.buffer);
}

/** One datagram as a captured frame: the heads of Ethernet, IP and UDP are made up, their checksums are right. */
export function pcapPacket({ atMs, from, to, payload }: Datagram): Uint8Array {
  const source = placeOf(from);
  const target = placeOf(to);
  const version = source.octets.length === 4 && target.octets.length === 4 ? 4 : 6;
  const data = payload.subarray(0, longestPayload);
  const segment = udpSegment(source, target, data, version);
  const head = version === 4 ? ipv4Head(source, target, segment) : ipv6Head(source, target, segment);
  const frame = joined([
    // Locally administered addresses: nobody has them.
    Uint8Array.of(2, 0, 0, 0, 0, lastOf(target), 2, 0, 0, 0, 0, lastOf(source)),
    Uint8Array.of(etherTypes[version] >> 8, etherTypes[version] & 255),
    head,
    segment,
  ]);
  const record = new DataView(new ArrayBuffer(16));
  record.setUint32(0, Math.floor(atMs / 1000), true);
  record.setUint32(4, Math.floor((atMs % 1000) * 1000), true);
  record.setUint32(8, frame.length, true);
  record.setUint32(12, frame.length, true);
  return joined([new Uint8Array(record.buffer), frame]);
}

interface Place {
  /** 4 or 16 of them. */
  readonly octets: Uint8Array;
  readonly port: number;
}

function placeOf(text: string): Place {
  const colon = text.lastIndexOf(":");
  const host = text.slice(0, colon).replace(/^\[|\]$/g, "");
  const port = Number(text.slice(colon + 1));
  return { octets: addressOf(host), port: port >= 0 && port <= 65_535 ? port : 0 };
}

function addressOf(host: string): Uint8Array {
  if (isIPv4(host)) return Uint8Array.from(host.split("."), Number);
  if (!isIPv6(host)) return new Uint8Array(4);
  const [left = "", right] = host.split("%", 1)[0]?.split("::") ?? [];
  const before = groups(left);
  const after = groups(right ?? "");
  const gap = Array.from({ length: Math.max(0, 8 - before.length - after.length) }, () => 0);
  return Uint8Array.from([...before, ...gap, ...after].flatMap((group) => [group >> 8, group & 255]));
}

function groups(text: string): readonly number[] {
  if (text === "") return [];
  return text.split(":").flatMap((part) => {
    if (!part.includes(".")) return [Number.parseInt(part, 16)];
    const [a = 0, b = 0, c = 0, d = 0] = part.split(".").map(Number);
    return [a * 256 + b, c * 256 + d];
  });
}

/** As an IPv6 address when it is not one already (RFC 4291 2.5.5.2). */
function wide(octets: Uint8Array): Uint8Array {
  if (octets.length === 16) return octets;
  return joined([Uint8Array.of(0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 255, 255), octets]);
}

/** RFC 768, with the checksum over the pseudo header of the IP version. */
function udpSegment(source: Place, target: Place, payload: Uint8Array, version: 4 | 6): Uint8Array {
  const length = 8 + payload.length;
  const head = new DataView(new ArrayBuffer(8));
  head.setUint16(0, source.port);
  head.setUint16(2, target.port);
  head.setUint16(4, length);
  const fit = version === 4 ? (octets: Uint8Array) => octets : wide;
  const pseudo = joined([
    fit(source.octets),
    fit(target.octets),
    Uint8Array.of(0, udp, length >> 8, length & 255),
  ]);
  const segment = joined([new Uint8Array(head.buffer), payload]);
  const sum = checksum(joined([pseudo, segment]));
  new DataView(segment.buffer).setUint16(6, sum === 0 ? 0xffff : sum);
  return segment;
}

/** RFC 791. */
function ipv4Head(source: Place, target: Place, segment: Uint8Array): Uint8Array {
  const head = new DataView(new ArrayBuffer(20));
  head.setUint8(0, 0x45);
  head.setUint16(2, 20 + segment.length);
  head.setUint16(6, 0x4000); // Do not fragment.
  head.setUint8(8, 64);
  head.setUint8(9, udp);
  const octets = new Uint8Array(head.buffer);
  octets.set(source.octets, 12);
  octets.set(target.octets, 16);
  head.setUint16(10, checksum(octets));
  return octets;
}

/** RFC 8200. */
function ipv6Head(source: Place, target: Place, segment: Uint8Array): Uint8Array {
  const head = new DataView(new ArrayBuffer(40));
  head.setUint8(0, 0x60);
  head.setUint16(4, segment.length);
  head.setUint8(6, udp);
  head.setUint8(7, 64);
  const octets = new Uint8Array(head.buffer);
  octets.set(wide(source.octets), 8);
  octets.set(wide(target.octets), 24);
  return octets;
}

/** RFC 1071. */
function checksum(octets: Uint8Array): number {
  let sum = 0;
  for (let at = 0; at < octets.length; at += 2) sum += ((octets[at] ?? 0) << 8) + (octets[at + 1] ?? 0);
  while (sum > 0xffff) sum = (sum & 0xffff) + Math.floor(sum / 0x10000);
  return ~sum & 0xffff;
}

function joined(parts: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  const whole = new Uint8Array(parts.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}

function lastOf({ octets }: Place): number {
  return octets.at(-1) ?? 0;
}
