import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { EventReader } from "../../src/ai/sse.ts";

function read(octets: Uint8Array, cuts: readonly number[] = []): { event: string; data: string }[] {
  const reader = new EventReader();
  const places = [...new Set(cuts.map((cut) => cut % (octets.length + 1)))].sort((a, b) => a - b);
  const found = [];
  let from = 0;
  for (const place of [...places, octets.length]) {
    found.push(...reader.push(octets.subarray(from, place)));
    from = place;
  }
  return found;
}

const encode = (text: string): Uint8Array => new TextEncoder().encode(text);

describe("server-sent events", () => {
  test("come with any line ending, with comments and unknown fields between them", () => {
    const text =
      "\uFEFF: hello\ndata: one\n\nevent: x\r\nid: 7\r\ndata:two\r\ndata: lines\r\n\r\rdata: three\r\rretry: 5\n\n";
    expect(read(encode(text))).toEqual([
      { event: "", data: "one" },
      { event: "x", data: "two\nlines" },
      { event: "", data: "three" },
    ]);
  });

  test("are the same wherever the octets are cut, also inside a character", () => {
    const text = "data: ¿Qué tal? 👋\r\ndata: bien\r\n\r\nevent: é\ndata: 日本\ndata: \n\ndata: end\r\r";
    const whole = read(encode(text));
    expect(whole).toHaveLength(3);
    fc.assert(
      fc.property(fc.array(fc.nat(), { maxLength: 12 }), (cuts) => {
        expect(read(encode(text), cuts)).toEqual(whole);
      }),
    );
  });

  test("that end with the stream are none", () => {
    expect(read(encode("data: whole\n\ndata: half"))).toEqual([{ event: "", data: "whole" }]);
  });

  test("without an end are refused before they fill the memory", () => {
    const reader = new EventReader();
    const chunk = encode("data: ".padEnd(65_536, "x"));
    expect(() => {
      for (let i = 0; i < 32; i++) reader.push(chunk);
    }).toThrow(RangeError);
  });

  test("with endless data lines are refused too", () => {
    const reader = new EventReader();
    const chunk = encode(`data: ${"x".repeat(65_536)}\n`);
    expect(() => {
      for (let i = 0; i < 32; i++) reader.push(chunk);
    }).toThrow(RangeError);
  });
});
