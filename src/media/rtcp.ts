import { read32, write32 } from "./rtp.ts";

const senderReport = 200;
const receiverReport = 201;
const sourceDescription = 202;
const goodbye = 203;
const blockBytes = 24;
const secondsFrom1900 = 2_208_988_800;

/** What one side says of what it receives (RFC 3550 6.4.1). */
export interface ReportBlock {
  /** The source it is about. */
  readonly ssrc: number;
  /** Since the last report, in 1/256. */
  readonly fractionLost: number;
  /** Since the beginning; signed 24 bit. */
  readonly lost: number;
  /** With cycles. */
  readonly highestSequence: number;
  /** In timestamp units. */
  readonly jitter: number;
  /** Middle 32 bits of the NTP time of the last sender report; 0: none came. */
  readonly lastReport: number;
  /** Since then, in 1/65536 s. */
  readonly sinceLastReport: number;
}

/** What a sender says of itself: the same instant on both clocks, and its totals. */
export interface SenderFacts {
  /** Epoch milliseconds. */
  readonly at: number;
  readonly rtpTimestamp: number;
  readonly packets: number;
  readonly octets: number;
}

export type RtcpPacket =
  | {
      readonly type: "sender-report";
      readonly ssrc: number;
      /** Middle 32 bits of its NTP time, to be given back as `lastReport`. */
      readonly ntpMiddle: number;
      readonly rtpTimestamp: number;
      readonly packets: number;
      readonly octets: number;
      readonly blocks: readonly ReportBlock[];
    }
  | { readonly type: "receiver-report"; readonly ssrc: number; readonly blocks: readonly ReportBlock[] }
  | { readonly type: "source-description"; readonly ssrc: number; readonly cname: string }
  | { readonly type: "goodbye"; readonly ssrcs: readonly number[] };

/** One report of ours: SR when `sender` is there, else RR, with what was received and who we are. */
export interface Report {
  readonly ssrc: number;
  /** At most 255 octets of UTF-8. */
  readonly cname: string;
  readonly sender?: SenderFacts;
  readonly block?: ReportBlock;
}

/** A compound packet: report and CNAME (RFC 3550 6.1). */
export function writeReport(report: Report): Uint8Array {
  return join([reportPacket(report), cnamePacket(report)]);
}

/** A compound packet that also says goodbye (RFC 3550 6.6). */
export function writeBye(report: Report): Uint8Array {
  const bye = packet(goodbye, 1, 4);
  write32(bye, 4, report.ssrc);
  return join([reportPacket(report), cnamePacket(report), bye]);
}

/** The middle 32 of the 64 bits of the NTP time at `at` (epoch ms). */
export function ntpMiddle(at: number): number {
  const { seconds, fraction } = ntp(at);
  return (((seconds & 0xffff) << 16) | (fraction >>> 16)) >>> 0;
}

/**
 * The packets of a compound that passes the checks of RFC 3550 A.2; undefined for anything else.
 * Packet types not known here are left out.
 */
export function readRtcp(octets: Uint8Array): readonly RtcpPacket[] | undefined {
  const packets: RtcpPacket[] = [];
  let at = 0;
  while (at < octets.length) {
    if (at + 4 > octets.length || (octets[at] ?? 0) >> 6 !== 2) return undefined;
    const type = octets[at + 1] ?? 0;
    if (at === 0 && type !== senderReport && type !== receiverReport) return undefined;
    const size = 4 + 4 * (((octets[at + 2] ?? 0) << 8) | (octets[at + 3] ?? 0));
    if (at + size > octets.length) return undefined;
    const read = readOne(octets.subarray(at, at + size));
    if (read === undefined) return undefined;
    if (read !== "unknown") packets.push(read);
    at += size;
  }
  return packets.length > 0 ? packets : undefined;
}

/**
 * How long to wait before the next report (RFC 3550 6.2, 6.3.1): for two members the minimum of 5 s rules, half of
 * it the first time, varied by `chance` (0 to 1) and corrected for reconsideration.
 */
export function rtcpDelayMs(chance: number, first: boolean): number {
  return ((first ? 2500 : 5000) * (0.5 + chance)) / (Math.E - 1.5);
}

function readOne(octets: Uint8Array): RtcpPacket | "unknown" | undefined {
  const count = (octets[0] ?? 0) & 0x1f;
  const type = octets[1];
  if (type === senderReport) {
    const blocks = readBlocks(octets, 28, count);
    if (blocks === undefined) return undefined;
    return {
      type: "sender-report",
      ssrc: read32(octets, 4),
      ntpMiddle: read32(octets, 10),
      rtpTimestamp: read32(octets, 16),
      packets: read32(octets, 20),
      octets: read32(octets, 24),
      blocks,
    };
  }
  if (type === receiverReport) {
    const blocks = readBlocks(octets, 8, count);
    return blocks && { type: "receiver-report", ssrc: read32(octets, 4), blocks };
  }
  if (type === goodbye) {
    if (octets.length < 4 + 4 * count) return undefined;
    return { type: "goodbye", ssrcs: Array.from({ length: count }, (_, i) => read32(octets, 4 + 4 * i)) };
  }
  return type === sourceDescription ? readDescription(octets, count) : "unknown";
}

function readBlocks(octets: Uint8Array, start: number, count: number): readonly ReportBlock[] | undefined {
  if (octets.length < start + count * blockBytes) return undefined;
  return Array.from({ length: count }, (_, i) => {
    const at = start + i * blockBytes;
    return {
      ssrc: read32(octets, at),
      fractionLost: octets[at + 4] ?? 0,
      lost: (read32(octets, at + 4) << 8) >> 8,
      highestSequence: read32(octets, at + 8),
      jitter: read32(octets, at + 12),
      lastReport: read32(octets, at + 16),
      sinceLastReport: read32(octets, at + 20),
    };
  });
}

/** Of the first chunk, its CNAME (item 1). */
function readDescription(octets: Uint8Array, count: number): RtcpPacket | "unknown" | undefined {
  if (count === 0) return "unknown";
  if (octets.length < 8) return undefined;
  for (let at = 8; at + 2 <= octets.length && octets[at] !== 0;) {
    const end = at + 2 + (octets[at + 1] ?? 0);
    if (end > octets.length) return undefined;
    if (octets[at] === 1) {
      const cname = new TextDecoder().decode(octets.subarray(at + 2, end));
      return { type: "source-description", ssrc: read32(octets, 4), cname };
    }
    at = end;
  }
  return "unknown";
}

function reportPacket({ ssrc, sender, block }: Report): Uint8Array {
  const head = sender === undefined ? 4 : 24;
  const blocks = block === undefined ? 0 : 1;
  const type = sender === undefined ? receiverReport : senderReport;
  const octets = packet(type, blocks, head + blocks * blockBytes);
  write32(octets, 4, ssrc);
  if (sender !== undefined) {
    const { seconds, fraction } = ntp(sender.at);
    write32(octets, 8, seconds);
    write32(octets, 12, fraction);
    write32(octets, 16, sender.rtpTimestamp);
    write32(octets, 20, sender.packets);
    write32(octets, 24, sender.octets);
  }
  if (block !== undefined) writeBlock(octets, 4 + head, block);
  return octets;
}

function writeBlock(octets: Uint8Array, at: number, block: ReportBlock): void {
  write32(octets, at, block.ssrc);
  write32(octets, at + 4, Math.max(-0x80_0000, Math.min(0x7f_ffff, block.lost)));
  octets[at + 4] = block.fractionLost; // over the sign of the 24 bits after it
  write32(octets, at + 8, block.highestSequence);
  write32(octets, at + 12, block.jitter);
  write32(octets, at + 16, block.lastReport);
  write32(octets, at + 20, block.sinceLastReport);
}

function cnamePacket({ ssrc, cname }: Report): Uint8Array {
  const name = new TextEncoder().encode(cname).subarray(0, 255);
  const octets = packet(sourceDescription, 1, 4 + 4 * Math.ceil((name.length + 3) / 4)); // item, then at least one zero
  write32(octets, 4, ssrc);
  octets[8] = 1;
  octets[9] = name.length;
  octets.set(name, 10);
  return octets;
}

/** A packet with its common header; `bodyBytes` a multiple of 4. */
function packet(type: number, count: number, bodyBytes: number): Uint8Array {
  const octets = new Uint8Array(4 + bodyBytes);
  octets[0] = 0x80 | count;
  octets[1] = type;
  octets[2] = bodyBytes >> 10;
  octets[3] = bodyBytes >> 2;
  return octets;
}

function join(parts: readonly Uint8Array[]): Uint8Array {
  const whole = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}

function ntp(at: number): { readonly seconds: number; readonly fraction: number } {
  const seconds = Math.floor(at / 1000);
  return {
    seconds: (seconds + secondsFrom1900) % 2 ** 32,
    fraction: Math.floor(((at - seconds * 1000) / 1000) * 2 ** 32),
  };
}
