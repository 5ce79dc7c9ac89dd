import type { Socket } from "node:dgram";
import type { Entropy } from "#base";
import { createRtpHeader, readRtp, rtpHeaderBytes, TextReceiver, TextSender, writeRtpHeader } from "#media";
import type { LineMedia } from "./line-media.ts";
import { SourceLock } from "./source-lock.ts";

type TextMedia = NonNullable<LineMedia["text"]>;

/** Real-time text of one call, both ways (RFC 4103). */
export class TextChannel {
  readonly #socket: Socket;
  readonly #ssrc: number;
  readonly #sender: TextSender;
  readonly #receiver: TextReceiver;
  readonly #in = createRtpHeader();
  readonly #out = createRtpHeader();
  #media: TextMedia;
  #lock: SourceLock;
  #sequence: number;
  #typed = "";

  constructor(socket: Socket, media: TextMedia, entropy: Entropy) {
    const random = new DataView(Uint8Array.from(entropy.bytes(10)).buffer);
    this.#socket = socket;
    this.#ssrc = random.getUint32(0);
    this.#sequence = random.getUint16(8);
    this.#media = media;
    this.#lock = new SourceLock(media.remote);
    this.#sender = new TextSender(media, random.getUint32(4));
    this.#receiver = new TextReceiver(media);
  }

  /** Takes over another address of the peer; payload numbers stay for the session. */
  change(media: TextMedia): void {
    const { address, port } = this.#media.remote;
    if (media.remote.address !== address || media.remote.port !== port)
      this.#lock = new SourceLock(media.remote);
    this.#media = media;
  }

  type(text: string): void {
    this.#sender.type(text);
  }

  /** Takes a datagram. */
  take(packet: Uint8Array, from: { address: string; port: number }, now: number): void {
    const header = this.#in;
    const { payloadType, redPayloadType } = this.#media;
    if (!readRtp(packet, header)) return;
    if (header.payloadType !== payloadType && header.payloadType !== redPayloadType) return;
    if (!this.#lock.admits(from.address, from.port, now)) return;
    this.#typed += this.#receiver.receive(packet, header) ?? "";
  }

  /** To be called each frame: sends what is due; answers what the peer typed since, or "". */
  tick(now: number): string {
    if (this.#sender.next(now)) this.#send();
    const typed = this.#typed;
    this.#typed = "";
    return typed;
  }

  #send(): void {
    const { length, marker, payload, payloadType, timestamp } = this.#sender;
    const packet = new Uint8Array(rtpHeaderBytes + length);
    const header = Object.assign(this.#out, { payloadType, marker, timestamp });
    header.ssrc = this.#ssrc;
    header.sequence = this.#sequence;
    this.#sequence = (this.#sequence + 1) & 0xffff;
    writeRtpHeader(packet, header);
    packet.set(payload.subarray(0, length), rtpHeaderBytes);
    const { address, port } = this.#lock.target;
    this.#socket.send(packet, 0, packet.length, port, address, ignore);
  }
}

function ignore(): void {}
