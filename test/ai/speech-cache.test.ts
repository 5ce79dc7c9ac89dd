import { describe, expect, test } from "vitest";
import { createSpeechCache } from "../../src/ai/speech-cache.ts";

const key = (text: string, voice = "1") => ({ engine: "espeak", voice, lang: "es", speed: 1, text });

describe("the cache of rendered speech", () => {
  test("gives back what was kept under the same key only", () => {
    const cache = createSpeechCache();
    const pcm = new Int16Array([1, 2, 3]);
    cache.keep(key("hola"), pcm);
    expect(cache.find(key("hola"))).toBe(pcm);
    expect(cache.find(key("hola", "2"))).toBeUndefined();
    expect(cache.find(key("adiós"))).toBeUndefined();
  });

  test("the least recently used sound goes first, and the bytes stay within the bound", () => {
    const cache = createSpeechCache(1000);
    for (const text of ["a", "b", "c", "d"]) cache.keep(key(text), new Int16Array(120));
    cache.find(key("a"));
    cache.keep(key("e"), new Int16Array(120));
    expect(["a", "b", "c", "d", "e"].filter((text) => cache.find(key(text)) !== undefined)).toEqual([
      "a",
      "c",
      "d",
      "e",
    ]);
    expect(cache.bytes).toBe(960);
  });

  test("a sound that would empty the cache is not kept", () => {
    const cache = createSpeechCache(1000);
    cache.keep(key("long"), new Int16Array(126));
    expect(cache.find(key("long"))).toBeUndefined();
    expect(cache.bytes).toBe(0);
  });

  test("keeping a text again replaces it", () => {
    const cache = createSpeechCache(1000);
    cache.keep(key("a"), new Int16Array(100));
    cache.keep(key("a"), new Int16Array(50));
    expect(cache.bytes).toBe(100);
  });
});
