import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { ReplyReader, type SpeechReply } from "../../src/ai/speech-protocol.ts";

function read(chunks: readonly Buffer[]): { reply: SpeechReply; pcm: number[] }[] {
  const got: { reply: SpeechReply; pcm: number[] }[] = [];
  const reader = new ReplyReader((reply, pcm) => got.push({ reply, pcm: [...pcm] }));
  for (const chunk of chunks) reader.push(chunk);
  return got;
}

const line = (reply: SpeechReply): Buffer => Buffer.from(`${JSON.stringify(reply)}\n`);

describe("reading the speech process", () => {
  test("replies and samples are the same however the pipe cuts them", () => {
    const pcm = new Int16Array([10, 13, -1, 32_767, 2570]); // 10 and 2570 hold newlines
    const stream = Buffer.concat([
      line({ type: "ready", engine: "ñ" }),
      line({ type: "audio", id: 1, bytes: pcm.byteLength, words: [{ atMs: 0, from: 0, to: 4 }] }),
      Buffer.from(pcm.buffer),
      line({ type: "audio", id: 1, bytes: 0, words: [] }),
      line({ type: "done", id: 1 }),
    ]);
    const whole = read([stream]);
    expect(whole.map(({ reply }) => reply.type)).toEqual(["ready", "audio", "audio", "done"]);
    expect(whole[1]?.pcm).toEqual([...pcm]);
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 0, max: stream.length }), { maxLength: 20 }), (cuts) => {
        const places = [0, ...cuts.toSorted((a, b) => a - b), stream.length];
        const chunks = places.slice(1).map((end, i) => stream.subarray(places[i], end));
        expect(read(chunks)).toEqual(whole);
      }),
    );
  });

  test.each([
    "\n",
    "null\n",
    '{"type":"song"}\n',
    '{"type":"audio","bytes":-2,"words":[]}\n',
    "x".repeat(70_000),
  ])("what is no reply is refused (%#)", (text) => {
    expect(() => read([Buffer.from(text)])).toThrow("said something unknown");
  });
});
