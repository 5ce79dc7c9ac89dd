import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { JitterBuffer, type FrameOrigin } from "../../src/media/jitter-buffer.ts";
import { sineTone } from "../../src/media/tone-generator.ts";
import { joined, rms, seeded, shareAt } from "./signals.ts";

const firstTimestamp = 2 ** 32 - 1000; // wraps soon

/** Pulls a frame each 20 ms and pushes each packet at its arrival; packets are 20 ms of `soundOf(index)`. */
function play(
  arrivals: readonly { readonly index: number; readonly at: number }[],
  soundOf: (index: number) => Int16Array,
  frames: number,
): { buffer: JitterBuffer; pcm: Int16Array; origins: FrameOrigin[]; depths: number[] } {
  const buffer = new JitterBuffer();
  const waiting = [...arrivals].sort((a, b) => a.at - b.at);
  const pcm = new Int16Array(frames * 160);
  const origins: FrameOrigin[] = [];
  const depths: number[] = [];
  for (let frame = 0; frame < frames; frame++) {
    while (waiting[0] !== undefined && waiting[0].at <= frame * 20) {
      const { index } = waiting.shift()!;
      const sound = soundOf(index);
      buffer.push((65_530 + index) & 0xffff, (firstTimestamp + index * 160) >>> 0, sound, sound.length);
    }
    origins.push(buffer.pull(pcm.subarray(frame * 160, (frame + 1) * 160)));
    depths.push(buffer.depthMs);
  }
  return { buffer, pcm, origins, depths };
}

const steady = (count: number) =>
  Array.from({ length: count }, (_, index) => ({ index, at: index * 20 + 5 }));
/** Each packet is one constant level, so that a sample tells which packet it is from. */
const numbered = (index: number) => new Int16Array(160).fill(100 + index);

describe("the jitter buffer", () => {
  test("what comes in time comes out whole, once and in order", () => {
    const sound = sineTone([440], 2000);
    const { pcm, buffer } = play(steady(100), (i) => sound.subarray(i * 160, (i + 1) * 160), 110);
    const start = pcm.findIndex((sample) => sample !== 0);
    const lead = sound.findIndex((sample) => sample !== 0);
    expect((start - lead) / 8).toBeLessThanOrEqual(60);
    expect(pcm.subarray(start - lead, start - lead + 90 * 160)).toEqual(sound.subarray(0, 90 * 160));
    expect(buffer).toMatchObject({ late: 0, duplicates: 0 });
  });

  test("whatever the network does, packets come out in order, none twice, and the delay stays bounded", () => {
    const network = fc.array(
      fc.record({ lost: fc.nat({ max: 9 }), twice: fc.nat({ max: 9 }), delay: fc.nat({ max: 250 }) }),
      { minLength: 1, maxLength: 150 },
    );
    fc.assert(
      fc.property(network, (fates) => {
        const arrivals = fates.flatMap(({ lost, twice, delay }, index) => {
          const at = index * 20 + delay;
          if (lost === 0) return [];
          return twice === 0
            ? [
                { index, at },
                { index, at: at + 30 },
              ]
            : [{ index, at }];
        });
        const { pcm, origins, depths } = play(arrivals, numbered, fates.length + 40);
        const heard = origins.flatMap((origin, i) => (origin === "heard" ? [pcm[i * 160 + 159]! - 100] : []));
        heard.forEach((index, i) => expect(index).toBeGreaterThan(heard[i - 1] ?? -1));
        expect(Math.max(...depths)).toBeLessThanOrEqual(500);
      }),
      { numRuns: 300 },
    );
  });

  test("numbers without any sense neither break it nor make it hoard sound", () => {
    const number = fc.oneof(
      fc.nat({ max: 5000 }),
      fc.integer({ min: 2 ** 32 - 5000, max: 2 ** 32 - 1 }),
      fc.nat(),
    );
    const packet = fc.record({
      sequence: fc.nat({ max: 65_535 }),
      timestamp: number,
      length: fc.nat({ max: 5000 }),
    });
    const sound = new Int16Array(5000).fill(32_767);
    fc.assert(
      fc.property(fc.array(packet, { maxLength: 120 }), (packets) => {
        const buffer = new JitterBuffer();
        const frame = new Int16Array(160);
        for (const { sequence, timestamp, length } of packets) {
          buffer.push(sequence, timestamp, sound, length);
          buffer.pull(frame);
          expect(buffer.depthMs).toBeLessThanOrEqual(500);
          expect(Math.min(...frame)).toBeGreaterThanOrEqual(0); // nothing overflowed
        }
      }),
      { numRuns: 150 },
    );
  });

  test("packets out of order within the delay are put right", () => {
    const arrivals = steady(50).map((each) => (each.index % 7 === 3 ? { ...each, at: each.at + 25 } : each));
    const { pcm, origins, buffer } = play(arrivals, numbered, 60);
    const heard = origins.flatMap((origin, i) => (origin === "heard" ? [pcm[i * 160 + 159]] : []));
    expect(heard).toEqual(Array.from({ length: 50 }, (_, i) => 100 + i));
    expect(buffer.late).toBe(0);
  });

  test("packets that come twice are dropped and counted", () => {
    const { buffer, origins } = play(
      [...steady(50), ...steady(50).map((a) => ({ ...a, at: a.at + 1 }))],
      numbered,
      60,
    );
    expect(buffer.duplicates).toBe(50);
    expect(origins.filter((origin) => origin === "heard")).toHaveLength(50);
  });

  test("a lost packet is filled with sound of the same pitch", () => {
    const sound = sineTone([200], 2000);
    const arrivals = steady(100).filter(({ index }) => index % 10 !== 6);
    const { pcm, origins, buffer } = play(arrivals, (i) => sound.subarray(i * 160, (i + 1) * 160), 100);
    const filled = origins.flatMap((origin, i) => (origin === "concealed" && i < 95 ? [i] : []));
    expect(filled.length).toBeGreaterThanOrEqual(8);
    for (const i of filled) {
      const frame = pcm.subarray(i * 160, (i + 1) * 160);
      expect(shareAt(frame, 200)).toBeGreaterThan(0.95);
      expect(rms(frame) / rms(sound)).toBeGreaterThan(0.7);
    }
    expect(buffer.concealedMs).toBeGreaterThanOrEqual(160);
  });

  test("when the peer falls silent the sound fades within 60 ms and then there is silence", () => {
    const sound = sineTone([300], 1000);
    const { pcm, origins } = play(steady(50), (i) => sound.subarray(i * 160, (i + 1) * 160), 80);
    const last = origins.lastIndexOf("heard");
    expect(origins.slice(last + 1, last + 4)).toEqual(["concealed", "concealed", "concealed"]);
    expect(new Set(origins.slice(last + 5))).toEqual(new Set(["silent"]));
    expect(rms(pcm.subarray((last + 5) * 160))).toBe(0);
  });

  test("a stall of the network costs delay but no sound, and the delay is given back", () => {
    const stalled = steady(600).map((each) =>
      each.index >= 100 && each.index < 110 ? { ...each, at: 2205 } : each,
    );
    const quiet = (index: number) => new Int16Array(160).fill(index % 2 === 0 ? 90 : 91);
    const { origins, depths } = play(stalled, quiet, 600);
    expect(origins.slice(90, 130).filter((origin) => origin === "heard").length).toBeLessThan(35);
    expect(Math.max(...depths.slice(110, 120))).toBeGreaterThan(150);
    expect(Math.max(...depths.slice(-50))).toBeLessThanOrEqual(60);
    expect(origins.filter((origin) => origin === "heard").length).toBeGreaterThan(570);
  });

  test("with steady jitter the buffer learns a delay at which nearly nothing is late", () => {
    const random = seeded(3);
    const arrivals = steady(1500).map((each) => ({ ...each, at: each.at + random() * 80 }));
    const { buffer, origins } = play(arrivals, numbered, 1500);
    expect(buffer.late).toBeLessThan(15);
    expect(origins.slice(500).filter((origin) => origin !== "heard").length).toBeLessThan(30);
  });

  test("a pause with a gap in the timestamps keeps the delay", () => {
    const arrivals = steady(150).filter(({ index }) => index < 50 || index >= 100);
    const { origins, depths, buffer } = play(arrivals, numbered, 150);
    expect(origins.slice(60, 95).every((origin) => origin === "silent")).toBe(true);
    expect(origins.slice(105, 145).every((origin) => origin === "heard")).toBe(true);
    expect(Math.max(...depths)).toBeLessThanOrEqual(60);
    expect(buffer.late).toBe(0);
  });

  test("packets of 10, 30 and 60 ms are played alike", () => {
    for (const ms of [10, 30, 60]) {
      const length = ms * 8;
      const sound = sineTone([500], 2400);
      const buffer = new JitterBuffer();
      const parts: Int16Array[] = [];
      let sent = 0;
      for (let now = 0; now < 2000; now += 10) {
        if (now % ms === 0)
          buffer.push(sent, sent * length, sound.subarray(sent * length, (sent + 1) * length), length);
        if (now % ms === 0) sent++;
        if (now % 20 === 0) {
          const frame = new Int16Array(160);
          buffer.pull(frame);
          parts.push(frame);
        }
      }
      expect(shareAt(joined(...parts.slice(20)), 500), `${ms} ms`).toBeGreaterThan(0.99);
    }
  });

  test("a jump of the timestamps by hours starts anew instead of staying silent", () => {
    const buffer = new JitterBuffer();
    const frame = new Int16Array(160);
    for (let i = 0; i < 20; i++) {
      buffer.push(i, i * 160, numbered(i), 160);
      buffer.pull(frame);
    }
    const origins: FrameOrigin[] = [];
    for (let i = 20; i < 40; i++) {
      buffer.push(i, (i * 160 + 0x9000_0000) >>> 0, numbered(i), 160);
      origins.push(buffer.pull(frame));
    }
    expect(origins.slice(6).every((origin) => origin === "heard")).toBe(true);
  });

  test("after a reset another source may begin anywhere", () => {
    const { buffer } = play(steady(20), numbered, 20);
    buffer.reset();
    const frame = new Int16Array(160);
    for (let i = 0; i < 10; i++) {
      buffer.push(i, i * 160, numbered(i), 160);
      buffer.pull(frame);
    }
    expect(frame[159]).toBe(107);
  });
});
