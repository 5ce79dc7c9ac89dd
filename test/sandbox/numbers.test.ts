import { expect, test } from "vitest";
import { behaviourOf } from "../../src/sandbox/numbers.ts";
import { digitAskedFor, languageOf, wordsOf } from "../../src/sandbox/phrases.ts";
import { murmur } from "../../src/sandbox/voice.ts";

test.each([
  ["+9990000003", { type: "reject", status: 486, q850: 17 }],
  ["+9990000004", { type: "ring" }],
  ["+9990000005", { type: "reject", status: 603 }],
  ["+9990000006", { type: "reject", status: 404, q850: 1 }],
  ["+9990000007", { type: "reject", status: 503, retryAfterS: 2 }],
  ["9990000013", { type: "answer", afterMs: 20_000 }],
  ["+9990000107", { type: "answer", afterMs: 7_000 }],
  ["+9990000500", { type: "answer", afterMs: 1_000 }],
])("%s behaves as its last digits say", (number, reaction) => {
  expect(behaviourOf(number)?.reaction).toMatchObject(reaction);
});

test.each(["+34600111222", "+9990000000", "+9990000015", "+99900000011", "999000001", ""])(
  "nobody lives at %j",
  (number) => {
    expect(behaviourOf(number)).toBeUndefined();
  },
);

test("every language speaks every phrase, and what nobody speaks is answered in English", () => {
  for (const language of ["es", "en", "fr", "de", "it", "pt"]) {
    expect(languageOf(`${language.toUpperCase()}-XX`)).toBe(language);
    expect(wordsOf("hello", language)).not.toBe("");
  }
  expect(languageOf("ja")).toBe("en");
  expect(languageOf(undefined)).toBe("es");
});

test.each([
  ["Para confirmar, pulse 1. Para cambiarla, pulse 2.", "1"],
  ["To confirm, press the 3 key.", "3"],
  ["Bitte drücken Sie die 4.", "4"],
  ["Tapez 5 pour confirmer.", "5"],
  ["Prema il tasto.", undefined],
  ["Prima o 7.", "7"],
  ["¿Le viene bien?", undefined],
])("the digit asked for in %j is found, or none", (text, digit) => {
  expect(digitAskedFor(text)).toBe(digit);
});

test("without a voice the callee murmurs: audible, bounded, longer for more words", () => {
  const short = murmur("Sí.");
  const long = murmur("Sí, de acuerdo, muchas gracias.");
  expect(short.some((sample) => Math.abs(sample) > 1_000)).toBe(true);
  expect(long.every((sample) => Math.abs(sample) < 32_767)).toBe(true);
  expect(long.length).toBeGreaterThan(short.length * 3);
});
