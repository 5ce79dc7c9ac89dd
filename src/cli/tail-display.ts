import { eventText, eventTime, kindOf, speakerLabel } from "./call-events.ts";
import { pad, truncate } from "./clean-text.ts";
import { fieldValue, plainValue, type Row } from "./fields.ts";
import type { Context } from "./handler.ts";
import type { Span } from "./printer.ts";
import type { TailFilter } from "./tail-filter.ts";

/** Shows events of many calls in one stream: a line each on a terminal, JSON lines in a pipe. */
export interface TailDisplay {
  show(event: Row): Promise<void>;
  /** So many events were missed. */
  lost(event: Row): Promise<void>;
}

/** What a run of `call tail` is about. */
export interface Tail {
  readonly filter: TailFilter;
  readonly campaignId: string | undefined;
  readonly follow: boolean;
  readonly display: TailDisplay;
}

/** SGR colours that can be told apart on dark and light grounds; red is left to errors. */
const palette = [36, 35, 33, 32, 34, 96, 95, 94] as const;
const dim = 2;

/** A display for one run. Words in the making are a line on standard error that replaces itself. */
export function createTailDisplay({ print, notes, settings, io }: Context): TailDisplay {
  const forPeople = print.format === "table" || print.format === "wide";
  return {
    show: async (event) => {
      if (forPeople && kindOf(event) === "partial") {
        const line = tailLine(event, settings.zone)
          .map(({ text }) => text)
          .join("");
        notes.progress(truncate(line, Math.max(20, (io.stderr.columns ?? 80) - 1)));
        return;
      }
      notes.progress("");
      await print.event(event, tailLine(event, settings.zone));
    },
    lost: async (event) => {
      const count = plainValue(fieldValue(event, "data.count"));
      notes.progress("");
      notes.warn(`${count} events lost      (read faster, or narrow it down with --events or --campaign)`);
      if (!forPeople) await print.event(event, "");
    },
  };
}

function tailLine(event: Row, zone: string | undefined): readonly Span[] {
  const id = plainValue(event["call_id"]);
  const who = plainValue(fieldValue(event, "data.to")) || id.slice(0, 13);
  const playbook = plainValue(fieldValue(event, "data.playbook_name"));
  const label = speakerLabel(event);
  return [
    { text: `${eventTime(event, zone)}  `, color: dim },
    { text: pad(who, 16), color: colorOf(id) },
    { text: ` ${pad(truncate(playbook, 14), 14)}  `, color: dim },
    label === "" ? { text: "· ", color: dim } : { text: `${label}: `, color: colorOf(id) },
    { text: eventText(event) },
  ];
}

/** The same call always has the same colour. Ids begin with their time, so the end of them counts. */
function colorOf(id: string): number {
  return palette[(Number.parseInt(id.slice(-6), 16) || 0) % palette.length] ?? palette[0];
}
