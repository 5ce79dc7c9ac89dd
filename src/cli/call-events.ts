import { fieldValue, plainValue, type Row } from "./fields.ts";
import { instantOf, zonedTime } from "./times.ts";

/** What an event of a call is about, for `--events`. */
export type EventKind = "turn" | "dtmf" | "status" | "verdict" | "partial";

const kinds: Readonly<Record<string, EventKind>> = {
  "call-dialing": "status",
  "call-ringing": "status",
  "call-answered": "status",
  "call-ended": "status",
  "opted-out": "status",
  "hearing-lost": "status",
  "verdict-reached": "verdict",
  "voicemail-message-left": "verdict",
  "turn-finished": "turn",
  "turn-partial": "partial",
};

/** The types of event that these kinds come as. */
export function eventTypes(wanted: ReadonlySet<EventKind>): readonly string[] {
  return Object.keys(kinds).filter((type) => {
    const kind = kinds[type];
    return kind !== undefined && (wanted.has(kind) || (kind === "turn" && wanted.has("dtmf")));
  });
}

/** Undefined for what is of no interest to a person. */
export function kindOf(event: Row): EventKind | undefined {
  const kind = Object.hasOwn(kinds, plainValue(event["type"])) ? kinds[plainValue(event["type"])] : undefined;
  return kind === "turn" && text(event, "data.turn.via") === "dtmf" ? "dtmf" : kind;
}

/** Who speaks, presses or types; undefined when the event is none of that. */
export function speakerOf(event: Row): "agent" | "callee" | undefined {
  const speaker = text(event, "data.turn.speaker") || text(event, "data.speaker");
  return speaker === "agent" || speaker === "callee" ? speaker : undefined;
}

/** The exact state a call is in when this event happens. */
export function stateOf(event: Row): string {
  switch (event["type"]) {
    case "call-dialing":
      return "dialing";
    case "call-ringing":
      return "ringing";
    case "call-ended":
      return text(event, "data.state");
    default:
      return "in-progress";
  }
}

/** One event in the words of a person; empty for what is of no interest. */
export function eventText(event: Row): string {
  switch (event["type"]) {
    case "call-dialing": {
      const attempt = text(event, "data.attempt");
      return `dialing${attempt === "1" || attempt === "" ? "" : ` (attempt ${attempt})`}`;
    }
    case "call-ringing":
      return "ringing";
    case "call-answered":
      return "answered";
    case "call-ended":
      return endText(event);
    case "verdict-reached":
      return `answered by: ${text(event, "data.verdict.kind")}`;
    case "voicemail-message-left":
      return "message left";
    case "opted-out":
      return "asked not to be called again";
    case "hearing-lost":
      return `cannot hear the callee any more: ${text(event, "data.reason")}`;
    case "turn-finished": {
      const said = text(event, "data.turn.text") || "(not transcribed)";
      return `${said}${fieldValue(event, "data.turn.cutOff") === true ? " —" : ""}`;
    }
    case "turn-partial":
      return `${text(event, "data.text")}…`;
    default:
      return "";
  }
}

/** `Agent`, `Callee (keys)`; empty for what nobody says. */
export function speakerLabel(event: Row): string {
  const speaker = speakerOf(event);
  if (speaker === undefined) return "";
  const via = text(event, "data.turn.via");
  const how = via === "dtmf" ? " (keys)" : via === "rtt" ? " (typed)" : "";
  return `${speaker === "agent" ? "Agent " : "Callee"}${how}`;
}

/** The time of day of an event in the zone (undefined: this machine's), eight cells wide. */
export function eventTime(event: Row, zone: string | undefined): string {
  const at = instantOf(event["at"]);
  return at === undefined ? " ".repeat(8) : zonedTime(at, zone).slice(-8);
}

/** One event of one call as a line; empty for what is of no interest, and for the end, which its record tells. */
export function eventLine(event: Row, zone: string | undefined): string {
  const said = event["type"] === "call-ended" || kindOf(event) === "partial" ? "" : eventText(event);
  if (said === "") return "";
  const label = speakerLabel(event);
  return `${eventTime(event, zone)}  ${label === "" ? "" : `${label}: `}${said}`;
}

function endText(event: Row): string {
  const state = text(event, "data.state");
  const detail = text(event, "data.outcome.detail");
  const duration = Number(fieldValue(event, "data.duration") ?? 0);
  const met = fieldValue(event, "data.success") === true ? ", objectives met" : ", objectives not met";
  return `ended: ${state}${state === "closed" ? met : ""}${duration > 0 ? `, ${duration} s` : ""}${detail === "" ? "" : `. ${detail}`}`;
}

function text(event: Row, path: string): string {
  return plainValue(fieldValue(event, path));
}
