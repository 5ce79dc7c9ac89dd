import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { isOpen, nextOpening, type CallingHours } from "../../src/domain/calling-hours.ts";

const office = [{ from: "09:00", to: "21:00" }];
const weekdays: CallingHours = {
  days: { 1: office, 2: office, 3: office, 4: office, 5: office },
  holidays: ["2026-12-08"],
};
const madrid = "Europe/Madrid";

function opening(
  text: string,
  zone = madrid,
  hours: CallingHours | undefined = weekdays,
): string | undefined {
  const at = nextOpening(hours, Date.parse(text), zone);
  return at === undefined ? undefined : new Date(at).toISOString();
}

describe("calling hours", () => {
  test("without any it is always open", () => {
    expect(nextOpening(undefined, 123, "Not/AZone")).toBe(123);
  });

  test.each([
    ["inside", "2026-11-20T10:00:00Z", "2026-11-20T10:00:00.000Z"],
    ["the first moment", "2026-11-20T08:00:00Z", "2026-11-20T08:00:00.000Z"],
    ["before the window", "2026-11-20T07:59:59.999Z", "2026-11-20T08:00:00.000Z"],
    ["the last moment is over the weekend away", "2026-11-20T20:00:00Z", "2026-11-23T08:00:00.000Z"],
    ["Saturday", "2026-11-21T10:00:00Z", "2026-11-23T08:00:00.000Z"],
    ["a holiday", "2026-12-08T10:00:00Z", "2026-12-09T08:00:00.000Z"],
    ["across the end of summer time", "2026-10-24T10:00:00Z", "2026-10-26T08:00:00.000Z"],
    ["across its start", "2026-03-28T10:00:00Z", "2026-03-30T07:00:00.000Z"],
  ])("%s", (_, at, opens) => {
    expect(opening(at)).toBe(opens);
  });

  test("are the contact's: nine in Madrid is eight in the Canary Islands", () => {
    expect(opening("2026-11-20T08:00:00Z", "Atlantic/Canary")).toBe("2026-11-20T09:00:00.000Z");
  });

  test("may have several spans, in any order, and last until midnight", () => {
    const hours = {
      days: {
        5: [
          { from: "17:00", to: "24:00" },
          { from: "09:00", to: "14:00" },
        ],
      },
    };
    expect(opening("2026-11-20T06:00:00Z", madrid, hours)).toBe("2026-11-20T08:00:00.000Z");
    expect(opening("2026-11-20T13:30:00Z", madrid, hours)).toBe("2026-11-20T16:00:00.000Z");
    expect(opening("2026-11-20T22:59:59.999Z", madrid, hours)).toBe("2026-11-20T22:59:59.999Z");
  });

  test("that never open say so", () => {
    expect(nextOpening({ days: {} }, 0, madrid)).toBeUndefined();
    expect(isOpen({ days: {} }, 0, madrid)).toBe(false);
  });

  test("an opening is open, is not before it was asked for, and asking again there changes nothing", () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 2_000_000_000_000 }), (at) => {
        const opens = nextOpening(weekdays, at, madrid) ?? -1;
        expect(opens).toBeGreaterThanOrEqual(at);
        expect(isOpen(weekdays, opens, madrid)).toBe(true);
      }),
      { numRuns: 60 },
    );
  });
});
