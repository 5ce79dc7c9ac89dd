import type { Socket } from "node:dgram";
import { describe, expect, test } from "vitest";
import type { AudioLine } from "../../src/lines/audio-line.ts";
import type { LineMedia } from "../../src/lines/line-media.ts";
import { secureStreams } from "../../src/lines/line-security.ts";
import { RtpReceiver } from "../../src/lines/rtp-receiver.ts";
import { RtpSender } from "../../src/lines/rtp-sender.ts";
import { srtpCrypto } from "../../src/lines/srtp-crypto.ts";
import { readRtcp, writeReport } from "../../src/media/rtcp.ts";
import { SrtpReceiver, SrtpSender } from "../../src/media/srtp.ts";
import { srtpKeyBytes, type SrtpSuite } from "../../src/media/srtp-suite.ts";
import { sineTone } from "../../src/media/tone-generator.ts";
import { joined, rms, shareAt } from "../media/signals.ts";
import {
  agreed,
  exchange,
  handClock,
  openLine,
  openStranger,
  rtpPacket,
  send,
  turnsUntil,
} from "./hand-driven.ts";

type Srtp = NonNullable<LineMedia["audio"]["srtp"]>;
const suites = ["AES_CM_128_HMAC_SHA1_80", "AES_CM_128_HMAC_SHA1_32", "AEAD_AES_128_GCM"] as const;

const keyText = (suite: SrtpSuite, octet: number): string =>
  Buffer.alloc(srtpKeyBytes(suite), octet).toString("base64");
const keyOf = (suite: SrtpSuite, octet: number) => ({ suite, key: Buffer.alloc(srtpKeyBytes(suite), octet) });
const keys = (suite: SrtpSuite, local: number, remote: number): Srtp => ({
  suite,
  localKey: keyText(suite, local),
  remoteKey: keyText(suite, remote),
});

function listenOn(line: AudioLine): Int16Array[] {
  const heard: Int16Array[] = [];
  line.onFrame = (pcm) => void heard.push(pcm.slice());
  return heard;
}

/** Two lines, one with the keys 1 and 2, the other with `remote` (its own, then ours) of the same suite. */
async function securePair(suite: SrtpSuite, other: readonly [number, number] = [2, 1]) {
  const clock = handClock();
  const a = await openLine(clock);
  const b = await openLine(clock);
  a.connect(agreed(b.local.audioPort, { srtp: keys(suite, 1, 2) }));
  b.connect(agreed(a.local.audioPort, { srtp: keys(suite, ...other) }));
  return { clock, a, b, pair: [a, b] as const };
}

/** A line under AES-CM and a peer made by hand, which seals as it likes. */
async function handMade(suite: SrtpSuite = "AES_CM_128_HMAC_SHA1_80") {
  const clock = handClock();
  const line = await openLine(clock);
  const peer = await openStranger();
  line.connect(agreed(peer.port, { srtp: keys(suite, 1, 2) }));
  const sender = new SrtpSender(keyOf(suite, 2), srtpCrypto);
  const seal = (packet: Uint8Array): Uint8Array => {
    const room = new Uint8Array(packet.length + 16);
    room.set(packet);
    return room.slice(0, sender.protect(room, packet.length));
  };
  const loud = (sequence: number): Uint8Array =>
    seal(rtpPacket({ sequence: sequence & 0xffff, timestamp: sequence * 160 }, 0x2a));
  const pull = (frames: number) => {
    for (let i = 0; i < frames; i++) line.tick((clock.now += 20));
  };
  return { clock, line, peer, sender, seal, loud, pull, heard: listenOn(line) };
}

describe.each(suites)("two lines under %s", (suite) => {
  test("hear each other's tones", async () => {
    const { clock, a, b, pair } = await securePair(suite);
    const [atA, atB] = [listenOn(a), listenOn(b)];
    a.play(1, sineTone([700], 1000));
    b.play(1, sineTone([440], 1000));
    await exchange(clock, pair, 50);
    expect(shareAt(joined(...atB).subarray(960, 7500), 700)).toBeGreaterThan(0.99);
    expect(shareAt(joined(...atA).subarray(960, 7500), 440)).toBeGreaterThan(0.99);
    for (const line of pair)
      expect(line.stats()).toMatchObject({ packetsRejected: 0, packetsUnauthenticated: 0, packetsLost: 0 });
  });

  test("with the wrong key there is silence, and the time without media runs", async () => {
    const { clock, a, b, pair } = await securePair(suite, [2, 3]);
    const heard = listenOn(b);
    const timeouts: boolean[] = [];
    b.onMediaTimeout = (first) => timeouts.push(first);
    a.play(1, sineTone([700], 1000));
    await exchange(clock, pair, 50);
    expect(rms(joined(...heard))).toBe(0);
    expect(b.stats()).toMatchObject({ packetsReceived: 0, packetsRejected: 50, packetsUnauthenticated: 50 });
    clock.now += 30_000;
    b.tick(clock.now);
    expect(timeouts).toEqual([true]);
  });

  test("what is on the wire is neither the sound nor in the clear", async () => {
    const clock = handClock();
    const line = await openLine(clock);
    const peer = await openStranger();
    line.connect(agreed(peer.port, { srtp: keys(suite, 1, 2) }));
    for (let i = 0; i < 10; i++) line.tick((clock.now += 20));
    await turnsUntil(() => peer.heard.length === 10);
    const payloads = peer.heard.map((packet) => packet.subarray(12, 172).toString("hex"));
    expect(new Set(payloads).size).toBe(10); // silence, each time another
    const opener = new SrtpReceiver(keyOf(suite, 1), srtpCrypto);
    for (const packet of peer.heard)
      expect(new Set(opener.unprotect(packet)?.subarray(12))).toEqual(new Set([0xd5]));
  });

  test("digits come through", async () => {
    const { clock, a, b, pair } = await securePair(suite);
    const digits: string[] = [];
    b.onDtmf = (digit) => digits.push(digit);
    a.sendDtmf("42#");
    await exchange(clock, pair, 45);
    expect(digits).toEqual(["4", "2", "#"]);
  });
});

describe("who attacks a secured line", () => {
  test("200 forgeries between true packets, from the peer's own address, disturb nothing", async () => {
    const { line, peer, loud, pull, heard } = await handMade();
    for (let sequence = 0; sequence < 40; sequence++) {
      const whole = loud(sequence);
      const forgeries = [1, 2, 3, 4, 5].map((n) => {
        const forged = whole.slice();
        forged[forged.length - n]! ^= 0x55;
        if (n > 3) forged[2] = 0xf0; // far ahead: the roll-over must not follow
        return forged;
      });
      await send(peer, line, [...forgeries, whole]);
      pull(1);
    }
    expect(line.stats()).toMatchObject({
      packetsReceived: 40,
      packetsLost: 0,
      packetsUnauthenticated: 200,
      concealedMs: 0,
    });
    expect(rms(joined(...heard.slice(4)))).toBeGreaterThan(1000);
  });

  test("replayed packets are not heard", async () => {
    const { line, peer, loud, pull, heard } = await handMade();
    const packets = Array.from({ length: 100 }, (_, i) => loud(i));
    for (const packet of packets) {
      await send(peer, line, [packet, packet]);
      pull(1);
    }
    pull(20);
    heard.length = 0;
    for (const packet of packets) {
      await send(peer, line, [packet]);
      pull(1);
    }
    expect(rms(joined(...heard))).toBe(0);
    expect(line.stats()).toMatchObject({
      packetsReceived: 100,
      packetsDuplicated: 0,
      packetsUnauthenticated: 200,
    });
  });

  test("a stranger is not learnt as the peer, however much is sent, and packets in the clear are not heard", async () => {
    const { line, peer, loud, pull, heard } = await handMade();
    const stranger = await openStranger();
    const clear = Array.from({ length: 20 }, (_, i) =>
      rtpPacket({ sequence: i, timestamp: i * 160, ssrc: 2 }, 0x2a),
    );
    await send(stranger, line, clear);
    await send(peer, line, clear);
    pull(30);
    await turnsUntil(() => peer.heard.length === 30);
    expect(rms(joined(...heard))).toBe(0);
    expect(stranger.heard).toEqual([]);
    await send(peer, line, [loud(0), loud(1), loud(2), loud(3), loud(4)]);
    pull(6);
    expect(rms(joined(...heard.slice(-6)))).toBeGreaterThan(1000);
  });

  test("a peer behind a NAT is learnt by its true packets", async () => {
    const { line, loud, pull } = await handMade();
    const elsewhere = await openStranger();
    await send(elsewhere, line, [loud(0), loud(1), loud(2), loud(3)]);
    pull(3);
    await turnsUntil(() => elsewhere.heard.length === 3);
    expect(line.stats()).toMatchObject({ packetsReceived: 2, packetsUnauthenticated: 0 });
  });
});

describe("reports of a secured line", () => {
  test("are exchanged, and tell the round trip", async () => {
    const { clock, a, b, pair } = await securePair("AEAD_AES_128_GCM");
    await exchange(clock, pair, 800);
    for (const line of [a, b])
      expect(line.stats()).toMatchObject({ peerLost: 0, roundTripMs: expect.closeTo(0, 0) });
  });

  test("are sealed, up to the goodbye; those in the clear and repeated ones are not believed", async () => {
    const suite = "AES_CM_128_HMAC_SHA1_32";
    const clock = handClock();
    const line = await openLine(clock);
    const rtp = await openStranger();
    const rtcp = await openStranger();
    const remote = { address: "127.0.0.1", port: rtp.port, rtcpPort: rtcp.port };
    line.connect(agreed(rtp.port, { remote, srtp: keys(suite, 1, 2) }));
    line.tick(clock.now);
    await turnsUntil(() => rtp.heard.length === 1);
    const ssrc = rtp.heard[0]!.readUInt32BE(8);
    const sender = new SrtpSender(keyOf(suite, 2), srtpCrypto);
    const report = (lost: number): Uint8Array =>
      writeReport({
        ssrc: 3,
        cname: "c",
        block: {
          ssrc,
          fractionLost: 0,
          lost,
          highestSequence: 0,
          jitter: 0,
          lastReport: 0,
          sinceLastReport: 0,
        },
      });
    const first = sender.protectRtcp(report(1));
    for (const packet of [report(50), first, sender.protectRtcp(report(7)), first, report(60)])
      rtcp.socket.send(packet, line.local.audioPort + 1, "127.0.0.1");
    await turnsUntil(() => line.stats().peerLost === 7);
    for (let turn = 0; turn < 200; turn++) await new Promise((next) => setImmediate(next));
    expect(line.stats().peerLost).toBe(7);
    await line.close();
    await turnsUntil(() => rtcp.heard.length === 1);
    const opener = new SrtpReceiver(keyOf(suite, 1), srtpCrypto);
    expect(readRtcp(rtcp.heard[0]!)).toBeUndefined();
    const opened = opener.unprotectRtcp(rtcp.heard[0]!);
    expect(readRtcp(opened!)?.map(({ type }) => type)).toEqual([
      "sender-report",
      "source-description",
      "goodbye",
    ]);
  });
});

describe("a long call", () => {
  test("the stream goes on over the roll-over of its numbers", () => {
    const wire: Uint8Array[] = [];
    const socket = {
      send: (packet: Uint8Array, offset: number, length: number) => wire.push(packet.slice(offset, length)),
    };
    const all = (octet: number) => ({ bytes: (length: number) => new Uint8Array(length).fill(octet) });
    const audio = agreed(5000).audio;
    const sender = new RtpSender(socket as unknown as Socket, all(0xff));
    const receiver = new RtpReceiver(audio);
    secureStreams({ sender, receiver }, undefined, keys("AES_CM_128_HMAC_SHA1_80", 1, 1));
    const pcm = sineTone([700], 20);
    const heard = new Int16Array(160);
    const frames = 32_900; // the first has the number 32 767
    for (let i = 0; i < frames; i++) {
      sender.sendAudio(pcm, audio, audio.remote, i * 20);
      sender.advance(1);
      receiver.take(wire.pop()!, audio.remote, i * 20);
      receiver.pull(heard);
    }
    expect(receiver.figures(0)).toMatchObject({
      packetsReceived: frames,
      packetsRejected: 0,
      packetsLost: 0,
    });
    expect(rms(heard)).toBeGreaterThan(1000);
  });
});

describe("a new agreement", () => {
  test("with the same keys goes on with the same counters: what was heard is not heard again", async () => {
    const { line, peer, loud, pull } = await handMade();
    const packets = Array.from({ length: 5 }, (_, i) => loud(i));
    await send(peer, line, packets);
    line.changeMedia(
      agreed(peer.port, { direction: "sendonly", srtp: keys("AES_CM_128_HMAC_SHA1_80", 1, 2) }),
    );
    line.changeMedia(agreed(peer.port, { srtp: keys("AES_CM_128_HMAC_SHA1_80", 1, 2) }));
    await send(peer, line, packets);
    pull(2);
    expect(line.stats()).toMatchObject({ packetsReceived: 5, packetsUnauthenticated: 5 });
    await turnsUntil(() => peer.heard.length === 2);
  });

  test("with other keys or another suite goes on with those", async () => {
    const { clock, a, b, pair } = await securePair("AES_CM_128_HMAC_SHA1_80");
    const heard = listenOn(b);
    a.play(1, sineTone([700], 4000));
    await exchange(clock, pair, 20);
    for (const [suite, one, two] of [
      ["AES_CM_128_HMAC_SHA1_80", 1, 5],
      ["AEAD_AES_128_GCM", 6, 5],
    ] as const) {
      a.changeMedia(agreed(b.local.audioPort, { srtp: keys(suite, one, two) }));
      b.changeMedia(agreed(a.local.audioPort, { srtp: keys(suite, two, one) }));
      await exchange(clock, pair, 20);
    }
    expect(rms(joined(...heard.slice(-15)))).toBeGreaterThan(1000);
    expect(a.stats().packetsRejected).toBe(0);
    expect(b.stats().packetsRejected).toBe(0);
  });
});
