import { allowedMethods, responseTo } from "./compose.ts";
import { headerValue, headerValues } from "./header.ts";
import type { SipHeader, SipRequest, SipResponse } from "./message.ts";

const allow: SipHeader = { name: "Allow", value: allowedMethods };

/** The extensions we have: reliable provisional responses (RFC 3262), the end of early dialogs (RFC 6228), session timers (RFC 4028). */
export const supported: SipHeader = { name: "Supported", value: "100rel, 199, timer" };
const known: ReadonlySet<string> = new Set(["100rel", "timer"]);

/** Methods that exist but are never served: an agent that pays for its calls neither redirects, registers nor relays. */
const refusedMethods: ReadonlySet<string> = new Set(["MESSAGE", "PRACK", "PUBLISH", "REGISTER", "SUBSCRIBE"]);

/** 200 to OPTIONS: what we can do (RFC 3261 11.2). */
export function capabilities(request: SipRequest, toTag?: string): SipResponse {
  return responseTo(request, 200, {
    ...(toTag === undefined ? {} : { toTag }),
    headers: [allow, supported, { name: "Accept", value: "application/sdp" }],
  });
}

/** Refuses a method that no call takes: 603 to REFER, 481 to NOTIFY, 405 or 501 to the others. */
export function refusedMethod(request: SipRequest, toTag?: string): SipResponse {
  const status = refusals.get(request.method) ?? (refusedMethods.has(request.method) ? 405 : 501);
  return responseTo(request, status, {
    ...(toTag === undefined ? {} : { toTag }),
    headers: status === 405 || status === 501 ? [allow] : [],
  });
}

/** NOTIFY is taken where a REFER of ours asked for it; elsewhere there is no subscription (RFC 6665 4.1.3). */
const refusals: ReadonlyMap<string, number> = new Map([
  ["REFER", 603],
  ["NOTIFY", 481],
]);

/** 420 when the request insists on an extension that we have not (RFC 3261 8.2.2.3). */
export function unsupportedExtension(request: SipRequest, toTag?: string): SipResponse | undefined {
  if (request.method === "ACK" || request.method === "CANCEL") return undefined;
  const missing = headerValues(request, "Require").filter((option) => !known.has(option.toLowerCase()));
  if (missing.length === 0) return undefined;
  return responseTo(request, 420, {
    ...(toTag === undefined ? {} : { toTag }),
    headers: [{ name: "Unsupported", value: missing.join(", ") }],
  });
}

/** The key of an INFO with `application/dtmf-relay` (`Signal=5`) or `application/dtmf` (`5`); undefined for anything else. */
export function pressedKey(info: SipRequest): string | undefined {
  const type = (headerValue(info, "Content-Type") ?? "").split(";")[0]?.trim().toLowerCase();
  const body = new TextDecoder().decode(info.body.subarray(0, 256));
  if (type === "application/dtmf") return keyOf(body.trim());
  if (type !== "application/dtmf-relay") return undefined;
  const line = body.split("\n").find((candidate) => /^\s*signal\s*=/i.test(candidate));
  return line === undefined ? undefined : keyOf(line.slice(line.indexOf("=") + 1).trim());
}

/** RFC 4733 numbers 10 to 15 stand for `*`, `#` and A to D. */
function keyOf(text: string): string | undefined {
  if (/^[0-9*#A-D]$/i.test(text)) return text.toUpperCase();
  return /^1[0-5]$/.test(text) ? "*#ABCD"[Number(text) - 10] : undefined;
}
