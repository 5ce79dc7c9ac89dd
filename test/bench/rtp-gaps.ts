import { readFileSync } from "node:fs";

const ethernetBytes = 14;
const shortestRtp = 12;

/** The time between packets that follow each other in one RTP stream, from a pcap file with kernel time stamps. */
export class RtpGaps {
  readonly #sortedMs: Float64Array;

  constructor(gapsMs: readonly number[]) {
    this.#sortedMs = Float64Array.from(gapsMs).toSorted();
  }

  /** Reads the streams that leave from these UDP ports. */
  static read(file: string, sourcePorts: ReadonlySet<number>): RtpGaps {
    const data = readFileSync(file);
    const lastAt = new Map<number, number>();
    const gapsMs: number[] = [];
    for (let at = 24; at + 16 <= data.length;) {
      const stampMs = data.readUInt32LE(at) * 1000 + data.readUInt32LE(at + 4) / 1000;
      const length = data.readUInt32LE(at + 8);
      const port = rtpSource(data.subarray(at + 16, at + 16 + length));
      at += 16 + length;
      if (port === undefined || !sourcePorts.has(port)) continue;
      const last = lastAt.get(port);
      if (last !== undefined) gapsMs.push(stampMs - last);
      lastAt.set(port, stampMs);
    }
    return new RtpGaps(gapsMs);
  }

  get count(): number {
    return this.#sortedMs.length;
  }

  quantile(q: number): number {
    return this.#sortedMs[Math.min(this.count - 1, Math.floor(this.count * q))] ?? Number.NaN;
  }
}

/** Source port of an IPv4 UDP packet that holds RTP with PCMU or PCMA; undefined for anything else. */
function rtpSource(frame: Buffer): number | undefined {
  const ip = frame.subarray(ethernetBytes);
  if (ip.length < 28 || ip[0] !== 0x45 || ip[9] !== 17) return undefined;
  const rtp = ip.subarray(28);
  if (rtp.length < shortestRtp || (rtp[0] ?? 0) >> 6 !== 2) return undefined;
  const payloadType = (rtp[1] ?? 0) & 0x7f;
  return payloadType === 0 || payloadType === 8 ? ip.readUInt16BE(20) : undefined;
}
