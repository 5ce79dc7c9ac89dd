import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { createRtpHeader, readRtp, rtpHeaderBytes, writeRtpHeader } from "../../src/media/rtp.ts";

describe("RTP packets", () => {
  test("a header comes back as it was written", () => {
    fc.assert(
      fc.property(
        fc.record({
          payloadType: fc.integer({ min: 0, max: 63 }),
          marker: fc.boolean(),
          sequence: fc.integer({ min: 0, max: 65_535 }),
          timestamp: fc.integer({ min: 0, max: 2 ** 32 - 1 }),
          ssrc: fc.integer({ min: 0, max: 2 ** 32 - 1 }),
        }),
        fc.integer({ min: 0, max: 320 }),
        (fields, length) => {
          const packet = new Uint8Array(rtpHeaderBytes + length);
          writeRtpHeader(packet, { ...fields, offset: 0, length: 0 });
          const header = createRtpHeader();
          expect(readRtp(packet, header)).toBe(true);
          expect(header).toEqual({ ...fields, offset: rtpHeaderBytes, length });
        },
      ),
    );
  });

  test("any octets at all are read without harm, and a payload lies inside its packet", () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 120 }), fc.boolean(), (octets, versionTwo) => {
        if (versionTwo && octets.length > 0) octets[0] = 0x80 | (octets[0]! & 0x3f);
        const header = createRtpHeader();
        if (!readRtp(octets, header)) return;
        expect(header.offset).toBeGreaterThanOrEqual(rtpHeaderBytes);
        expect(header.length).toBeGreaterThanOrEqual(0);
        expect(header.offset + header.length).toBeLessThanOrEqual(octets.length);
      }),
      { numRuns: 2000 },
    );
  });

  test("contributing sources, extension and padding are stepped over", () => {
    const packet = Uint8Array.from(
      [
        [0xb2, 0x80, 0, 1, 0, 0, 0, 2, 0, 0, 0, 3], // padding, extension, two sources
        [0, 0, 0, 4, 0, 0, 0, 5],
        [0xbe, 0xde, 0, 1, 1, 2, 3, 4],
        [7, 8, 9],
        [0, 0, 3],
      ].flat(),
    );
    const header = createRtpHeader();
    expect(readRtp(packet, header)).toBe(true);
    expect(Array.from(packet.subarray(header.offset, header.offset + header.length))).toEqual([7, 8, 9]);
    expect(header).toMatchObject({ marker: true, payloadType: 0, sequence: 1, timestamp: 2, ssrc: 3 });
  });

  test.each([
    ["a packet shorter than a header", [0x80, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0]],
    ["another version", [0x40, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0, 3]],
    ["RTCP", [0x80, 200, 0, 1, 0, 0, 0, 2, 0, 0, 0, 3]],
    ["more padding than payload", [0xa0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0, 3, 9]],
    ["no padding count", [0xa0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0, 3, 0]],
    ["more sources than octets", [0x8f, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0, 3, 1, 2, 3, 4]],
    [
      "an extension that ends after the packet",
      [0x90, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0, 3, 0, 0, 0, 2, 1, 1, 1, 1],
    ],
  ])("%s is refused and the header left alone", (_name, octets) => {
    const header = createRtpHeader();
    expect(readRtp(Uint8Array.from(octets), header)).toBe(false);
    expect(header).toEqual(createRtpHeader());
  });
});
