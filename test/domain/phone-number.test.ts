import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { isE164, isSandboxNumber, normalizePhone } from "../../src/domain/phone-number.ts";

describe("a phone number", () => {
  test.each([
    ["+34600111222", "+34600111222"],
    ["0034600111222", "+34600111222"],
    ["00 34 600-111-222", "+34600111222"],
    [" +34 600 11 12 22 ", "+34600111222"],
    ["+44 (0)20 7946 0018", "+442079460018"],
    ["+1 (415) 555.2671", "+14155552671"],
    ["+999 000 0001", "+9990000001"],
    ["009990000013", "+9990000013"],
  ])("%j is dialled as %s", (text, number) => {
    expect(normalizePhone(text)).toEqual({ ok: true, value: number });
  });

  test.each([
    ["no country prefix", "600111222"],
    ["too short for its country", "+3460011"],
    ["too long for its country", "+346001112223"],
    ["country that is not", "+9991234567"],
    ["sandbox, one digit too many", "+99900000011"],
    ["emergency", "112"],
    ["empty", ""],
    ["words", "call me"],
    ["Arabic digits", "+٣٤٦٠٠١١١٢٢٢"],
    ["full-width digits", "＋３４６００１１１２２２"],
    ["extension", "+34600111222;ext=5"],
    ["extension in words", "+34600111222 ext 5"],
    ["SIP URI", "sip:+34600111222@evil.example"],
    ["SIP parameters", "+34600111222;transport=tcp"],
    ["host", "+34600111222@evil.example"],
    ["second destination", "500&PJSIP/itsp/1416"],
    ["header injection", "+34600111222\r\nContact: <sip:x@y>"],
    ["newline inside", "+34600\n111222"],
    ["NUL", "+34600111222\0"],
    ["two numbers", "+34600111222, +34600111333"],
    ["plus inside", "00+34600111222"],
    ["letters for digits", "+1800FLOWERS"],
  ])("%s is refused: %j", (_, text) => {
    expect(normalizePhone(text)).toMatchObject({
      ok: false,
      problem: { where: "phone", message: expect.stringMatching(/country prefix/) },
    });
  });

  test("whatever comes in, only strict E.164 goes out: nothing that means something in SIP", () => {
    const texts = fc.oneof(
      fc.string(),
      fc.string({ unit: fc.constantFrom(...Array.from("+0123456789 -().;@&%\r\n:ext=")) }),
      fc.nat(999_999_999_999).map((digits) => `+34${digits}`),
    );
    fc.assert(
      fc.property(texts, (text) => {
        const read = normalizePhone(text);
        if (!read.ok) return;
        expect(read.value).toMatch(/^\+[1-9]\d{6,14}$/);
        expect(normalizePhone(read.value)).toEqual(read);
      }),
    );
  });

  test("sandbox numbers are exactly +999 000 0nnn", () => {
    expect(["+9990000000", "+9990000999"].every(isSandboxNumber)).toBe(true);
    expect(["+9990001000", "+999000000", "9990000001", "+34600111222"].some(isSandboxNumber)).toBe(false);
  });

  test("E.164 has a plus, no leading zero, and 7 to 15 digits", () => {
    expect(["+1234567", "+123456789012345"].every(isE164)).toBe(true);
    expect(
      ["+123456", "+1234567890123456", "+0123456789", "34600111222", "+34600111222\n"].some(isE164),
    ).toBe(false);
  });
});
