import { createHash, createHmac, timingSafeEqual } from "node:crypto";

type Octets = string | Uint8Array;

/** Hash functions with hex results, handed to the pure modules (digest of RFC 8760, tokens). */
export const hashes = {
  md5: (data: Octets): string => createHash("md5").update(data).digest("hex"),
  sha256: (data: Octets): string => createHash("sha256").update(data).digest("hex"),
  sha512_256: (data: Octets): string => createHash("sha512-256").update(data).digest("hex"),
} as const;

/** HMAC-SHA-256 as base64url, for signed URLs. */
export function signature(key: Uint8Array, text: string): string {
  return createHmac("sha256", key).update(text).digest("base64url");
}

/** Compares two texts in a time that depends on their length only. */
export function sameSecret(a: string, b: string): boolean {
  const left = Buffer.from(a);
  const right = Buffer.from(b);
  return left.length === right.length && timingSafeEqual(left, right);
}
