import type { SipMessageView } from "#wire";
import { cleanLines } from "./clean-text.ts";
import { instantOf, zonedTime } from "./times.ts";

/** A message as the ladder and the capture need it; `attempt` and `seq` are missing in what belongs to no call. */
export type TracedMessage = Omit<SipMessageView, "attempt" | "seq"> &
  Partial<Pick<SipMessageView, "attempt" | "seq">>;

export interface LadderOptions {
  readonly zone: string | undefined;
  /** With the messages themselves. */
  readonly verbose: boolean;
}

const arrowWidth = 44;

/** What was on the wire as arrows between us (left) and the peer, an attempt after the other. */
export function ladder(messages: readonly TracedMessage[], options: LadderOptions): string {
  const lines: string[] = [];
  let before: TracedMessage | undefined;
  for (const message of messages) {
    if (before === undefined || before.attempt !== message.attempt) {
      if (before !== undefined) lines.push("");
      lines.push(...ladderHead(message));
    } else {
      const left = (message.seq ?? 0) - (before.seq ?? 0) - 1;
      if (left > 0) lines.push(`${" ".repeat(14)}… ${left} not kept`);
    }
    lines.push(ladderLine(message, options));
    before = message;
  }
  return lines.join("\n");
}

/** Who talks to whom. */
export function ladderHead(message: TracedMessage): readonly string[] {
  const { attempt, transport, local, remote } = message;
  const callId = headerOf(message.text, "call-id", "i");
  const about = [
    ...(attempt === undefined ? [] : [`attempt ${attempt}`]),
    transport,
    ...(callId === undefined ? [] : [`Call-ID ${callId}`]),
  ];
  const gap = " ".repeat(Math.max(2, arrowWidth - local.length));
  return [about.join(", "), `${" ".repeat(14)}${local}${gap}${remote}`];
}

/** One message: time, arrow with method or status, CSeq. */
export function ladderLine(message: TracedMessage, { zone, verbose }: LadderOptions): string {
  const { direction, first_line: firstLine, text, at } = message;
  const status = /^SIP\/2\.0 (\d{3} ?.*)$/i.exec(firstLine)?.[1];
  const sdp = /^application\/sdp/i.test(headerOf(text, "content-type", "c") ?? "") ? " (SDP)" : "";
  const label = cleanLines(`${status ?? firstLine.split(" ")[0] ?? ""}${sdp}`).slice(0, arrowWidth - 6);
  const shaft = "─".repeat(Math.max(2, arrowWidth - label.length - 3));
  const arrow = direction === "sent" ? `${label} ${shaft}▶ ` : `◀${shaft} ${label} `;
  const line = `${timeOf(at, zone)}  ${arrow} CSeq ${cleanLines(headerOf(text, "cseq") ?? "?")}`;
  return verbose ? `${line}\n${indented(text)}` : line;
}

/** The value of a header, by its name or its compact form (RFC 3261 7.3.3). */
function headerOf(text: string, name: string, compact = name): string | undefined {
  const [head = ""] = text.split(/\r?\n\r?\n/, 1);
  return new RegExp(`^(?:${name}|${compact})[ \\t]*:[ \\t]*(.*?)[ \\t]*$`, "im").exec(head)?.[1];
}

function timeOf(at: string, zone: string | undefined): string {
  const instant = instantOf(at);
  if (instant === undefined) return " ".repeat(12);
  return `${zonedTime(instant, zone).slice(-8)}.${String(Math.trunc(instant) % 1000).padStart(3, "0")}`;
}

function indented(text: string): string {
  return cleanLines(text.trimEnd())
    .split("\n")
    .map((line) => `    ${line}`.trimEnd())
    .join("\n");
}
