import type { SipHeader, SipMessage } from "./message.ts";
import { readParams } from "./params.ts";
import { endOfToken, isToken, readNumber, skipSpace, splitTopLevel, trimSpace } from "./scan.ts";

export { parseNameAddr, printNameAddr, type NameAddr } from "./name-addr.ts";
export { parseVia, printVia, type Via } from "./via.ts";

/** First value of a header as it stands (a list is not split); names compare without case. */
export function headerValue(from: SipMessage | readonly SipHeader[], name: string): string | undefined {
  const wanted = name.toLowerCase();
  return headersOf(from).find((header) => header.name.toLowerCase() === wanted)?.value;
}

/** All values of a header in order; list headers (RFC 3261 7.3.1) are split at their top-level commas, empty elements left out. */
export function headerValues(from: SipMessage | readonly SipHeader[], name: string): readonly string[] {
  const wanted = name.toLowerCase();
  const values = headersOf(from)
    .filter((header) => header.name.toLowerCase() === wanted)
    .map((header) => header.value);
  if (!LISTS.has(wanted)) return values;
  return values.flatMap((value) => splitTopLevel(value, COMMA)).filter((value) => value !== "");
}

export interface CSeq {
  /** 32 bits, unsigned. */
  readonly number: number;
  readonly method: string;
}

/** RFC 3261 20.16. */
export function parseCSeq(text: string): CSeq | undefined {
  const start = skipSpace(text, 0);
  const end = endOfToken(text, start);
  const number = readNumber(text.slice(start, end), 0xffff_ffff);
  const methodAt = skipSpace(text, end);
  const methodEnd = endOfToken(text, methodAt);
  if (number === undefined || methodAt === end || methodEnd === methodAt) return undefined;
  if (skipSpace(text, methodEnd) !== text.length) return undefined;
  return { number, method: text.slice(methodAt, methodEnd) };
}

/** RFC 3326: why, in the numbers of a protocol. */
export interface Reason {
  /** As written: `Q.850`, `SIP`. */
  readonly protocol: string;
  readonly cause?: number;
  readonly text?: string;
}

/** Reads a whole Reason header; elements that are no reason are left out. */
export function parseReason(text: string): readonly Reason[] {
  return splitTopLevel(text, COMMA).flatMap((element) => {
    const semicolon = element.indexOf(";");
    const end = semicolon < 0 ? element.length : semicolon;
    const protocol = trimSpace(element.slice(0, end));
    const params = readParams(element, end, true);
    if (params === undefined || !isToken(protocol)) return [];
    const cause = readNumber(params.get("cause") ?? "", 0xffff);
    const why = params.get("text");
    return [
      { protocol, ...(cause === undefined ? {} : { cause }), ...(why === undefined ? {} : { text: why }) },
    ];
  });
}

/** Seconds of a Retry-After (RFC 3261 20.33), comment and parameters left aside; a number beyond 32 bits reads as the largest. */
export function parseRetryAfter(text: string): number | undefined {
  const start = skipSpace(text, 0);
  let end = start;
  while (end < text.length && isDigit(text.charCodeAt(end))) end++;
  if (end === start) return undefined;
  const next = text.charAt(skipSpace(text, end));
  if (next !== "" && next !== "(" && next !== ";") return undefined;
  return readNumber(text.slice(start, end), 0xffff_ffff) ?? 0xffff_ffff;
}

const COMMA = 0x2c;

/** Headers whose value is a comma-separated list; credentials and challenges are not: their commas part parameters. */
const LISTS: ReadonlySet<string> = new Set([
  "accept",
  "accept-encoding",
  "accept-language",
  "alert-info",
  "allow",
  "allow-events",
  "call-info",
  "contact",
  "content-encoding",
  "content-language",
  "diversion",
  "error-info",
  "history-info",
  "in-reply-to",
  "p-asserted-identity",
  "p-associated-uri",
  "p-preferred-identity",
  "path",
  "proxy-require",
  "reason",
  "record-route",
  "require",
  "route",
  "service-route",
  "supported",
  "unsupported",
  "via",
  "warning",
]);

function headersOf(from: SipMessage | readonly SipHeader[]): readonly SipHeader[] {
  return "headers" in from ? from.headers : from;
}

function isDigit(code: number): boolean {
  return code >= 0x30 && code <= 0x39;
}
