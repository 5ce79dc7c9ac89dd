import { accept, reject, type Decoded } from "#base";
import { DateTime, IANAZone } from "luxon";

const formats = "YYYY-MM-DD or YYYY-MM-DD HH:mm:ss";
const lookBackDays = 90;
const defaultDays = 15;
const lateLaunchMs = 5 * 60_000;

/** A stretch of creation times, epoch ms, both ends included. */
export interface DateRange {
  readonly from: number;
  readonly to: number;
}

/** The values of `GET /calls` as they came; all are text. */
export interface DateRangeInput {
  readonly startDate?: string | undefined;
  readonly endDate?: string | undefined;
  readonly daysFromNow?: string | undefined;
}

/** Which calls a list asks for. Dates without an offset are read in the account's `zone`; only the owner looks back without limit. */
export function parseDateRange(
  input: DateRangeInput,
  zone: string,
  now: number,
  lookBack: "90-days" | "unlimited" = "90-days",
): Decoded<DateRange> {
  const today = DateTime.fromMillis(now, { zone }).startOf("day");
  const days = parseDays(input.daysFromNow);
  if (!days.ok) return days;
  const end = input.endDate === undefined ? accept(now) : readBound("endDate", input.endDate, zone);
  if (!end.ok) return end;
  const oldest = today.minus({ days: lookBackDays });
  if (input.startDate === undefined) {
    // With an end date alone the usual look-back counts from that day, so that the range is never inside out.
    const endDay = DateTime.fromMillis(Math.min(end.value, now), { zone }).startOf("day");
    const from =
      input.endDate === undefined ? today.minus({ days: days.value }) : endDay.minus({ days: defaultDays });
    return ordered(Math.max(from.toMillis(), oldest.toMillis()), end.value);
  }
  const start = readBound("startDate", input.startDate, zone);
  if (!start.ok) return start;
  if (lookBack === "90-days" && start.value < oldest.toMillis()) {
    return reject(
      "startDate",
      `startDate is more than ${lookBackDays} days back; the earliest is ${oldest.toISODate()}`,
    );
  }
  return ordered(start.value, end.value);
}

/** `launch_at` of a campaign: an ISO date-time, read in `zone` unless it has an offset; at most five minutes late. */
export function parseLaunchAt(text: string, zone: string, now: number): Decoded<number> {
  const moment = readMoment(text, zone);
  if (!moment || moment.dayOnly) {
    return reject(
      "launch_at",
      "launch_at must be a date-time such as 2026-12-01T09:00:00, with or without an offset",
    );
  }
  if (moment.at < now - lateLaunchMs)
    return reject("launch_at", "launch_at is more than five minutes in the past");
  return accept(moment.at);
}

/** Whether `name` is an IANA zone such as `Europe/Madrid`. */
export function isTimeZone(name: string): boolean {
  // Through `create`, which remembers the zones it has seen: asking the platform each time is slow.
  return IANAZone.create(name).isValid;
}

/** `YYYY-MM-DD HH:mm:ss` in UTC. */
export function formatCreatedTime(at: number): string {
  return DateTime.fromMillis(at, { zone: "utc" }).toFormat("yyyy-MM-dd HH:mm:ss");
}

/** `DD/MM/YYYY HH:mm` in the account's zone. */
export function formatLaunchTime(at: number, zone: string): string {
  return DateTime.fromMillis(at, { zone }).toFormat("dd/MM/yyyy HH:mm");
}

function parseDays(text: string | undefined): Decoded<number> {
  if (text === undefined) return accept(defaultDays);
  const days = /^\d{1,3}$/.test(text) ? Number(text) : 0;
  if (days >= 1 && days <= lookBackDays) return accept(days);
  return reject("daysFromNow", `daysFromNow must be a whole number from 1 to ${lookBackDays}`);
}

function readBound(name: "startDate" | "endDate", text: string, zone: string): Decoded<number> {
  const moment = readMoment(text, zone);
  if (!moment) return reject(name, `${name} must be a date as ${formats}`);
  if (name === "startDate") return accept(moment.at);
  if (moment.dayOnly) return accept(firstOf(DateTime.fromMillis(moment.at, { zone }).plus({ days: 1 })) - 1);
  // Records show whole seconds: the one named is included.
  return accept(moment.wholeSecond ? moment.at + 999 : moment.at);
}

function ordered(from: number, to: number): Decoded<DateRange> {
  if (from > to) return reject("startDate", "startDate must not be after endDate");
  return accept({ from, to });
}

interface Moment {
  readonly at: number;
  readonly dayOnly: boolean;
  readonly wholeSecond: boolean;
}

// A plus sign that was not encoded arrives from a query string as a space.
const written = /^(\d{4}-\d{2}-\d{2})(?:[T ](\d{2}:\d{2})(?::(\d{2}))?(\.\d{1,6})?(Z|[ +-]\d{2}:?\d{2})?)?$/i;

function readMoment(text: string, zone: string): Moment | undefined {
  const parts = written.exec(text);
  if (!parts) return undefined;
  const [, day, clock, second = "00", fraction = "", offset] = parts;
  if (clock === undefined) {
    const start = DateTime.fromISO(day ?? "", { zone });
    return start.isValid ? { at: firstOf(start), dayOnly: true, wholeSecond: false } : undefined;
  }
  if (clock.startsWith("24")) return undefined;
  const moment = DateTime.fromISO(`${day}T${clock}:${second}${fraction}${offset?.replace(" ", "+") ?? ""}`, {
    zone,
  });
  if (!moment.isValid) return undefined;
  const at = offset === undefined ? firstOf(moment) : moment.toMillis();
  return { at, dayOnly: false, wholeSecond: fraction === "" };
}

/** Of an hour that repeats at the end of summer time, the first one. */
function firstOf(moment: DateTime): number {
  return Math.min(...moment.getPossibleOffsets().map((possible) => possible.toMillis()));
}
