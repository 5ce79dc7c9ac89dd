import {
  createRtpHeader,
  decodeG711,
  DtmfReceiver,
  JitterBuffer,
  readRtp,
  ReceptionStats,
  type FrameOrigin,
  type RtpHeader,
} from "#media";
import type { LineMedia } from "./line-media.ts";
import { SourceLock, type Endpoint } from "./source-lock.ts";

const longestPacket = 4000; // samples: half a second

type AudioMedia = LineMedia["audio"];

/** One incoming audio stream: whatever is not a valid packet of the peer is dropped before it has any effect. */
export class RtpReceiver {
  readonly #header = createRtpHeader();
  readonly #pcm = new Int16Array(longestPacket);
  readonly #buffer = new JitterBuffer();
  readonly #dtmf = new DtmfReceiver();
  #stats = new ReceptionStats();
  #media: AudioMedia;
  #lock: SourceLock;
  #ssrc: number | undefined;
  /** A source that may follow the present one, and the packet that would prove it. */
  #nextSsrc = 0;
  #nextSequence = -1;
  #heardAt: number | undefined;
  #packets = 0;
  #octets = 0;
  #rejected = 0;
  #lostBefore = 0;

  constructor(media: AudioMedia) {
    this.#media = media;
    this.#lock = new SourceLock(media.remote);
  }

  get media(): AudioMedia {
    return this.#media;
  }

  /** Where to send. */
  get target(): Endpoint {
    return this.#lock.target;
  }

  /** When the last valid packet of the peer came. */
  get heardAt(): number | undefined {
    return this.#heardAt;
  }

  get ssrc(): number | undefined {
    return this.#ssrc;
  }

  get reception(): ReceptionStats {
    return this.#stats;
  }

  /** Takes over what was agreed anew; another remote address has to be learnt anew. */
  change(media: AudioMedia): void {
    const { address, port } = this.#media.remote;
    if (media.remote.address !== address || media.remote.port !== port)
      this.#lock = new SourceLock(media.remote);
    this.#media = media;
  }

  /** Takes a datagram; answers the digit that begins with it. */
  take(packet: Uint8Array, from: Endpoint, now: number): string | undefined {
    const header = this.#header;
    const known =
      readRtp(packet, header) && header.length > 0 && header.length <= longestPacket && this.#expects(header);
    if (!known || !this.#lock.admits(from.address, from.port, now) || !this.#follows(header)) {
      this.#rejected++;
      return undefined;
    }
    this.#heardAt = now;
    this.#packets++;
    this.#octets += header.length;
    if (header.payloadType === this.#media.dtmfPayloadType) {
      this.#stats.countEvent(header.sequence);
      return this.#dtmf.receive(packet, header);
    }
    this.#stats.count(header.sequence, header.timestamp, now);
    const samples = decodeG711(this.#media.codec, packet, this.#pcm, header);
    this.#buffer.push(header.sequence, header.timestamp, this.#pcm, samples);
    return undefined;
  }

  /** Fills `pcm` with the next 20 ms. */
  pull(pcm: Int16Array): FrameOrigin {
    return this.#buffer.pull(pcm);
  }

  figures(): Readonly<Record<string, number>> {
    return {
      packetsReceived: this.#packets,
      octetsReceived: this.#octets,
      packetsLost: this.#lostBefore + this.#stats.lost,
      packetsLate: this.#buffer.late,
      packetsDuplicated: this.#buffer.duplicates,
      packetsRejected: this.#rejected,
      jitterMs: this.#stats.jitterMs,
      concealedMs: this.#buffer.concealedMs,
      bufferMs: this.#buffer.depthMs,
    };
  }

  #expects(header: RtpHeader): boolean {
    return (
      header.payloadType === this.#media.payloadType || header.payloadType === this.#media.dtmfPayloadType
    );
  }

  /** A new source replaces the present one when two of its packets come in a row. */
  #follows(header: RtpHeader): boolean {
    if (header.ssrc === this.#ssrc) return true;
    if (
      this.#ssrc !== undefined &&
      (header.ssrc !== this.#nextSsrc || header.sequence !== this.#nextSequence)
    ) {
      this.#nextSsrc = header.ssrc;
      this.#nextSequence = (header.sequence + 1) & 0xffff;
      return false;
    }
    this.#ssrc = header.ssrc;
    this.#lostBefore += this.#stats.lost;
    this.#stats = new ReceptionStats();
    this.#buffer.reset();
    this.#dtmf.reset();
    return true;
  }
}
