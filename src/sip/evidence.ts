import { headerValue, headerValues, parseReason, parseRetryAfter } from "./header.ts";
import type { LegEnd } from "./leg.ts";
import type { SipMessage } from "./message.ts";

/** What a final response or a BYE says about the cause: status, Q.850 (RFC 3326) and Retry-After. */
export function evidenceOf(
  message: SipMessage,
): Pick<LegEnd, "status" | "reason" | "q850" | "q850Text" | "retryAfterS"> {
  const reasons = headerValues(message, "Reason").flatMap(parseReason);
  const q850 = reasons.find((reason) => reason.protocol.toUpperCase() === "Q.850");
  const retryAfter = headerValue(message, "Retry-After");
  const retryAfterS = retryAfter === undefined ? undefined : parseRetryAfter(retryAfter);
  return {
    ...(message.type === "response" ? { status: message.status, reason: message.reason } : {}),
    ...(q850?.cause === undefined ? {} : { q850: q850.cause }),
    ...(q850?.text === undefined ? {} : { q850Text: q850.text }),
    ...(retryAfterS === undefined ? {} : { retryAfterS }),
  };
}
