import { expect, test } from "vitest";
import { languageVoice, voiceShape } from "../../src/ai/espeak-voices.ts";

test.each([
  ["ES", "es", true],
  ["es-MX", "es-419", true],
  ["es_ES", "es", true],
  ["en", "en-us", true],
  ["en-GB", "en", true],
  ["fr-FR", "fr", true],
  ["pt-PT", "pt", true],
  ["pt-br", "pt-br", true],
  ["de-AT", "de", true],
  ["zh-Hant-TW", "en-us", false],
  ["gl", "es", false],
  ["constructor", "en-us", false],
  ["", "en-us", false],
])("%j is read by %s", (tag, name, exact) => {
  expect(languageVoice(tag)).toEqual({ name, exact });
});

test("an unknown voice is the default one", () => {
  expect(voiceShape("8")).toEqual(voiceShape("6"));
  expect(voiceShape("toString")).toEqual(voiceShape("6"));
});
