import { createSocket, type Socket } from "node:dgram";
import { systemEntropy } from "#host";
import { onTestFinished } from "vitest";
import { AudioLine, type AudioLineOptions } from "../../src/lines/audio-line.ts";
import type { LineMedia } from "../../src/lines/line-media.ts";
import { createRtpHeader, rtpHeaderBytes, writeRtpHeader, type RtpHeader } from "../../src/media/rtp.ts";

/** Milliseconds that only the test moves. */
export const handClock = (): { now: number } => ({ now: 1_800_000_000_000 });

export async function openLine(
  clock: { now: number },
  options: Partial<AudioLineOptions> = {},
): Promise<AudioLine> {
  const line = await AudioLine.open({
    address: "127.0.0.1",
    withText: false,
    now: () => clock.now,
    entropy: systemEntropy,
    ...options,
  });
  onTestFinished(() => line.close());
  return line;
}

/** What a line agrees on with somebody at `port` of this machine. */
export function agreed(
  port: number,
  changes: Partial<LineMedia["audio"]> = {},
  textPort?: number,
): LineMedia {
  return {
    audio: {
      remote: { address: "127.0.0.1", port, rtcpPort: port + 1 },
      codec: "PCMA",
      payloadType: 8,
      dtmfPayloadType: 101,
      direction: "sendrecv",
      ...changes,
    },
    ...(textPort === undefined
      ? {}
      : { text: { remote: { address: "127.0.0.1", port: textPort }, payloadType: 98, redPayloadType: 99 } }),
  };
}

/** A socket without manners: what a stranger, or a peer made by hand, sends from. */
export async function openStranger(
  address = "127.0.0.1",
): Promise<{ socket: Socket; port: number; heard: Buffer[] }> {
  const socket = createSocket("udp4");
  const heard: Buffer[] = [];
  socket.on("message", (packet) => heard.push(packet));
  await new Promise<void>((bound) => socket.bind(0, address, bound));
  onTestFinished(() => void socket.close());
  return { socket, port: socket.address().port, heard };
}

/** An RTP packet whose payload is `octet`, 160 times unless said otherwise. */
export function rtpPacket(fields: Partial<RtpHeader>, octet = 0xd5, length = 160): Uint8Array {
  const packet = new Uint8Array(rtpHeaderBytes + length).fill(octet);
  writeRtpHeader(packet, { ...createRtpHeader(), payloadType: 8, ssrc: 1, ...fields });
  return packet;
}

/** Lets the loop turn until `condition` holds; fails after a great many turns. */
export async function turnsUntil(condition: () => boolean, what = "the condition"): Promise<void> {
  for (let turn = 0; turn < 20_000; turn++) {
    if (condition()) return;
    await new Promise((next) => setImmediate(next));
  }
  throw new Error(`${what} did not come true`);
}

/** Sends the packets one by one and waits until the line has judged each. */
export async function send(
  from: { readonly socket: Socket },
  line: AudioLine,
  packets: readonly Uint8Array[],
): Promise<void> {
  for (const packet of packets) {
    const before = judged(line);
    from.socket.send(packet, line.local.audioPort, "127.0.0.1");
    await turnsUntil(() => judged(line) > before, "the arrival of a packet");
  }
}

export function judged(line: AudioLine): number {
  const { packetsReceived = 0, packetsRejected = 0 } = line.stats();
  return packetsReceived + packetsRejected;
}

/** Plays so many frames on both lines; each frame's packets have arrived before the next. */
export async function exchange(
  clock: { now: number },
  pair: readonly [AudioLine, AudioLine],
  frames: number,
): Promise<void> {
  const [a, b] = pair;
  for (let frame = 0; frame < frames; frame++) {
    const before = [judged(a) - sent(b), judged(b) - sent(a)];
    a.tick(clock.now);
    b.tick(clock.now);
    await turnsUntil(
      () => judged(a) - sent(b) >= before[0]! && judged(b) - sent(a) >= before[1]!,
      "the arrival of a frame",
    );
    clock.now += 20;
  }
}

function sent(line: AudioLine): number {
  return line.stats().packetsSent ?? 0;
}
