import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { encodeWav, readWavHeader, wavHeader, wavHeaderBytes } from "../../src/media/wav.ts";

describe("WAV files", () => {
  test("a file is a header and the samples, little-endian", () => {
    const file = encodeWav(Int16Array.of(1, -2), { sampleRateHz: 8000, channels: 2 });
    expect(Buffer.from(file).toString("latin1", 0, 4)).toBe("RIFF");
    expect([...file.subarray(wavHeaderBytes)]).toEqual([1, 0, 0xfe, 0xff]);
    expect(new DataView(file.buffer).getUint32(4, true)).toBe(file.length - 8);
  });

  test("a header is read as it was written", () => {
    const format = { sampleRateHz: 8000, channels: 2 };
    expect(readWavHeader(wavHeader(format, 640))).toEqual({
      ok: true,
      value: { ...format, dataOffset: wavHeaderBytes, dataBytes: 640 },
    });
  });

  test("chunks of other kinds are stepped over, odd ones with their padding", () => {
    const plain = encodeWav(Int16Array.of(5), { sampleRateHz: 16_000, channels: 1 });
    const extra = [...Buffer.from("LIST"), 3, 0, 0, 0, 1, 2, 3, 0];
    const file = Uint8Array.from([...plain.subarray(0, 36), ...extra, ...plain.subarray(36)]);
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
