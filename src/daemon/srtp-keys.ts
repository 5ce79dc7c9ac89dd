import type { Entropy } from "#base";
import type { SdesKey } from "./ports.ts";

/** Octets of master key and salt (RFC 6188 2, RFC 7714 12); dearest first. */
const suites = [
  ["AEAD_AES_128_GCM", 28],
  ["AES_CM_128_HMAC_SHA1_80", 30],
  ["AES_CM_128_HMAC_SHA1_32", 30],
] as const;

/** Fresh keys for one call, to be offered all (RFC 4568 6.1). */
export function newSrtpKeys(entropy: Entropy): readonly SdesKey[] {
  return suites.map(([suite, bytes]) => ({
    suite,
    key: Buffer.from(entropy.bytes(bytes)).toString("base64"),
  }));
}
