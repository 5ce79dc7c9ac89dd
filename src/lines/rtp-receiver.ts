import {
  AudioDecoder,
  ComfortNoise,
  comfortNoiseType,
  createRtpHeader,
  DtmfReceiver,
  estimateMos,
  frameMs,
  JitterBuffer,
  readRtp,
  ReceptionStats,
  type FrameOrigin,
  type RtpHeader,
  type SrtpReceiver,
} from "#media";
import type { LineMedia } from "./line-media.ts";
import { SourceLock, type Endpoint } from "./source-lock.ts";

const longestPacket = 4000; // samples: half a second
const delaySmoothing = 1 / 64; // a frame: about the last 1.3 s

type AudioMedia = LineMedia["audio"];

/** One incoming audio stream: whatever is not a valid packet of the peer is dropped before it has any effect. */
export class RtpReceiver {
  /** Set: only what it opens is heard. */
  guard: SrtpReceiver | undefined;
  readonly #header = createRtpHeader();
  readonly #pcm = new Int16Array(longestPacket);
  readonly #decoder = new AudioDecoder();
  readonly #buffer = new JitterBuffer();
  readonly #noise = new ComfortNoise();
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
  #unauthenticated = 0;
  /** The peer is silent and has said how its silence sounds. */
  #noisy = false;
  #bufferedMs: number | undefined;

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
  take(datagram: Uint8Array, from: Endpoint, now: number): string | undefined {
    const header = this.#header;
    const packet = this.#open(datagram);
    const known =
      packet !== undefined &&
      readRtp(packet, header) &&
      header.length > 0 &&
      header.length <= longestPacket &&
      this.#expects(header);
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
    if (header.payloadType === this.#media.payloadType) this.#decode(packet, header);
    else {
      this.#noise.describe(packet, header);
      this.#buffer.rest(header.sequence);
    }
    return undefined;
  }

  /** Fills `pcm` with the next 20 ms; where the peer suppresses its silence, with noise like the one it described. */
  pull(pcm: Int16Array): FrameOrigin {
    const origin = this.#buffer.pull(pcm);
    const { depthMs, resting } = this.#buffer;
    this.#bufferedMs ??= depthMs;
    this.#bufferedMs += (depthMs - this.#bufferedMs) * delaySmoothing;
    if (origin === "heard") this.#noisy = false;
    else if (resting) this.#noisy = true;
    if (this.#noisy) this.#noise.mix(pcm);
    return origin;
  }

  /** Figures of what came; `mos` (1 to 4.41) is the E-model's estimate from loss, delay and codec. */
  figures(roundTripMs: number): Readonly<Record<string, number>> {
    const lost = this.#lostBefore + this.#stats.lost;
    return {
      packetsReceived: this.#packets,
      octetsReceived: this.#octets,
      packetsLost: lost,
      packetsLate: this.#buffer.late,
      packetsDuplicated: this.#buffer.duplicates,
      packetsRejected: this.#rejected,
      ...(this.guard === undefined ? {} : { packetsUnauthenticated: this.#unauthenticated }),
      jitterMs: this.#stats.jitterMs,
      concealedMs: this.#buffer.concealedMs,
      bufferMs: this.#buffer.depthMs,
      ...(this.#packets === 0 ? {} : { mos: this.#mos(lost, roundTripMs) }),
    };
  }

  #mos(lost: number, roundTripMs: number): number {
    const mos = estimateMos({
      codec: this.#media.codec,
      lossShare: (lost + this.#buffer.late) / (this.#packets + lost),
      delayMs: roundTripMs / 2 + frameMs + (this.#bufferedMs ?? 0),
    });
    return Math.round(100 * mos) / 100;
  }

  #open(datagram: Uint8Array): Uint8Array | undefined {
    if (this.guard === undefined) return datagram;
    const packet = this.guard.unprotect(datagram);
    if (packet === undefined) this.#unauthenticated++;
    return packet;
  }

  #decode(packet: Uint8Array, header: RtpHeader): void {
    const { sequence, timestamp, length } = header;
    // a repetition is counted by the buffer, but a codec with memory must not hear it
    const samples = this.#buffer.has(sequence)
      ? length
      : this.#decoder.decode(this.#media.codec, packet, this.#pcm, header);
    this.#buffer.push(sequence, timestamp, this.#pcm, samples);
  }

  #expects(header: RtpHeader): boolean {
    const { payloadType } = header;
    const { payloadType: sound, dtmfPayloadType } = this.#media;
    return payloadType === sound || payloadType === dtmfPayloadType || payloadType === comfortNoiseType;
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
    this.#decoder.reset();
    this.#dtmf.reset();
    this.#noisy = false;
    return true;
  }
}
