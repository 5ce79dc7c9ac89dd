import type { Entropy } from "#base";
import { DateTime, type DurationLikeObject } from "luxon";

/** How long a token can be made to last; `never` is four years. */
export const tokenExpiries = ["30d", "90d", "6m", "1y", "never"] as const;
export type TokenExpiry = (typeof tokenExpiries)[number];

const lifetimes: Readonly<Record<TokenExpiry, DurationLikeObject>> = {
  "30d": { days: 30 },
  "90d": { days: 90 },
  "6m": { months: 6 },
  "1y": { years: 1 },
  never: { years: 4 },
};

export interface TokenParts {
  /** `outdial_` and 16 characters of public id: 24 characters without any secret in them. */
  readonly prefix: string;
  /** base64url of 32 octets. */
  readonly secret: string;
}

const idAlphabet = "abcdefghijkmnpqrstuvwxyz23456789"; // 32 signs, none to be mistaken for another
const base64url = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

/** A new token; `prefix + secret` is what the user keeps, a hash of `secret` what we keep. */
export function mintToken(entropy: Entropy): TokenParts {
  const id = Array.from(entropy.bytes(16), (octet) => idAlphabet[octet % 32] ?? "").join("");
  return { prefix: `outdial_${id}`, secret: toBase64url(entropy.bytes(32)) };
}

/** Reads a token; undefined when it has not the form of one. */
export function parseToken(text: string): TokenParts | undefined {
  if (!/^outdial_[a-z0-9]{16}[A-Za-z0-9_-]{43}$/.test(text)) return undefined;
  return { prefix: text.slice(0, 24), secret: text.slice(24) };
}

/** What a list shows of a token: the first 24 characters and a mask. */
export function maskToken(prefix: string): string {
  return `${prefix}${"*".repeat(8)}`;
}

/** When a token made at `now` (epoch ms) ends, by the calendar in UTC. */
export function tokenExpiresAt(expiry: TokenExpiry, now: number): number {
  return DateTime.fromMillis(now, { zone: "utc" }).plus(lifetimes[expiry]).toMillis();
}

/** Whether a token can still be used at `now`. */
export function tokenStatus(expiresAt: number, now: number): "Active" | "Expired" {
  return now < expiresAt ? "Active" : "Expired";
}

function toBase64url(octets: Uint8Array): string {
  let text = "";
  for (let i = 0; i < octets.length; i += 3) {
    const left = Math.min(3, octets.length - i);
    const bits = ((octets[i] ?? 0) << 16) | ((octets[i + 1] ?? 0) << 8) | (octets[i + 2] ?? 0);
    for (let k = 0; k <= left; k++) text += base64url[(bits >> (18 - 6 * k)) & 63] ?? "";
  }
  return text;
}
