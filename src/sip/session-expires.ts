import { responseTo } from "./compose.ts";
import { headerValue, headerValues } from "./header.ts";
import type { SipHeader, SipMessage, SipRequest, SipResponse } from "./message.ts";
import { readParams } from "./params.ts";
import { readNumber, trimSpace } from "./scan.ts";

/** What we want of session timers (RFC 4028). */
export interface SessionTimerPolicy {
  /** Interval to ask for, s. */
  readonly expiresS: number;
  /** Shortest interval to take, s. */
  readonly minimumS: number;
  /** Who shall refresh when the peer leaves it to us, and whom our INVITE names; absent: the callee chooses, and we refresh as callee. */
  readonly refresher?: "us" | "them";
}

export const usualSessionTimer: SessionTimerPolicy = { expiresS: 1800, minimumS: 90 };

/** What both sides agreed on: a 2xx carried it. */
export interface SessionInterval {
  readonly intervalS: number;
  /** Whether the refreshes are ours. */
  readonly byUs: boolean;
}

/** What a 2xx of ours says of the interval; none: the session does not expire. */
export interface GrantedInterval {
  readonly interval?: SessionInterval;
  readonly headers: readonly SipHeader[];
}

/** More than any call lasts, s. */
const longestS = 1_000_000;

/** The headers by which a request of ours asks for an interval; `byUs` names the refresher. */
export function askForInterval(
  intervalS: number,
  minimumS: number,
  byUs: boolean | undefined,
): readonly SipHeader[] {
  const refresher = byUs === undefined ? "" : `;refresher=${byUs ? "uac" : "uas"}`;
  return [
    { name: "Session-Expires", value: `${intervalS}${refresher}` },
    { name: "Min-SE", value: `${minimumS}` },
  ];
}

/** What a 2xx to a request of ours agrees to; undefined: the session does not expire. Without a refresher it is ours to refresh. */
export function agreedInterval(response: SipResponse): SessionInterval | undefined {
  const expires = sessionExpiresOf(response);
  return expires === undefined
    ? undefined
    : { intervalS: expires.intervalS, byUs: expires.refresher !== "uas" };
}

/** Min-SE of a message, s (RFC 4028 5); undefined when there is none that can be read. */
function minimumOf(message: SipMessage): number | undefined {
  const value = headerValue(message, "Min-SE");
  return value === undefined ? undefined : readNumber(trimSpace(value.split(";")[0] ?? ""), longestS);
}

/** What a 422 to a request that asked for `intervalS` wants; undefined when it names nothing longer. */
export function longerInterval(refusal: SipResponse, intervalS: number): number | undefined {
  const minimumS = refusal.status === 422 ? minimumOf(refusal) : undefined;
  return minimumS === undefined || minimumS <= intervalS ? undefined : minimumS;
}

/** 422 to a request whose interval is too short for us, when its sender can ask again (RFC 4028 9). */
export function intervalTooSmall(
  request: SipRequest,
  policy: SessionTimerPolicy,
  toTag?: string,
): SipResponse | undefined {
  const asked = sessionExpiresOf(request);
  if (asked === undefined || asked.intervalS >= policy.minimumS || !knowsTimers(request)) return undefined;
  return responseTo(request, 422, {
    ...(toTag === undefined ? {} : { toTag }),
    headers: [{ name: "Min-SE", value: `${policy.minimumS}` }],
  });
}

/**
 * What our 2xx to a request of the peer agrees to (RFC 4028 9): its interval and refresher; where it names none, those
 * in force, and for a new session ours. A peer that knows no timers refreshes nothing.
 */
export function grantInterval(
  request: SipRequest,
  policy: SessionTimerPolicy,
  inForce: SessionInterval | "new" | undefined,
): GrantedInterval {
  const asked = sessionExpiresOf(request);
  const able = knowsTimers(request);
  const before = inForce === "new" ? undefined : inForce;
  const ours = Math.max(policy.expiresS, minimumOf(request) ?? 0);
  const intervalS = asked?.intervalS ?? before?.intervalS ?? (inForce === "new" && able ? ours : undefined);
  if (intervalS === undefined) return { headers: [] };
  const chosen = asked?.refresher === undefined ? before?.byUs : asked.refresher === "uas";
  const byUs = !able || (chosen ?? policy.refresher !== "them");
  return {
    interval: { intervalS, byUs },
    headers: [
      ...(able ? [{ name: "Require", value: "timer" }] : []),
      { name: "Session-Expires", value: `${intervalS};refresher=${byUs ? "uas" : "uac"}` },
    ],
  };
}

function knowsTimers(request: SipRequest): boolean {
  const named = [...headerValues(request, "Supported"), ...headerValues(request, "Require")];
  return named.some((option) => option.toLowerCase() === "timer");
}

function sessionExpiresOf(
  message: SipMessage,
): { readonly intervalS: number; readonly refresher: "uac" | "uas" | undefined } | undefined {
  const value = headerValue(message, "Session-Expires");
  if (value === undefined) return undefined;
  const semicolon = value.indexOf(";");
  const end = semicolon < 0 ? value.length : semicolon;
  const digits = trimSpace(value.slice(0, end));
  const intervalS = readNumber(digits, longestS) ?? (/^\d+$/.test(digits) ? longestS : undefined);
  if (intervalS === undefined) return undefined;
  const refresher = readParams(value, end, true)?.get("refresher")?.toLowerCase();
  return { intervalS, refresher: refresher === "uac" || refresher === "uas" ? refresher : undefined };
}
