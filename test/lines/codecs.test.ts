import { describe, expect, test } from "vitest";
import type { AudioLine } from "../../src/lines/audio-line.ts";
import { encodeG711 } from "../../src/media/g711.ts";
import { G722Encoder } from "../../src/media/g722.ts";
import { sineTone } from "../../src/media/tone-generator.ts";
import { joined, rms, shareAt } from "../media/signals.ts";
import { agreed, exchange, handClock, openLine, openStranger, rtpPacket, send } from "./hand-driven.ts";

interface Heard {
  readonly pcm: Int16Array[];
  readonly origins: string[];
}

function listenOn(line: AudioLine): Heard {
  const heard: Heard = { pcm: [], origins: [] };
  line.onFrame = (pcm, _speech, info) => {
    heard.pcm.push(pcm.slice());
    heard.origins.push(info.origin);
  };
  return heard;
}

async function lineAndPeer(changes: Parameters<typeof agreed>[1] = {}) {
  const clock = handClock();
  const line = await openLine(clock);
  const peer = await openStranger();
  line.connect(agreed(peer.port, changes));
  return { clock, line, peer, heard: listenOn(line), tick: () => line.tick((clock.now += 20)) };
}

describe("a line with G.722", () => {
  test("is heard by another one, in its level and frequency", async () => {
    const clock = handClock();
    const a = await openLine(clock);
    const b = await openLine(clock);
    a.connect(agreed(b.local.audioPort, { codec: "G722", payloadType: 9 }));
    b.connect(agreed(a.local.audioPort, { codec: "G722", payloadType: 9 }));
    const heard = listenOn(b);
    a.play(1, sineTone([700], 1000));
    await exchange(clock, [a, b], 55);
    const sound = joined(...heard.pcm).subarray(160 * 6, 160 * 48);
    expect(shareAt(sound, 700)).toBeGreaterThan(0.99);
    expect(20 * Math.log10(rms(sound) / rms(sineTone([700], 1000)))).toBeCloseTo(0, 0);
    expect(b.stats()).toMatchObject({ packetsRejected: 0, concealedMs: 0 });
  });

  test("packets that come twice are heard once", async () => {
    const { line, peer, heard, tick } = await lineAndPeer({ codec: "G722", payloadType: 9 });
    const encoder = new G722Encoder();
    const wide = Int16Array.from(
      { length: 320 * 50 },
      (_, i) => 8000 * Math.sin((2 * Math.PI * 700 * i) / 16_000),
    );
    for (let i = 0; i < 50; i++) {
      const packet = rtpPacket({ payloadType: 9, sequence: i, timestamp: i * 160 });
      encoder.encode(wide.subarray(320 * i, 320 * (i + 1)), packet, 12);
      await send(peer, line, [packet, packet]);
      tick();
    }
    expect(shareAt(joined(...heard.pcm).subarray(160 * 8), 700)).toBeGreaterThan(0.99);
    expect(line.stats()).toMatchObject({ packetsDuplicated: 50 });
  });

  test("it may change to G.711 in the call, and back", async () => {
    const clock = handClock();
    const a = await openLine(clock);
    const b = await openLine(clock);
    const heard = listenOn(b);
    a.play(1, sineTone([700], 3000));
    for (const [codec, payloadType] of [
      ["PCMA", 8],
      ["G722", 9],
      ["PCMU", 0],
      ["G722", 9],
    ] as const) {
      for (const [one, two] of [
        [a, b],
        [b, a],
      ] as const)
        one.connect(agreed(two.local.audioPort, { codec, payloadType }));
      await exchange(clock, [a, b], 30);
      expect(shareAt(joined(...heard.pcm.slice(-20)), 700)).toBeGreaterThan(0.98);
    }
  });
});

describe("comfort noise", () => {
  const voice = (sequence: number): Uint8Array => {
    const packet = rtpPacket({ sequence, timestamp: sequence * 160 });
    encodeG711("PCMA", sineTone([500], 60).subarray(160, 320), packet, 12);
    return packet;
  };
  const noise = (sequence: number, at: number, level = 40): Uint8Array => {
    const packet = rtpPacket({ payloadType: 13, sequence, timestamp: at * 160 }, 127, 3);
    packet[12] = level;
    return packet;
  };

  test("fills the silence that a peer suppresses, at the level it tells, and is no loss", async () => {
    const { line, peer, heard, tick } = await lineAndPeer();
    for (let i = 0; i < 20; i++) {
      await send(peer, line, [voice(i)]);
      tick();
    }
    await send(peer, line, [noise(20, 20)]);
    for (let i = 0; i < 50; i++) tick();
    const gap = joined(...heard.pcm.slice(30, 70));
    expect(20 * Math.log10(rms(gap) / 32_767)).toBeCloseTo(-40, 0);
    expect(new Set(heard.origins.slice(30, 70))).toEqual(new Set(["silent"]));
    // talks again, 50 frames of its clock later
    for (let i = 0; i < 20; i++) {
      const packet = voice(21 + i);
      new DataView(packet.buffer).setUint32(4, (70 + i) * 160);
      await send(peer, line, [packet]);
      tick();
    }
    expect(shareAt(joined(...heard.pcm.slice(-10)), 500)).toBeGreaterThan(0.99);
    expect(line.stats()).toMatchObject({
      packetsLost: 0,
      concealedMs: 0,
      packetsRejected: 0,
      packetsLate: 0,
    });
  });

  test("changes with a new description, and does not replace the concealment of a loss", async () => {
    const { line, peer, heard, tick } = await lineAndPeer();
    await send(peer, line, [noise(0, 0, 60)]);
    for (let i = 0; i < 20; i++) tick();
    await send(peer, line, [noise(1, 20, 30)]);
    for (let i = 0; i < 20; i++) tick();
    const level = (from: number) =>
      20 * Math.log10(rms(joined(...heard.pcm.slice(from, from + 18))) / 32_767);
    expect(level(1)).toBeCloseTo(-60, 0);
    expect(level(21)).toBeCloseTo(-30, 0);
    for (let i = 0; i < 20; i++) {
      const packet = voice(2 + i);
      new DataView(packet.buffer).setUint32(4, (40 + i) * 160);
      if (i < 10 || i > 12) await send(peer, line, [packet]);
      tick();
    }
    expect(heard.origins.slice(40)).toContain("concealed");
    expect(line.stats().packetsLost).toBe(3);
  });

  test("keeps a silent peer's call alive", async () => {
    const { clock, line, peer, tick } = await lineAndPeer();
    const timeouts: boolean[] = [];
    line.onMediaTimeout = (first) => timeouts.push(first);
    for (let i = 0; i < 5; i++) {
      await send(peer, line, [noise(i, i * 500)]);
      clock.now += 10_000;
      tick();
    }
    expect(timeouts).toEqual([]);
  });
});

describe("the estimated quality of what is heard", () => {
  test.each([
    [0, 4.3, 4.42],
    [10, 3.2, 3.6],
  ])("with a loss of %i %% lies between %d and %d", async (percent, least, most) => {
    const { line, peer, tick } = await lineAndPeer();
    expect(line.stats().mos).toBeUndefined();
    for (let i = 0; i < 200; i++) {
      if (percent === 0 || i % 10 > 0)
        await send(peer, line, [rtpPacket({ sequence: i, timestamp: i * 160 })]);
      tick();
    }
    const { mos } = line.stats();
    expect(mos).toBeGreaterThan(least);
    expect(mos).toBeLessThan(most);
  });
});
