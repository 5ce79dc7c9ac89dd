import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  formatCreatedTime,
  formatLaunchTime,
  isTimeZone,
  parseDateRange,
  parseLaunchAt,
  type DateRangeInput,
} from "../../src/domain/time.ts";

const madrid = "Europe/Madrid";
const now = Date.parse("2026-11-21T10:00:00Z");

function range(input: DateRangeInput, zone = madrid, at = now): readonly [string, string] {
  const read = parseDateRange(input, zone, at);
  if (!read.ok) throw new Error(read.problem.message);
  return [new Date(read.value.from).toISOString(), new Date(read.value.to).toISOString()];
}

describe("the dates of a list", () => {
  test.each<[string, DateRangeInput, string, string]>([
    ["nothing: 15 days back", {}, "2026-11-05T23:00:00.000Z", "2026-11-21T10:00:00.000Z"],
    ["one day back", { daysFromNow: "1" }, "2026-11-19T23:00:00.000Z", "2026-11-21T10:00:00.000Z"],
    ["ninety days back", { daysFromNow: "90" }, "2026-08-22T22:00:00.000Z", "2026-11-21T10:00:00.000Z"],
    [
      "a day includes all of it",
      { startDate: "2026-11-20", endDate: "2026-11-20" },
      "2026-11-19T23:00:00.000Z",
      "2026-11-20T22:59:59.999Z",
    ],
    [
      "date and time",
      { startDate: "2026-11-20 08:00:00", endDate: "2026-11-20 09:30:00" },
      "2026-11-20T07:00:00.000Z",
      "2026-11-20T08:30:00.999Z",
    ],
    [
      "with an offset",
      { startDate: "2026-11-20T08:00:00-05:00" },
      "2026-11-20T13:00:00.000Z",
      "2026-11-21T10:00:00.000Z",
    ],
    [
      "with an offset whose plus became a space",
      { startDate: "2026-11-20T08:00:00 02:00" },
      "2026-11-20T06:00:00.000Z",
      "2026-11-21T10:00:00.000Z",
    ],
    ["with Z", { startDate: "2026-11-20 08:00:00Z" }, "2026-11-20T08:00:00.000Z", "2026-11-21T10:00:00.000Z"],
    [
      "an end in the future",
      { startDate: "2026-11-20", endDate: "2026-12-31" },
      "2026-11-19T23:00:00.000Z",
      "2026-12-31T22:59:59.999Z",
    ],
    ["an end alone", { endDate: "2026-10-20" }, "2026-10-04T22:00:00.000Z", "2026-10-20T21:59:59.999Z"],
    [
      "an old end alone never reaches over the limit",
      { endDate: "2026-08-30" },
      "2026-08-22T22:00:00.000Z",
      "2026-08-30T21:59:59.999Z",
    ],
    [
      "the first day that may be asked",
      { startDate: "2026-08-23" },
      "2026-08-22T22:00:00.000Z",
      "2026-11-21T10:00:00.000Z",
    ],
    [
      "a start, and days that then do not count",
      { startDate: "2026-11-20", daysFromNow: "80" },
      "2026-11-19T23:00:00.000Z",
      "2026-11-21T10:00:00.000Z",
    ],
  ])("%s", (_, input, from, to) => {
    expect(range(input)).toEqual([from, to]);
  });

  test("today is the account's: late in the evening in Lima it is still yesterday's date", () => {
    const lateInLima = Date.parse("2026-11-22T03:00:00Z");
    expect(range({ daysFromNow: "1" }, "America/Lima", lateInLima)[0]).toBe("2026-11-20T05:00:00.000Z");
    expect(range({ daysFromNow: "1" }, madrid, lateInLima)[0]).toBe("2026-11-20T23:00:00.000Z");
  });

  test("a time that summer time skips moves forward, one that repeats means the first", () => {
    const spring = Date.parse("2026-04-01T00:00:00Z");
    expect(range({ startDate: "2026-03-29 02:30:00" }, madrid, spring)[0]).toBe("2026-03-29T01:30:00.000Z");
    const autumn = Date.parse("2026-10-26T00:00:00Z");
    expect(range({ startDate: "2026-10-25 02:30:00" }, madrid, autumn)[0]).toBe("2026-10-25T00:30:00.000Z");
  });

  test("a day of 25 hours is included whole", () => {
    const autumn = Date.parse("2026-10-27T00:00:00Z");
    expect(range({ startDate: "2026-10-25", endDate: "2026-10-25" }, madrid, autumn)).toEqual([
      "2026-10-24T22:00:00.000Z",
      "2026-10-25T22:59:59.999Z",
    ]);
  });

  test.each<[DateRangeInput, string]>([
    [{ daysFromNow: "0" }, "daysFromNow"],
    [{ daysFromNow: "91" }, "daysFromNow"],
    [{ daysFromNow: "1.5" }, "daysFromNow"],
    [{ daysFromNow: "-3" }, "daysFromNow"],
    [{ daysFromNow: "" }, "daysFromNow"],
    [{ startDate: "2026-11-20", daysFromNow: "91" }, "daysFromNow"],
    [{ startDate: "2026-02-30" }, "startDate"],
    [{ startDate: "2026-13-01" }, "startDate"],
    [{ startDate: "20/11/2026" }, "startDate"],
    [{ startDate: "2026-11-20 25:00:00" }, "startDate"],
    [{ startDate: "2026-11-20 24:00:00" }, "startDate"],
    [{ startDate: "2026-W47-5" }, "startDate"],
    [{ startDate: "" }, "startDate"],
    [{ endDate: "now" }, "endDate"],
    [{ startDate: "2026-08-22 23:59:59" }, "startDate"],
    [{ startDate: "2026-11-20", endDate: "2026-11-19" }, "startDate"],
    [{ startDate: "2026-11-22" }, "startDate"],
  ])("%j is refused because of %s", (input, where) => {
    expect(parseDateRange(input, madrid, now)).toMatchObject({
      ok: false,
      problem: { where, message: expect.stringContaining(where) },
    });
  });

  test("only the owner looks back without limit", () => {
    const old = { startDate: "2020-01-01" };
    expect(parseDateRange(old, madrid, now).ok).toBe(false);
    expect(parseDateRange(old, madrid, now, "unlimited")).toMatchObject({
      ok: true,
      value: { from: Date.parse("2019-12-31T23:00:00Z") },
    });
  });

  test("any text is read or refused, and what is read is never inside out", () => {
    const part = fc.option(
      fc.oneof(
        fc.string(),
        fc.date({ noInvalidDate: true }).map((date) => date.toISOString()),
      ),
      { nil: undefined },
    );
    fc.assert(
      fc.property(part, part, part, (startDate, endDate, daysFromNow) => {
        const read = parseDateRange({ startDate, endDate, daysFromNow }, madrid, now);
        const { from, to } = read.ok ? read.value : { from: 0, to: 0 };
        expect(from).toBeLessThanOrEqual(to);
      }),
    );
  });
});

describe("launch_at", () => {
  const read = (text: string, at = now) => {
    const launch = parseLaunchAt(text, madrid, at);
    return launch.ok ? new Date(launch.value).toISOString() : launch.problem.where;
  };

  test.each([
    ["2026-12-01T09:00:00", "2026-12-01T08:00:00.000Z"],
    ["2026-12-01 09:00:00", "2026-12-01T08:00:00.000Z"],
    ["2026-12-01T09:00", "2026-12-01T08:00:00.000Z"],
    ["2026-12-01T09:00:00.250", "2026-12-01T08:00:00.250Z"],
    ["2026-12-01T09:00:00Z", "2026-12-01T09:00:00.000Z"],
    ["2026-12-01T09:00:00+05:30", "2026-12-01T03:30:00.000Z"],
    ["2026-11-21T10:55:00", "2026-11-21T09:55:00.000Z"],
    ["2027-03-28T02:30:00", "2027-03-28T01:30:00.000Z"],
    ["2027-10-31T02:30:00", "2027-10-31T00:30:00.000Z"],
  ])("%s is %s", (text, at) => {
    expect(read(text)).toBe(at);
  });

  test.each([
    "2026-11-21T10:54:59",
    "2026-12-01",
    "tomorrow",
    "",
    "09:00",
    "2026-12-01T9:00:00",
    "2026-12-01T09:00:00 Europe/Madrid",
  ])("%j is refused", (text) => {
    expect(read(text)).toBe("launch_at");
  });
});

describe("written times", () => {
  test("created times are UTC to the second", () => {
    expect(formatCreatedTime(Date.parse("2026-01-02T03:04:05.999Z"))).toBe("2026-01-02 03:04:05");
  });

  test("launch times are day first, in the account's zone", () => {
    expect(formatLaunchTime(Date.parse("2026-12-31T23:30:00Z"), madrid)).toBe("01/01/2027 00:30");
  });

  test("zones are known by their IANA names", () => {
    expect([isTimeZone("Atlantic/Canary"), isTimeZone("Mars/One"), isTimeZone("")]).toEqual([
      true,
      false,
      false,
    ]);
  });
});
