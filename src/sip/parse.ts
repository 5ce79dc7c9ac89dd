import { readHead, type Head } from "./head.ts";
import { headerValue, headerValues, parseCSeq, parseNameAddr, parseVia } from "./header.ts";
import type { SipMessage, SipRequest } from "./message.ts";
import { readNumber, splitTopLevel } from "./scan.ts";
import { readStartLine } from "./start-line.ts";

export type ParseResult =
  | { readonly ok: true; readonly message: SipMessage }
  | {
      readonly ok: false;
      readonly reason: string;
      /** What to answer when it was a request. */
      readonly status: 400 | 416 | 505 | 513;
      /** Present when the request can be answered: Via, From, To, Call-ID and CSeq are there, as they came. */
      readonly request?: SipRequest;
    };

/** Largest message read. */
const MAX_MESSAGE_BYTES = 65_536;

/**
 * Reads one datagram (RFC 3261 7, 18.3); never throws, in time linear in its length.
 * Octets beyond Content-Length are cut off, without that header the body runs to the end; Content-Length itself is not among the headers.
 * Refuses what RFC 4475 calls invalid, down to the headers every transaction needs; what other headers mean is left to their readers.
 */
export function parseMessage(bytes: Uint8Array): ParseResult {
  if (bytes.length > MAX_MESSAGE_BYTES) return refusal("the message is too large", 513);
  const head = readHead(bytes);
  const start = readStartLine(head.startLine);
  if (start.type === "unreadable")
    return refusal(head.startLine === "" ? "the message is empty" : start.reason, 400);
  const body = readBody(bytes, head);
  const content = { headers: head.headers, body: typeof body === "string" ? NOTHING : body };
  if (start.type === "response") {
    const message: SipMessage = { type: "response", status: start.status, reason: start.reason, ...content };
    const reason = head.fault?.reason ?? (typeof body === "string" ? body : faultOfHeaders(message));
    return reason === undefined ? { ok: true, message } : refusal(reason, 400);
  }
  const message: SipRequest = { type: "request", method: start.method, uri: start.uri, ...content };
  const fault = head.fault ?? start.fault;
  const reason = fault?.reason ?? (typeof body === "string" ? body : faultOfRequest(message));
  return reason === undefined ? { ok: true, message } : refusal(reason, fault?.status ?? 400, message);
}

const NOTHING = new Uint8Array(0);

/** Every transaction copies these (RFC 3261 8.1.1, 8.2.6.2). */
const COPIED = ["Via", "From", "To", "Call-ID", "CSeq"] as const;

function refusal(reason: string, status: 400 | 416 | 505 | 513, request?: SipRequest): ParseResult {
  const answerable =
    request !== undefined && COPIED.every((name) => headerValue(request, name) !== undefined);
  return answerable ? { ok: false, reason, status, request } : { ok: false, reason, status };
}

/** The body, copied; or what is wrong with its length. */
function readBody(bytes: Uint8Array, head: Head): Uint8Array | string {
  const rest = bytes.subarray(head.bodyAt);
  const [length, second] = head.lengths;
  if (length === undefined) return new Uint8Array(rest);
  const count = readNumber(length, 0xffff_ffff);
  if (second !== undefined) return "there is more than one Content-Length";
  if (count === undefined) return "the Content-Length is not a number";
  if (count > rest.length) return "the body is shorter than its Content-Length";
  return new Uint8Array(rest.subarray(0, count));
}

function faultOfHeaders(message: SipMessage): string | undefined {
  for (const name of COPIED) {
    const values = name === "Via" ? [] : headerValues(message, name);
    if (values.length > 1) return `there is more than one ${name}`;
    const value = headerValue(message, name);
    if (value === undefined || value === "") return `the ${name} is missing`;
  }
  if (parseVia(topmost(message, "Via") ?? "") === undefined) return "the topmost Via is malformed";
  for (const name of ["From", "To"]) {
    if (parseNameAddr(headerValue(message, name) ?? "") === undefined) return `the ${name} is malformed`;
  }
  const cseq = parseCSeq(headerValue(message, "CSeq") ?? "");
  if (cseq === undefined) return "the CSeq is malformed";
  if (message.type === "request" && cseq.method !== message.method) return "the CSeq names another method";
  return undefined;
}

function faultOfRequest(request: SipRequest): string | undefined {
  return faultOfHeaders(request) ?? faultOfHops(request) ?? faultOfDate(request) ?? faultOfContact(request);
}

/** RFC 3261 20.22: 0 to 255. */
function faultOfHops(request: SipRequest): string | undefined {
  const hops = headerValues(request, "Max-Forwards");
  if (hops.length > 1) return "there is more than one Max-Forwards";
  const [value] = hops;
  return value === undefined || readNumber(value, 255) !== undefined
    ? undefined
    : "the Max-Forwards is malformed";
}

/** RFC 3261 20.17: no other time zone than GMT. */
function faultOfDate(request: SipRequest): string | undefined {
  const date = headerValue(request, "Date");
  return date === undefined || date.endsWith(" GMT") ? undefined : "the Date is not in GMT";
}

function faultOfContact(request: SipRequest): string | undefined {
  const contact = topmost(request, "Contact");
  const readable = contact === undefined || contact === "*" || parseNameAddr(contact) !== undefined;
  return readable ? undefined : "the Contact is malformed";
}

/** First element of a list header. The others are not worth splitting here: a hostile message may hold thousands. */
function topmost(message: SipMessage, name: string): string | undefined {
  return splitTopLevel(headerValue(message, name) ?? "", 0x2c).find((value) => value !== "");
}
