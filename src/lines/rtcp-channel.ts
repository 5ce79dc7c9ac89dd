import type { Socket } from "node:dgram";
import type { Entropy } from "#base";
import { ntpMiddle, readRtcp, rtcpDelayMs, writeBye, writeReport, type ReportBlock } from "#media";
import type { RtpReceiver } from "./rtp-receiver.ts";
import type { RtpSender } from "./rtp-sender.ts";

const ticksPerMs = 65.536; // of 1/65536 s

/** The reports of one audio stream (RFC 3550 6): ours, about every five seconds, and the peer's. */
export class RtcpChannel {
  readonly #socket: Socket;
  readonly #sender: RtpSender;
  readonly #receiver: RtpReceiver;
  readonly #entropy: Entropy;
  readonly #cname: string;
  #dueAt: number | undefined;
  #peerReport = 0;
  #peerReportAt = 0;
  #roundTripMs: number | undefined;
  #peerLost = 0;
  #peerJitterMs = 0;

  constructor(socket: Socket, streams: { sender: RtpSender; receiver: RtpReceiver }, entropy: Entropy) {
    this.#socket = socket;
    this.#sender = streams.sender;
    this.#receiver = streams.receiver;
    this.#entropy = entropy;
    // RFC 7022 4.2: a random name for the session, saying nothing of the machine.
    this.#cname = Buffer.from(entropy.bytes(12)).toString("base64url");
  }

  /** Takes a datagram; only the host that is heard may report. */
  take(packet: Uint8Array, address: string, now: number): void {
    const { remote } = this.#receiver.media;
    if (address !== remote.address && address !== this.#receiver.target.address) return;
    const { guard } = this.#receiver;
    const report = guard === undefined ? packet : guard.unprotectRtcp(packet);
    for (const each of (report && readRtcp(report)) ?? []) {
      if (each.type === "sender-report") {
        this.#peerReport = each.ntpMiddle;
        this.#peerReportAt = now;
      }
      if (each.type === "sender-report" || each.type === "receiver-report") {
        const block = each.blocks.find(({ ssrc }) => ssrc === this.#sender.ssrc);
        if (block !== undefined) this.#learn(block, now);
      }
    }
  }

  /** To be called each frame. */
  tick(now: number): void {
    if (this.#dueAt === undefined) this.#dueAt = now + rtcpDelayMs(this.#chance(), true);
    if (now < this.#dueAt) return;
    this.#dueAt = now + rtcpDelayMs(this.#chance(), false);
    this.#send(writeReport(this.#report(now)));
  }

  /** Says goodbye, if anything was ever said; `done` when it has left. */
  close(now: number, done: () => void): void {
    if (this.#sender.packets === 0) done();
    else this.#send(writeBye(this.#report(now)), done);
  }

  /** Undefined until the peer has answered a report of ours. */
  get roundTripMs(): number | undefined {
    return this.#roundTripMs;
  }

  figures(): Readonly<Record<string, number>> {
    return {
      peerLost: this.#peerLost,
      peerJitterMs: this.#peerJitterMs,
      ...(this.#roundTripMs === undefined ? {} : { roundTripMs: this.#roundTripMs }),
    };
  }

  /** What the peer says of our stream; the round trip as in RFC 3550 6.4.1. */
  #learn(block: ReportBlock, now: number): void {
    this.#peerLost = Math.max(0, block.lost);
    this.#peerJitterMs = block.jitter / 8;
    if (block.lastReport === 0) return;
    const ticks = (ntpMiddle(now) - block.lastReport - block.sinceLastReport) | 0;
    if (ticks >= 0) this.#roundTripMs = ticks / ticksPerMs;
  }

  #report(now: number): Parameters<typeof writeReport>[0] {
    const sender = this.#sender.facts(now);
    const block = this.#block(now);
    return {
      ssrc: this.#sender.ssrc,
      cname: this.#cname,
      ...(sender === undefined ? {} : { sender }),
      ...(block === undefined ? {} : { block }),
    };
  }

  #block(now: number): ReportBlock | undefined {
    const { ssrc, reception } = this.#receiver;
    if (ssrc === undefined) return undefined;
    return {
      ssrc,
      fractionLost: reception.takeFractionLost(),
      lost: reception.expected - reception.received,
      highestSequence: reception.extendedHighest,
      jitter: reception.jitter,
      lastReport: this.#peerReport,
      sinceLastReport: this.#peerReport === 0 ? 0 : Math.round((now - this.#peerReportAt) * ticksPerMs),
    };
  }

  #send(packet: Uint8Array, done: () => void = ignore): void {
    const { media, target } = this.#receiver;
    const signalled = target.address === media.remote.address && target.port === media.remote.port;
    const port = signalled ? media.remote.rtcpPort : target.port + 1;
    const sent = this.#sender.guard?.protectRtcp(packet) ?? packet;
    this.#socket.send(sent, 0, sent.length, port, target.address, () => done());
  }

  #chance(): number {
    return (this.#entropy.bytes(1)[0] ?? 0) / 256;
  }
}

function ignore(): void {}
