import { formatNumber } from "#domain";
import { describe, expect, it } from "vitest";
import { numberFormatFault } from "../../src/domain/number-format.ts";

describe("a number format", () => {
  it.each([
    ["+{e164}", "+34600111222", "+34600111222"],
    ["{e164}", "+34600111222", "34600111222"],
    ["00{e164}", "+34600111222", "0034600111222"],
    ["9.{e164}*1", "+34600111222", "9.34600111222*1"],
    ["{national:ES}", "+34600111222", "600111222"],
    ["{national:FR}", "+33612345678", "0612345678"],
    ["{national:GB}", "+442079460123", "02079460123"],
    ["0{national:FR}", "+33612345678", "00612345678"],
    // The same calling code: a national call.
    ["{national:US}", "+14165550123", "4165550123"],
  ])("%s makes %s into %s", (format, number, dialled) => {
    expect(formatNumber(format, number)).toBe(dialled);
  });

  it.each([
    ["{national:FR}", "+34600111222", "0034600111222"],
    ["0{national:FR}", "+34600111222", "0034600111222"],
    ["{national:US}", "+34600111222", "01134600111222"],
    ["{national:AU}", "+34600111222", "001134600111222"],
  ])("%s dials abroad as one does from there: %s is %s", (format, number, dialled) => {
    expect(formatNumber(format, number)).toBe(dialled);
  });

  it.each(["+{e164}", "00{e164}", "{national:ES}", "1234{e164}"])("%s is accepted", (format) =>
    expect(numberFormatFault(format)).toBeUndefined(),
  );

  it.each([
    ["", "no number format"],
    ["+34600111222", "no number format"],
    ["{e164}{e164}", "no number format"],
    ["{phone}", "no number format"],
    ["{e164}@evil.example", "no number format"],
    ["{e164};ext=1", "no number format"],
    ["{e164}\r\nX: y", "no number format"],
    ["{national:es}", "no number format"],
    ["{national:XX}", "names no country"],
  ])("%j is refused: %s", (format, says) => expect(numberFormatFault(format)).toContain(says));
});
