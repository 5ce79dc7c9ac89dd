import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { cutText, escapeForSsml } from "../../src/ai/speech-text.ts";

describe("cutting a long text", () => {
  test("a short text stays whole", () => {
    expect(cutText("Hola. ¿Qué tal?")).toEqual([{ text: "Hola. ¿Qué tal?", offset: 0 }]);
  });

  test("pieces end after a sentence when one fits", () => {
    const pieces = cutText("Uno dos tres. Cuatro cinco. Seis siete ocho nueve.", 30);
    expect(pieces.map((piece) => piece.text)).toEqual([
      "Uno dos tres. Cuatro cinco. ",
      "Seis siete ocho nueve.",
    ]);
  });

  test("a sentence that is too long is cut after a clause, then after a word, then anywhere but in a character", () => {
    expect(cutText("aaaa bbbb, cccc dddd eeee", 20).map((piece) => piece.text)).toEqual([
      "aaaa bbbb, ",
      "cccc dddd eeee",
    ]);
    expect(cutText("aaaa bbbb cccc", 10).map((piece) => piece.text)).toEqual(["aaaa bbbb ", "cccc"]);
    expect(cutText("😀😀😀😀", 3).map((piece) => piece.text)).toEqual(["😀", "😀", "😀", "😀"]);
  });

  test("blank text has no pieces", () => {
    expect(cutText(" \n ")).toEqual([]);
  });

  test("pieces are stretches of the text, in order, within the limit, and lose nothing but blanks", () => {
    const words = fc.array(
      fc.oneof(fc.string({ unit: "grapheme", maxLength: 12 }), fc.constantFrom(". ", ", ", " ", "😀")),
    );
    fc.assert(
      fc.property(words, fc.integer({ min: 4, max: 60 }), (parts, limit) => {
        const text = parts.join("");
        const pieces = cutText(text, limit);
        let rest = text;
        for (const piece of pieces.toReversed()) {
          expect(piece.text.length).toBeLessThanOrEqual(limit);
          expect(text.slice(piece.offset, piece.offset + piece.text.length)).toBe(piece.text);
          expect(rest.slice(piece.offset + piece.text.length).trim()).toBe("");
          rest = rest.slice(0, piece.offset);
        }
        expect(rest.trim()).toBe("");
      }),
    );
  });
});

describe("escaping", () => {
  test("markup, phoneme brackets and control characters lose their meaning", () => {
    expect(escapeForSsml("a <b> & c").text).toBe("a &lt;b&gt; &amp; c");
    expect(escapeForSsml("x[[h@l'oU]]").text).toBe("x[ [h@l'oU]]");
    expect(escapeForSsml("a\0b\u0007c\nd").text).toBe("a b c\nd");
    expect(escapeForSsml("a\ud800b").text).toBe("a\ufffdb");
  });

  test("every code point knows where it comes from", () => {
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom("a", "<", "&", "[", "😀", "ñ") }), (text) => {
        const escaped = escapeForSsml(text);
        const points = Array.from(escaped.text);
        expect(escaped.origins).toHaveLength(points.length + 1);
        expect(escaped.origins.at(-1)).toBe(text.length);
        for (const [index, point] of points.entries()) {
          const origin = String.fromCodePoint(text.codePointAt(escaped.origins[index]!)!);
          if (point === "a" && !"&<".includes(origin)) expect(origin).toBe("a");
          if (point === "😀" || point === "ñ") expect(origin).toBe(point);
        }
      }),
    );
  });
});
