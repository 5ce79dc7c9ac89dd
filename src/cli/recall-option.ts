import { usageError } from "./command-error.ts";
import { parseDuration } from "./durations.ts";

/** `"[30,120]"` (minutes) or `30m,2h` as a list of minutes. */
export function parseRecallOption(text: string): readonly number[] {
  const inner = /^\[(.*)\]$/.exec(text.trim())?.[1] ?? text;
  const minutes = inner
    .split(",")
    .map((part) => part.trim())
    .filter((part) => part !== "")
    .map((part) => (/^\d+$/.test(part) ? Number(part) : (parseDuration(part) ?? Number.NaN) / 60_000));
  if (minutes.length === 0 || minutes.some((delay) => !Number.isInteger(delay))) {
    throw usageError(`--recall takes minutes, not "${text}"`, 'write "[30,120]" or 30m,2h');
  }
  return minutes;
}
