import { OutdialError } from "#base";
import type { CallingHours } from "#domain";

const dayNames = ["mon", "tue", "wed", "thu", "fri", "sat", "sun"] as const;

/**
 * Reads `mon-fri 09:00-14:00,16:00-20:00; sat 10:00-13:00`. Rejects with `config-invalid`.
 */
export function callingHoursOf(text: string): CallingHours {
  const days: Record<number, { from: string; to: string }[]> = {};
  for (const part of text.split(";")) {
    const match = /^\s*(mon|tue|wed|thu|fri|sat|sun)(?:-(mon|tue|wed|thu|fri|sat|sun))?\s+(.+?)\s*$/i.exec(
      part,
    );
    const from = dayNumber(match?.[1]);
    const to = dayNumber(match?.[2] ?? match?.[1]);
    const spans = spansOf(match?.[3] ?? "");
    if (from === undefined || to === undefined || to < from || spans === undefined) throw unreadable(text);
    for (let day = from; day <= to; day++) days[day] = [...(days[day] ?? []), ...spans];
  }
  return { days };
}

function spansOf(text: string): { from: string; to: string }[] | undefined {
  const spans = text
    .split(",")
    .map((span) => /^\s*([01]\d|2[0-3]):([0-5]\d)-(([01]\d|2[0-3]):[0-5]\d|24:00)\s*$/.exec(span));
  const read = spans.flatMap((match) =>
    match === null ? [] : [{ from: `${match[1]}:${match[2]}`, to: match[3] ?? "" }],
  );
  return read.length === spans.length && read.every(({ from, to }) => from < to) ? read : undefined;
}

function dayNumber(name: string | undefined): number | undefined {
  const index = dayNames.findIndex((day) => day === name?.toLowerCase());
  return index === -1 ? undefined : index + 1;
}

function unreadable(text: string): OutdialError {
  return new OutdialError("config-invalid", `calling_hours "${text}" cannot be read`, {
    hint: 'Write it like "mon-fri 09:00-21:00" or "mon-fri 09:00-14:00,16:00-20:00; sat 10:00-13:00".',
  });
}
