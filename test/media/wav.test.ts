import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { readWavHeader, wavHeader, wavHeaderBytes } from "../../src/media/wav.ts";

describe("WAV files", () => {
  test("a header tells players all they need", () => {
    const header = Buffer.from(wavHeader({ sampleRateHz: 8000, channels: 2 }, 640));
    expect(header).toHaveLength(wavHeaderBytes);
    expect([0, 8, 12, 36].map((at) => header.toString("latin1", at, at + 4))).toEqual([
      "RIFF",
      "WAVE",
      "fmt ",
      "data",
    ]);
    expect(header.readUInt32LE(4)).toBe(36 + 640);
    expect([header.readUInt16LE(20), header.readUInt16LE(22), header.readUInt32LE(24)]).toEqual([1, 2, 8000]);
    expect([header.readUInt32LE(28), header.readUInt16LE(32), header.readUInt16LE(34)]).toEqual([
      32_000, 4, 16,
    ]);
    expect(header.readUInt32LE(40)).toBe(640);
  });

  test("a header is read as it was written", () => {
    const format = { sampleRateHz: 8000, channels: 2 };
    expect(readWavHeader(wavHeader(format, 640))).toEqual({
      ok: true,
      value: { ...format, dataOffset: wavHeaderBytes, dataBytes: 640 },
    });
  });

  test("chunks of other kinds are stepped over, odd ones with their padding", () => {
    const plain = [...wavHeader({ sampleRateHz: 16_000, channels: 1 }, 2), 5, 0];
    const extra = [...Buffer.from("LIST"), 3, 0, 0, 0, 1, 2, 3, 0];
    const file = Uint8Array.from([...plain.slice(0, 36), ...extra, ...plain.slice(36)]);
    const read = readWavHeader(file);
    expect(read).toMatchObject({ ok: true, value: { dataOffset: 56, dataBytes: 2, sampleRateHz: 16_000 } });
  });

  test("what cannot be read is refused with a reason", () => {
    const eightBit = wavHeader({ sampleRateHz: 8000, channels: 1 }, 0);
    eightBit[34] = 8;
    expect(readWavHeader(eightBit)).toMatchObject({ ok: false, problem: { where: "fmt" } });
    expect(readWavHeader(Buffer.from("not a sound"))).toMatchObject({ ok: false });
    expect(readWavHeader(wavHeader({ sampleRateHz: 8000, channels: 0 }, 0))).toMatchObject({ ok: false });
  });

  test("any octets at all are read without harm", () => {
    const good = [...wavHeader({ sampleRateHz: 8000, channels: 1 }, 4)];
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 80 }), fc.nat({ max: 43 }), (octets, at) => {
        const file = Uint8Array.from(good);
        file.set(octets.subarray(0, 44 - at), at);
        for (const each of [file.subarray(0, 44 - ((octets[0] ?? 0) % 44)), octets]) {
          const read = readWavHeader(each);
          expect(!read.ok || read.value.dataOffset <= each.length).toBe(true);
        }
      }),
      { numRuns: 1000 },
    );
  });
});
