import { usageError } from "./command-error.ts";
import { parseDuration } from "./durations.ts";

/**
 * A moment as people write it, read in `zone` (undefined: this machine's): `2026-12-01 09:00`, `09:00` (the next
 * one), `in 2h`, `+2h`, `tomorrow 09:00`, or ISO 8601 with its own offset. Epoch milliseconds.
 */
export async function parseMoment(text: string, now: number, zone: string | undefined): Promise<number> {
  const span = /^(?:in\s+|\+)(.+)$/.exec(text.trim());
  if (span?.[1] !== undefined) {
    const ms = parseDuration(span[1].replaceAll(" ", ""));
    if (ms !== undefined) return now + ms;
  }
  const { DateTime } = await import("luxon");
  const here = DateTime.fromMillis(now, { zone: zone ?? "local" });
  const time = /^(tomorrow\s+|today\s+)?(\d{1,2}):(\d\d)$/.exec(text.trim());
  if (time !== null) {
    const [, day, hour, minute] = time;
    const moment = here.set({ hour: Number(hour), minute: Number(minute), second: 0, millisecond: 0 });
    if (day?.startsWith("tomorrow") === true) return moment.plus({ days: 1 }).toMillis();
    return (day === undefined && moment < here ? moment.plus({ days: 1 }) : moment).toMillis();
  }
  const iso = DateTime.fromISO(text.trim().replace(" ", "T"), { zone: zone ?? "local" });
  if (!iso.isValid) {
    throw usageError(
      `"${text}" is not a moment that can be read`,
      'write "2026-12-01 09:00", "09:00", "tomorrow 09:00", "in 2h", or ISO 8601 with an offset',
    );
  }
  return iso.toMillis();
}
