import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { ntpMiddle, readRtcp, rtcpDelayMs, writeBye, writeReport } from "../../src/media/rtcp.ts";

const word = fc.integer({ min: 0, max: 2 ** 32 - 1 });
const block = fc.record({
  ssrc: word,
  fractionLost: fc.integer({ min: 0, max: 255 }),
  lost: fc.integer({ min: -0x80_0000, max: 0x7f_ffff }),
  highestSequence: word,
  jitter: word,
  lastReport: word,
  sinceLastReport: word,
});

describe("RTCP", () => {
  test("a sender's report and name come back as they were written", () => {
    fc.assert(
      fc.property(word, block, fc.string({ maxLength: 60 }), word, (ssrc, reported, cname, packets) => {
        const at = 1_800_000_000_250;
        const sender = { at, rtpTimestamp: 77, packets, octets: 5 };
        const read = readRtcp(writeReport({ ssrc, cname, sender, block: reported }));
        expect(read).toEqual([
          {
            type: "sender-report",
            ssrc,
            ntpMiddle: ntpMiddle(at),
            rtpTimestamp: 77,
            packets,
            octets: 5,
            blocks: [reported],
          },
          { type: "source-description", ssrc, cname },
        ]);
      }),
    );
  });

  test("a receiver without a report still says who it is, and goodbye", () => {
    expect(readRtcp(writeBye({ ssrc: 9, cname: "a" }))).toEqual([
      { type: "receiver-report", ssrc: 9, blocks: [] },
      { type: "source-description", ssrc: 9, cname: "a" },
      { type: "goodbye", ssrcs: [9] },
    ]);
  });

  test("the octets of a sender report are those of RFC 3550 6.4.1", () => {
    const octets = writeReport({
      ssrc: 0x01020304,
      cname: "x",
      sender: { at: 500, rtpTimestamp: 0x0a0b0c0d, packets: 2, octets: 320 },
    });
    expect(Array.from(octets)).toEqual(
      [
        [0x80, 200, 0, 6, 1, 2, 3, 4],
        [0x83, 0xaa, 0x7e, 0x80, 0x80, 0, 0, 0], // 1970-01-01 00:00:00.5 since 1900
        [0x0a, 0x0b, 0x0c, 0x0d, 0, 0, 0, 2, 0, 0, 1, 0x40],
        [0x81, 202, 0, 2, 1, 2, 3, 4, 1, 1, 0x78, 0],
      ].flat(),
    );
  });

  test("the middle of the time wraps every 18 hours and counts 65536ths", () => {
    expect((ntpMiddle(1_000_000_500) - ntpMiddle(1_000_000_000)) | 0).toBe(32_768);
  });

  test("any octets at all are read without harm, also after a good beginning", () => {
    const good = Array.from(writeReport({ ssrc: 1, cname: "name" }));
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 90 }), fc.boolean(), (octets, withStart) => {
        const packet = withStart ? Uint8Array.from([...good, ...octets]) : octets;
        const read = readRtcp(packet);
        expect(read === undefined || read.length > 0).toBe(true);
      }),
      { numRuns: 2000 },
    );
  });

  test("a report cut short at any octet is refused as a whole", () => {
    const whole = writeBye({
      ssrc: 1,
      cname: "name",
      sender: { at: 0, rtpTimestamp: 0, packets: 1, octets: 1 },
    });
    for (let length = 0; length < whole.length; length++) {
      const read = readRtcp(whole.subarray(0, length));
      const isWholePackets = length === 28 || length === 44;
      expect(read !== undefined, `${length} octets`).toBe(isWholePackets);
    }
  });

  test("four octets that claim blocks are not read beyond their end", () => {
    expect(readRtcp(Uint8Array.of(0x81, 201, 0, 1, 0, 0, 0, 1))).toBeUndefined();
    expect(readRtcp(Uint8Array.of(0x80, 200, 0, 0))).toBeUndefined();
  });

  test("reports come about every five seconds, the first sooner, never in step", () => {
    expect(rtcpDelayMs(0, false)).toBeCloseTo(2052, 0);
    expect(rtcpDelayMs(1, false)).toBeCloseTo(6156, 0);
    expect(rtcpDelayMs(0.5, true)).toBeCloseTo(2052, 0);
  });
});
