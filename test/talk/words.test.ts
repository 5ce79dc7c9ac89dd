import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { endOfTurnMs, isListening } from "../../src/talk/endpoint.ts";
import { phrasesOf } from "../../src/talk/phrase-book.ts";
import { holdsPhrase, plainWords, secondsText } from "../../src/talk/phrases.ts";
import { sentencesOf } from "../../src/talk/sentence.ts";

describe("sentences", () => {
  it.each([
    [
      "es",
      "Hola. Le llamo del Sr. García, p. ej. mañana. ¿Viene?",
      ["Hola.", "Le llamo del Sr. García, p. ej. mañana.", "¿Viene?"],
    ],
    ["es", "Son las 10.30. Cuesta 3.50 euros. Adiós.", ["Son las 10.30.", "Cuesta 3.50 euros.", "Adiós."]],
    [
      "de",
      "Am 3. Mai um 9 Uhr. Rufen Sie Dr. Müller an, z. B. morgen. Danke!",
      ["Am 3. Mai um 9 Uhr.", "Rufen Sie Dr. Müller an, z. B. morgen.", "Danke!"],
    ],
    ["en", "Press 3. Then wait.", ["Press 3.", "Then wait."]],
    [
      "en",
      'Mr. Smith said no. I agree... maybe. "Really?" Yes.',
      ["Mr. Smith said no.", "I agree... maybe.", '"Really?"', "Yes."],
    ],
    ["en", "Ask J. Pérez. Bye.", ["Ask J. Pérez.", "Bye."]],
    ["fr", "Bonjour M. Durand ! Ça va ?", ["Bonjour M. Durand !", "Ça va ?"]],
    ["it", "Sono la dott. Rossi. Buongiorno.", ["Sono la dott. Rossi.", "Buongiorno."]],
    ["pt", "Fala o Dr. Silva. Bom dia!", ["Fala o Dr. Silva.", "Bom dia!"]],
    ["es", "  ", []],
  ])("%s: %s", (language, text, sentences) => {
    expect(sentencesOf(text, language)).toEqual(sentences);
  });

  it("lose no word, and none is too long to be spoken at one go", () => {
    const word = fc.string({ minLength: 1, maxLength: 12 }).map((text) => text.replace(/\s/g, "") || "x");
    const text = fc.array(fc.oneof(word, fc.constantFrom("fin.", "¿no?", "a,", "Sr.", "3.")), {
      maxLength: 200,
    });
    const property = fc.property(text, fc.constantFrom("es", "de", "xx"), (words, language) => {
      const sentences = sentencesOf(words.join(" "), language);
      expect(sentences.join(" ")).toBe(words.join(" "));
      expect(sentences.every((sentence) => sentence.length <= 280)).toBe(true);
    });
    expect(() => fc.assert(property, { numRuns: 200 })).not.toThrow();
  });

  it("are cut at a comma when they are very long", () => {
    const [first] = sentencesOf(`${"palabra ".repeat(20).trim()}, ${"otra ".repeat(40).trim()}.`, "es");
    expect(first?.endsWith("palabra,")).toBe(true);
  });
});

describe("phrases", () => {
  it.each([
    ["es", "Mire, ¡no me llame más!"],
    ["es", "Por favor dejen de llamarme"],
    ["en", "Please STOP calling me."],
    ["en", "Don’t call me again"],
    ["fr", "Ne m’appelez plus !"],
    ["de", "Rufen Sie mich nicht mehr an."],
    ["it", "Non mi chiami più"],
    ["pt-br", "Não me ligue mais"],
  ])("%s: %s is a wish to be left alone", (language, text) => {
    expect(holdsPhrase(text, phrasesOf(language).stop)).toBe(true);
  });

  it.each([
    ["es", "Llámeme más tarde"],
    ["en", "Stop, I did not get that"],
    ["de", "Rufen Sie mich morgen an"],
    ["fr", "Appelez-moi plus tard"],
  ])("%s: %s is not", (language, text) => {
    expect(holdsPhrase(text, phrasesOf(language).stop)).toBe(false);
  });

  it("are whole words", () => {
    expect(holdsPhrase("nonstop callings", ["stop calling"])).toBe(false);
    expect(plainWords(" ¡Más,  allá! ")).toBe(" mas alla ");
  });

  it.each(["es", "en", "fr", "de", "it", "pt"])("%s: every listened-for phrase can be found", (language) => {
    const { stop, voicemail, menu, hesitations, listening, interrupting } = phrasesOf(language);
    for (const phrase of [...stop, ...voicemail, ...menu, ...hesitations, ...listening, ...interrupting]) {
      expect(plainWords(phrase).trim()).not.toBe("");
      expect(holdsPhrase(`x ${phrase} y`, [phrase])).toBe(true);
    }
  });

  it("exist in English for a language without its own", () => {
    expect(phrasesOf("ja").stillThere).toBe("Are you still there?");
    expect(phrasesOf("PT-BR").stillThere).toBe("Ainda está aí?");
  });

  it("write seconds in the language's way", () => {
    const es = phrasesOf("es");
    expect(es.unheard(secondsText(2300, es))).toBe("[habla 2,3 s, sin transcriptor]");
    const en = phrasesOf("en");
    expect(en.unheard(secondsText(2300, en))).toBe("[speech 2.3 s, no transcriber]");
  });
});

describe("the pause that ends a turn", () => {
  it.each([
    ["Vengo mañana.", 150],
    ["vengo mañana", 300],
    ["el 12", 600],
    ["pues", 1200],
    ["", 700],
  ])("after %j is %i ms", (words, ms) => {
    expect(endOfTurnMs(words, "es")).toBe(ms);
  });

  it("a listener's words are told from others", () => {
    expect(isListening("Sí, sí.", "es")).toBe(true);
    expect(isListening("Sí, espere", "es")).toBe(false);
  });
});
