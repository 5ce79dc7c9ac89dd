import { shortSpan } from "./durations.ts";

/** Epoch milliseconds of what the API writes: a number, ISO 8601, or `YYYY-MM-DD HH:mm:ss` in UTC. */
export function instantOf(value: unknown): number | undefined {
  if (typeof value === "number") return Number.isFinite(value) ? value : undefined;
  if (typeof value !== "string" || value === "") return undefined;
  const text = /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$/.test(value) ? `${value.replace(" ", "T")}Z` : value;
  const at = Date.parse(text);
  return Number.isNaN(at) ? undefined : at;
}

/** `2026-12-01 09:00:00` in the zone; undefined zone means this machine's. */
export function zonedTime(at: number, zone: string | undefined): string {
  return new Intl.DateTimeFormat("sv-SE", {
    ...(zone === undefined ? {} : { timeZone: zone }),
    dateStyle: "short",
    timeStyle: "medium",
  }).format(at);
}

/** `3m ago`, `in 2h`, `now`. */
export function relativeTime(at: number, now: number): string {
  const distance = at - now;
  if (Math.abs(distance) < 1000) return "now";
  return distance < 0 ? `${shortSpan(-distance)} ago` : `in ${shortSpan(distance)}`;
}

/** Whether the runtime knows the zone (IANA name). */
export function isZone(zone: string): boolean {
  try {
    new Intl.DateTimeFormat("en", { timeZone: zone }).format(0);
    return true;
  } catch {
    return false;
  }
}
