import { headerValue, headerValues, parseCSeq } from "./header.ts";
import type { SipResponse } from "./message.ts";
import { readNumber, trimSpace } from "./scan.ts";

/** RSeq of a reliable provisional response (RFC 3262 7.1); undefined when it is not sent reliably. */
export function reliableNumberOf(response: SipResponse): number | undefined {
  if (response.status <= 100 || response.status >= 200) return undefined;
  const required = headerValues(response, "Require").some((option) => option.toLowerCase() === "100rel");
  const value = headerValue(response, "RSeq");
  return required && value !== undefined ? readNumber(trimSpace(value), 0xffff_ffff) : undefined;
}

/**
 * Whether a reliable response is the next of its early dialog (RFC 3262 4): the first is whatever comes first; one
 * that comes again, or before its turn, must be neither acknowledged nor looked at.
 */
export function isNextReliable(last: number | undefined, number: number): boolean {
  return last === undefined ? number >= 1 : number === last + 1;
}

/** RAck of the PRACK for a reliable response (RFC 3262 7.2); undefined when its CSeq cannot be read. */
export function rackOf(response: SipResponse, number: number): string | undefined {
  const cseq = parseCSeq(headerValue(response, "CSeq") ?? "");
  return cseq === undefined ? undefined : `${number} ${cseq.number} ${cseq.method}`;
}
