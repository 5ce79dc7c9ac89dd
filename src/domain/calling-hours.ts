import { DateTime } from "luxon";

/** One span of a day, `HH:mm`, `from` included and `to` excluded; `24:00` ends the day. */
interface HoursSpan {
  readonly from: string;
  readonly to: string;
}

/** Calling hours by ISO weekday, 1 Monday to 7 Sunday. A day that is absent is closed. */
export interface CallingHours {
  readonly days: Readonly<Record<number, readonly HoursSpan[]>>;
  /** `YYYY-MM-DD`: closed whatever the weekday. */
  readonly holidays?: readonly string[];
}

/**
 * The first moment at or after `at` (epoch ms) at which the contact in `zone` may be called. Without hours it is
 * always open; undefined when no window opens within 400 days.
 */
export function nextOpening(hours: CallingHours | undefined, at: number, zone: string): number | undefined {
  if (!hours) return at;
  const start = DateTime.fromMillis(at, { zone });
  if (!start.isValid) throw new Error(`Unknown time zone ${zone}`);
  for (let ahead = 0; ahead <= 400; ahead++) {
    const day = start.startOf("day").plus({ days: ahead });
    for (const span of spansOf(hours, day)) {
      const opens = Math.max(at, moment(day, span.from));
      if (opens < moment(day, span.to)) return opens;
    }
  }
  return undefined;
}

/** Whether the contact in `zone` may be called at `at` (epoch ms). */
export function isOpen(hours: CallingHours | undefined, at: number, zone: string): boolean {
  return nextOpening(hours, at, zone) === at;
}

function spansOf(hours: CallingHours, day: DateTime): readonly HoursSpan[] {
  if (hours.holidays?.includes(day.toISODate() ?? "")) return [];
  const spans = hours.days[day.weekday] ?? [];
  return spans.toSorted((a, b) => a.from.localeCompare(b.from));
}

/** Epoch ms of a wall-clock time of that day; an hour that summer time skips moves forward. */
function moment(day: DateTime, clock: string): number {
  const [hour = 0, minute = 0] = clock.split(":").map(Number);
  if (hour === 24) return day.plus({ days: 1 }).toMillis();
  return day.set({ hour, minute, second: 0, millisecond: 0 }).toMillis();
}
