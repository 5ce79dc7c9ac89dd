import type { Socket } from "node:dgram";
import type { Entropy } from "#base";
import {
  AudioEncoder,
  createRtpHeader,
  frameSamples,
  rtpHeaderBytes,
  srtpTagBytes,
  writeRtpHeader,
  type Codec,
  type SenderFacts,
  type SrtpSender,
} from "#media";
import type { Endpoint } from "./source-lock.ts";

const ringSize = 16; // a packet stays untouched until long after the kernel has it

/** One outgoing audio stream: numbers, stamps and sends frames from a ring of buffers made once. */
export class RtpSender {
  readonly ssrc: number;
  /** Set: everything is encrypted. */
  guard: SrtpSender | undefined;
  readonly #socket: Socket;
  readonly #ring: readonly Uint8Array[] = Array.from(
    { length: ringSize },
    () => new Uint8Array(rtpHeaderBytes + frameSamples + srtpTagBytes),
  );
  readonly #encoder = new AudioEncoder();
  readonly #header = createRtpHeader();
  readonly #sent = (error: Error | null): void => {
    if (error !== null) this.#errors++;
  };
  #next = 0;
  #sequence: number;
  #timestamp: number;
  #marker = true;
  #packets = 0;
  #octets = 0;
  #errors = 0;
  #sentAt: number | undefined;
  #largestGapMs = 0;

  constructor(socket: Socket, entropy: Entropy) {
    this.#socket = socket;
    const random = new DataView(Uint8Array.from(entropy.bytes(10)).buffer);
    this.ssrc = random.getUint32(0);
    this.#timestamp = random.getUint32(4);
    // the lower half: an SRTP peer that loses the first packets must not miss a roll-over (RFC 3711 3.3.1)
    this.#sequence = random.getUint16(8) & 0x7fff;
  }

  get packets(): number {
    return this.#packets;
  }

  /** Of payload (RFC 3550 6.4.1). */
  get octets(): number {
    return this.#octets;
  }

  get errors(): number {
    return this.#errors;
  }

  /** The longest time between two packets of an unbroken stream. */
  get largestGapMs(): number {
    return this.#largestGapMs;
  }

  /** The timestamp of the frame that is due. */
  get timestamp(): number {
    return this.#timestamp;
  }

  /** Time passes, whether or not a packet was sent. */
  advance(frames: number): void {
    this.#timestamp = (this.#timestamp + frames * frameSamples) >>> 0;
  }

  /** The stream pauses: the next packet begins a talkspurt (RFC 3551 4.1), and the gap before it does not count. */
  interrupt(): void {
    this.#marker = true;
    this.#sentAt = undefined;
  }

  sendAudio(pcm: Int16Array, as: { codec: Codec; payloadType: number }, to: Endpoint, now: number): void {
    const packet = this.#take();
    this.#encoder.encode(as.codec, pcm, packet, rtpHeaderBytes);
    this.#header.payloadType = as.payloadType;
    this.#header.marker = this.#marker;
    this.#header.timestamp = this.#timestamp;
    this.#marker = false;
    this.#send(packet, frameSamples, to);
    this.#noteGap(now);
  }

  /** A telephone event in place of sound. */
  sendEvent(
    event: { readonly payload: Uint8Array; readonly marker: boolean; readonly timestamp: number },
    payloadType: number,
    to: Endpoint,
    now: number,
  ): void {
    const packet = this.#take();
    packet.set(event.payload, rtpHeaderBytes);
    this.#header.payloadType = payloadType;
    this.#header.marker = event.marker;
    this.#header.timestamp = event.timestamp;
    this.#send(packet, event.payload.length, to);
    this.#noteGap(now);
  }

  /** What a sender report says, for `at` (epoch ms); undefined before the first packet. */
  facts(at: number): SenderFacts | undefined {
    return this.#packets === 0
      ? undefined
      : { at, rtpTimestamp: this.#timestamp, packets: this.#packets, octets: this.#octets };
  }

  #take(): Uint8Array {
    const packet = this.#ring[this.#next];
    this.#next = (this.#next + 1) % ringSize;
    if (packet === undefined) throw new Error("the ring of send buffers is empty");
    return packet;
  }

  #send(packet: Uint8Array, payloadBytes: number, to: Endpoint): void {
    this.#header.sequence = this.#sequence;
    this.#header.ssrc = this.ssrc;
    writeRtpHeader(packet, this.#header);
    this.#sequence = (this.#sequence + 1) & 0xffff;
    this.#packets++;
    this.#octets += payloadBytes;
    const plain = rtpHeaderBytes + payloadBytes;
    const length = this.guard === undefined ? plain : this.guard.protect(packet, plain);
    this.#socket.send(packet, 0, length, to.port, to.address, this.#sent);
  }

  #noteGap(now: number): void {
    if (this.#sentAt !== undefined) this.#largestGapMs = Math.max(this.#largestGapMs, now - this.#sentAt);
    this.#sentAt = now;
  }
}
