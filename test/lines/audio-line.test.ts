import { describe, expect, test } from "vitest";
import type { AudioLine } from "../../src/lines/audio-line.ts";
import type { LineMedia } from "../../src/lines/line-media.ts";
import type { Recorder } from "../../src/lines/recorder.ts";
import { writeReport } from "../../src/media/rtcp.ts";
import { createRtpHeader, readRtp } from "../../src/media/rtp.ts";
import { beepTone, silence, sineTone } from "../../src/media/tone-generator.ts";
import { joined, rms, shareAt, speechLike } from "../media/signals.ts";
import {
  agreed,
  exchange,
  handClock,
  judged,
  openLine,
  openStranger,
  rtpPacket,
  send,
  turnsUntil,
} from "./hand-driven.ts";

interface Ear {
  readonly pcm: Int16Array[];
  readonly speech: boolean[];
}

function listenOn(line: AudioLine): Ear {
  const ear: Ear = { pcm: [], speech: [] };
  line.onFrame = (pcm, speech) => {
    ear.pcm.push(pcm.slice());
    ear.speech.push(speech);
  };
  return ear;
}

async function connectedPair(
  changes: Partial<LineMedia["audio"]> = {},
  withText = false,
): Promise<{ clock: { now: number }; a: AudioLine; b: AudioLine; pair: readonly [AudioLine, AudioLine] }> {
  const clock = handClock();
  const a = await openLine(clock, { withText });
  const b = await openLine(clock, { withText });
  a.connect(agreed(b.local.audioPort, changes, b.local.textPort));
  b.connect(agreed(a.local.audioPort, changes, a.local.textPort));
  return { clock, a, b, pair: [a, b] };
}

describe("two lines on one machine", () => {
  test.each(["PCMA", "PCMU"] as const)("a tone said on one is heard on the other (%s)", async (codec) => {
    const { clock, a, b, pair } = await connectedPair({ codec, payloadType: codec === "PCMA" ? 8 : 0 });
    const ear = listenOn(b);
    a.play(1, sineTone([700], 1000));
    await exchange(clock, pair, 60);
    const heard = joined(...ear.pcm).subarray(160 * 6, 160 * 50);
    expect(shareAt(heard, 700)).toBeGreaterThan(0.99);
    expect(20 * Math.log10(rms(heard) / rms(sineTone([700], 1000)))).toBeCloseTo(0, 0);
  });

  test("a line that says nothing sends silence, one packet each 20 ms, in sequence", async () => {
    const clock = handClock();
    const line = await openLine(clock);
    const peer = await openStranger();
    line.connect(agreed(peer.port));
    for (let i = 0; i < 25; i++) {
      line.tick(clock.now);
      clock.now += 20;
      await turnsUntil(() => peer.heard.length > i);
    }
    const headers = peer.heard.map((packet) => {
      const header = createRtpHeader();
      expect(readRtp(packet, header)).toBe(true);
      expect(new Set(packet.subarray(12))).toEqual(new Set([0xd5]));
      return header;
    });
    const first = headers[0]!;
    headers.forEach((header, i) => {
      expect(header.sequence).toBe((first.sequence + i) & 0xffff);
      expect(header.timestamp).toBe((first.timestamp + 160 * i) >>> 0);
      expect(header.marker).toBe(i === 0);
      expect(header.length).toBe(160);
    });
    expect(line.stats()).toMatchObject({
      packetsSent: 25,
      octetsSent: 4000,
      maxSendGapMs: 20,
      sendErrors: 0,
    });
  });

  test("ports are an even one and its neighbour", async () => {
    const clock = handClock();
    const { local } = await openLine(clock, { withText: true });
    expect(local.audioPort % 2).toBe(0);
    expect((local.textPort ?? 1) % 2).toBe(0);
    const range = { from: local.audioPort - 2, to: local.audioPort + 3 };
    const other = await openLine(clock, { portRange: range });
    expect(other.local.audioPort).toBeGreaterThanOrEqual(range.from);
    expect(other.local.audioPort + 1).toBeLessThanOrEqual(range.to);
    expect(other.local.audioPort).not.toBe(local.audioPort);
  });

  test("a range without a free pair is an error that can be acted on", async () => {
    const clock = handClock();
    const { local } = await openLine(clock);
    const portRange = { from: local.audioPort, to: local.audioPort + 1 };
    await expect(openLine(clock, { portRange })).rejects.toMatchObject({
      code: "no-media-port",
      retryable: true,
    });
  });

  test("digits come through once each, in order, while speech waits for them", async () => {
    const { clock, a, b, pair } = await connectedPair();
    const digits: string[] = [];
    const played: number[] = [];
    b.onDtmf = (digit) => digits.push(digit);
    a.onPlayed = (segment) => played.push(segment);
    a.play(1, sineTone([500], 100));
    expect(a.sendDtmf("15#")).toBe(true);
    await exchange(clock, pair, 45);
    expect(digits).toEqual(["1", "5", "#"]);
    expect(played).toEqual([1]);
  });

  test("digits are refused when telephone events were not agreed, and so are characters that are no keys", async () => {
    const clock = handClock();
    const line = await openLine(clock);
    expect(line.sendDtmf("1")).toBe(false);
    const { audio } = agreed(9);
    const { dtmfPayloadType: _none, ...without } = audio;
    line.connect({ audio: without });
    expect(line.sendDtmf("1")).toBe(false);
    line.changeMedia({ audio });
    expect(line.sendDtmf("1x")).toBe(false);
    expect(line.sendDtmf("1")).toBe(true);
  });

  test("typed text comes through", async () => {
    const { clock, a, b, pair } = await connectedPair({}, true);
    const texts: string[] = [];
    b.onText = (text) => texts.push(text);
    expect(a.sendText("Hola, ¿qué tal?\n")).toBe(true);
    await exchange(clock, pair, 50);
    await turnsUntil(() => {
      b.tick(clock.now);
      return texts.join("").length > 0;
    });
    expect(texts.join("")).toBe("Hola, ¿qué tal?\n");
  });

  test("text is refused when it was not agreed", async () => {
    const { a } = await connectedPair();
    expect(a.sendText("x")).toBe(false);
  });

  test("speech is told from silence, and a beep is found when asked for", async () => {
    const { clock, a, b, pair } = await connectedPair();
    const ear = listenOn(b);
    const beeps: number[] = [];
    b.onBeep = (atMs) => beeps.push(atMs);
    b.detectTones = true;
    a.play(1, joined(silence(500), speechLike(1000), silence(500), beepTone(), silence(500)));
    await exchange(clock, pair, 150);
    expect(ear.speech.slice(0, 25)).not.toContain(true);
    expect(ear.speech.slice(35, 75).filter(Boolean).length).toBeGreaterThan(30);
    expect(ear.speech.slice(95)).not.toContain(true);
    expect(beeps).toHaveLength(1);
    expect(Math.abs(beeps[0]! - 2400)).toBeLessThan(100);
  });

  test("the reports of both sides tell of the round trip and of each other's losses", async () => {
    const { clock, a, pair } = await connectedPair();
    await exchange(clock, pair, 800);
    expect(a.stats()).toMatchObject({ peerLost: 0, packetsLost: 0, roundTripMs: expect.closeTo(0, 0) });
  });
});

describe("what is to be said", () => {
  test("segments play in order, each end is told, and the queue is known", async () => {
    const { clock, a, pair } = await connectedPair();
    const played: [number, number][] = [];
    const start = clock.now;
    a.onPlayed = (segment) => played.push([segment, clock.now - start]);
    a.append(1, silence(50));
    a.play(2, silence(70));
    expect(a.queuedMs).toBe(120);
    await exchange(clock, pair, 5);
    expect(played).toEqual([]); // the first may still grow
    a.append(1, silence(30));
    a.finish(1);
    await exchange(clock, pair, 6);
    expect(played.map(([segment]) => segment)).toEqual([1, 2]);
    expect(a.queuedMs).toBe(0);
  });

  test("a pause holds the sample, clearing tells what was played", async () => {
    const { clock, a, b, pair } = await connectedPair();
    const ear = listenOn(b);
    a.play(7, sineTone([500], 400));
    a.play(8, sineTone([900], 400));
    await exchange(clock, pair, 10);
    a.pause();
    await exchange(clock, pair, 20);
    expect(rms(joined(...ear.pcm.slice(-10)))).toBeLessThan(20);
    a.resume();
    await exchange(clock, pair, 5);
    expect(a.clear()).toEqual([
      { segmentId: 7, playedMs: 300, totalMs: 400 },
      { segmentId: 8, playedMs: 0, totalMs: 400 },
    ]);
    expect(a.queuedMs).toBe(0);
  });
});

describe("who is heard", () => {
  /** A connected line, its peer at the signalled address, and somebody else. */
  async function threeParties() {
    const clock = handClock();
    const line = await openLine(clock);
    const peer = await openStranger();
    const other = await openStranger();
    line.connect(agreed(peer.port));
    const ear = listenOn(line);
    const packets = (count: number, fields: { ssrc?: number; octet?: number } = {}) =>
      Array.from({ length: count }, (_, i) =>
        rtpPacket({ sequence: i, timestamp: i * 160, ssrc: fields.ssrc ?? 1 }, fields.octet ?? 0x2a),
      );
    const pull = (frames: number) => {
      for (let i = 0; i < frames; i++) line.tick((clock.now += 20));
    };
    return { clock, line, peer, other, ear, packets, pull };
  }

  test("once the signalled address has spoken nobody else is heard, and nothing is sent to them", async () => {
    const { line, peer, other, packets, pull, ear } = await threeParties();
    await send(peer, line, packets(1, { octet: 0xd5 }));
    await send(other, line, packets(40, { ssrc: 2 }));
    pull(50);
    expect(rms(joined(...ear.pcm))).toBeLessThan(20);
    expect(line.stats()).toMatchObject({ packetsReceived: 1, packetsRejected: 40 });
    await turnsUntil(() => peer.heard.length >= 50);
    expect(other.heard).toEqual([]);
  });

  test("a peer behind a NAT is learnt after three packets and answered where it sends from", async () => {
    const { line, peer, other, packets, pull, ear } = await threeParties();
    await send(other, line, packets(2));
    pull(1);
    await turnsUntil(() => peer.heard.length === 1);
    expect(other.heard).toEqual([]);
    await send(other, line, packets(12).slice(2));
    pull(12);
    await turnsUntil(() => other.heard.length === 12);
    expect(peer.heard).toHaveLength(1);
    expect(rms(joined(...ear.pcm))).toBeGreaterThan(1000);
    expect(line.stats()).toMatchObject({ packetsReceived: 10, packetsRejected: 2 });
  });

  test("the signalled address takes the line back from whoever was faster, for good", async () => {
    const { line, peer, other, packets, pull } = await threeParties();
    await send(other, line, packets(5, { ssrc: 2 }));
    await send(peer, line, packets(5));
    await send(other, line, packets(20, { ssrc: 2 }).slice(5));
    pull(3);
    await turnsUntil(() => peer.heard.length === 3);
    expect(other.heard).toEqual([]);
    expect(line.stats().packetsRejected).toBe(2 + 1 + 15); // learning, the first of the new source, the locked-out
  });

  test("another address in a new agreement is learnt anew", async () => {
    const { line, peer, other, packets, pull } = await threeParties();
    await send(peer, line, packets(3));
    line.changeMedia(agreed(other.port));
    await send(other, line, packets(6, { ssrc: 5 }));
    await send(peer, line, packets(6).slice(3));
    pull(2);
    await turnsUntil(() => other.heard.length === 2);
    expect(peer.heard).toEqual([]);
    expect(line.stats()).toMatchObject({ packetsReceived: 3 + 5, packetsRejected: 1 + 3 });
  });

  test("packets of another payload type, cut short or garbled are dropped, and the call goes on", async () => {
    const { line, peer, pull, packets, ear } = await threeParties();
    const bad = [
      rtpPacket({ payloadType: 18 }),
      rtpPacket({}, 0xd5, 0),
      rtpPacket({}, 0xd5, 4100),
      new Uint8Array(0),
      Uint8Array.of(1),
      rtpPacket({}).subarray(0, 11),
      new Uint8Array(172).fill(0xff),
      Uint8Array.from(rtpPacket({}), (octet, i) => (i === 0 ? 0x9f : octet)),
      Uint8Array.from(rtpPacket({}), (octet, i) => (i === 0 ? 0xa0 : octet)),
      Uint8Array.of(0x80, 200, 0, 1, 0, 0, 0, 1, 9, 9, 9, 9),
    ];
    for (let round = 0; round < 10; round++) await send(peer, line, bad);
    expect(line.stats()).toMatchObject({ packetsReceived: 0, packetsRejected: 100 });
    await send(peer, line, packets(10));
    pull(12);
    expect(rms(joined(...ear.pcm))).toBeGreaterThan(1000);
  });

  test("a source that changes in the middle of the call is followed after two packets in a row", async () => {
    const { line, peer, packets, pull, ear } = await threeParties();
    await send(peer, line, packets(10, { octet: 0xd5 }));
    await send(peer, line, [rtpPacket({ ssrc: 66, sequence: 900, timestamp: 5 }, 0x2a)]);
    pull(12);
    expect(rms(joined(...ear.pcm))).toBeLessThan(20);
    await send(peer, line, packets(10, { ssrc: 9 }));
    pull(12);
    expect(rms(joined(...ear.pcm.slice(-12)))).toBeGreaterThan(1000);
  });

  test("reports of strangers are not believed, those of the peer are", async () => {
    const { line, peer, pull } = await threeParties();
    const stranger = await openStranger("127.0.0.2");
    pull(1);
    await turnsUntil(() => peer.heard.length === 1);
    const ssrc = peer.heard[0]!.readUInt32BE(8);
    const block = {
      ssrc,
      fractionLost: 0,
      highestSequence: 0,
      jitter: 80,
      lastReport: 0,
      sinceLastReport: 0,
    };
    const report = (lost: number) => writeReport({ ssrc: 3, cname: "c", block: { ...block, lost } });
    stranger.socket.send(report(50), line.local.audioPort + 1, "127.0.0.1");
    peer.socket.send(new Uint8Array(3), line.local.audioPort + 1, "127.0.0.1");
    peer.socket.send(report(7), line.local.audioPort + 1, "127.0.0.1");
    await turnsUntil(() => line.stats().peerLost !== 0);
    expect(line.stats()).toMatchObject({ peerLost: 7, peerJitterMs: 10 });
  });
});

describe("silence of the peer", () => {
  async function lonely(options: Parameters<typeof openLine>[1] = {}) {
    const clock = handClock();
    const line = await openLine(clock, options);
    const peer = await openStranger();
    const timeouts: [boolean, number][] = [];
    const start = clock.now;
    line.onMediaTimeout = (first) => timeouts.push([first, clock.now - start]);
    const pass = (ms: number) => {
      for (const end = clock.now + ms; clock.now < end;) line.tick((clock.now += 20));
    };
    return { clock, line, peer, timeouts, pass };
  }

  test("30 s without a first packet are told once", async () => {
    const { line, peer, timeouts, pass } = await lonely();
    line.connect(agreed(peer.port));
    pass(29_980);
    expect(timeouts).toEqual([]);
    pass(60_000);
    expect(timeouts).toEqual([[true, 30_000]]);
  });

  test("15 s after the last packet are told as such; strangers do not count", async () => {
    const { line, peer, timeouts, pass } = await lonely();
    const stranger = await openStranger();
    line.connect(agreed(peer.port));
    pass(2000);
    await send(peer, line, [rtpPacket({ sequence: 1 })]);
    pass(14_000);
    await send(stranger, line, [rtpPacket({ sequence: 2 }), rtpPacket({ sequence: 3 })]);
    pass(980);
    expect(timeouts).toEqual([]);
    pass(20);
    expect(timeouts).toEqual([[false, 17_000]]);
  });

  test("the limits can be set", async () => {
    const { line, peer, timeouts, pass } = await lonely({ firstPacketTimeoutMs: 100, packetTimeoutMs: 50 });
    line.connect(agreed(peer.port));
    pass(100);
    expect(timeouts).toEqual([[true, 100]]);
  });

  test("a peer on hold may be silent; after it the time starts anew", async () => {
    const { line, peer, timeouts, pass } = await lonely();
    line.connect(agreed(peer.port));
    await send(peer, line, [rtpPacket({ sequence: 1 })]);
    line.changeMedia(agreed(peer.port, { direction: "sendonly" }));
    pass(60_000);
    line.changeMedia(agreed(peer.port));
    pass(14_980);
    expect(timeouts).toEqual([]);
    pass(20);
    expect(timeouts).toEqual([[false, 75_000]]);
  });
});

describe("the life of a line", () => {
  test("nothing is sent or heard before it is connected", async () => {
    const clock = handClock();
    const line = await openLine(clock);
    const ear = listenOn(line);
    line.tick(clock.now);
    expect(ear.pcm).toEqual([]);
    expect(line.stats()).toEqual({});
  });

  test.each([
    ["inactive", 0],
    ["recvonly", 0],
    ["sendonly", 10],
    ["sendrecv", 10],
  ] as const)("with direction %s it sends %i packets in ten frames", async (direction, count) => {
    const clock = handClock();
    const line = await openLine(clock);
    line.connect(agreed((await openStranger()).port, { direction }));
    for (let i = 0; i < 10; i++) line.tick((clock.now += 20));
    expect(line.stats().packetsSent).toBe(count);
  });

  test("after a hold the stream begins anew with a marker, and the gap is not counted", async () => {
    const clock = handClock();
    const line = await openLine(clock);
    const peer = await openStranger();
    line.connect(agreed(peer.port));
    line.tick((clock.now += 20));
    line.changeMedia(agreed(peer.port, { direction: "inactive" }));
    for (let i = 0; i < 50; i++) line.tick((clock.now += 20));
    line.changeMedia(agreed(peer.port));
    line.tick((clock.now += 20));
    line.tick((clock.now += 20));
    await turnsUntil(() => peer.heard.length === 3);
    expect(peer.heard.map((packet) => packet[1]! >> 7)).toEqual([1, 1, 0]);
    expect(peer.heard[1]!.readUInt32BE(4) - peer.heard[0]!.readUInt32BE(4)).toBe(51 * 160);
    expect(line.stats().maxSendGapMs).toBe(20);
  });

  test("the recorder gets what was said and what was heard, frame by frame", async () => {
    const clock = handClock();
    const frames: [number, number][] = [];
    let closed = 0;
    const recorder: Recorder = {
      write: (agent, callee) => void frames.push([rms(agent), rms(callee)]),
      recordedMs: 0,
      failure: undefined,
      close: async () => void closed++,
    };
    const a = await openLine(clock, { recorder });
    const b = await openLine(clock);
    a.connect(agreed(b.local.audioPort));
    b.connect(agreed(a.local.audioPort));
    a.play(1, sineTone([500], 200));
    await exchange(clock, [a, b], 20);
    b.play(1, sineTone([500], 200));
    await exchange(clock, [a, b], 20);
    a.skip(5);
    expect(frames).toHaveLength(45);
    expect(frames.slice(1, 9).every(([said, heard]) => said > 1000 && heard < 20)).toBe(true);
    expect(frames.slice(25, 29).every(([said, heard]) => said < 20 && heard > 1000)).toBe(true);
    expect(frames.slice(40)).toEqual(Array.from({ length: 5 }, () => [0, 0]));
    await a.close();
    await a.close();
    expect(closed).toBe(1);
    a.tick(clock.now);
    expect(frames).toHaveLength(45);
  });

  test("at the end it says goodbye by RTCP", async () => {
    const clock = handClock();
    const line = await openLine(clock);
    const rtcp = await openStranger();
    line.connect(
      agreed(rtcp.port, { remote: { address: "127.0.0.1", port: rtcp.port, rtcpPort: rtcp.port } }),
    );
    line.tick(clock.now);
    await line.close();
    await turnsUntil(() => rtcp.heard.length === 2);
    const types = [];
    const compound = rtcp.heard[1]!;
    for (let at = 0; at < compound.length; at += 4 + 4 * compound.readUInt16BE(at + 2))
      types.push(compound[at + 1]);
    expect(types).toEqual([200, 202, 203]);
  });

  test("its ports are free at once, or held by the drain", async () => {
    const clock = handClock();
    const line = await openLine(clock);
    const { audioPort } = line.local;
    await line.close();
    const again = await openLine(clock, { portRange: { from: audioPort, to: audioPort + 1 } });
    expect(again.local.audioPort).toBe(audioPort);
    const held: unknown[] = [];
    const drained = await openLine(clock, {
      drain: {
        add: (socket) => {
          held.push(socket);
          socket.close();
        },
        size: 0,
        close: () => undefined,
      },
    });
    await drained.close();
    expect(held).toHaveLength(2);
    expect(judged(drained)).toBe(0);
  });
});
