import type { Entropy } from "#base";
import { readNumber } from "./scan.ts";
import type { SdesKey, SrtpSuite } from "./sdp-media.ts";
import type { MediaDescription, SdpAttribute } from "./sdp-session.ts";

/** Key and salt together, in octets; the order is the one of preference. */
const KEY_BYTES: Readonly<Record<SrtpSuite, number>> = {
  AEAD_AES_128_GCM: 28,
  AES_CM_128_HMAC_SHA1_80: 30,
  AES_CM_128_HMAC_SHA1_32: 30,
};

/** An `a=crypto` line that can be used (RFC 4568 9.1). */
export interface CryptoLine extends SdesKey {
  /** What an answer names it by: 1 to 999999999. */
  readonly tag: number;
}

/** Fresh keys for one call's offer or answer, one a suite. */
export function createSdesKeys(
  entropy: Entropy,
  suites: readonly SrtpSuite[] = Object.keys(KEY_BYTES).filter(isSuite),
): readonly SdesKey[] {
  return suites.map((suite) => ({
    suite,
    key: btoa(String.fromCharCode(...entropy.bytes(KEY_BYTES[suite]))),
  }));
}

/** The lines that offer these keys, numbered from 1. */
export function cryptoAttributes(keys: readonly SdesKey[]): readonly SdpAttribute[] {
  return keys.map((key, index) => cryptoAttribute({ ...key, tag: index + 1 }));
}

export function cryptoAttribute({ tag, suite, key }: CryptoLine): SdpAttribute {
  return { name: "crypto", value: `${tag} ${suite} inline:${key}` };
}

/**
 * The crypto lines of a media that we can use, in its order. Left out is what we do not speak: other suites, several
 * keys or a master key index (MKI), and session parameters that weaken or change the protection (RFC 4568 6.3).
 */
export function readCrypto(media: MediaDescription): readonly CryptoLine[] {
  const lines: CryptoLine[] = [];
  for (const { name, value = "" } of media.attributes) {
    const line = name === "crypto" ? readLine(value) : undefined;
    if (line !== undefined && !lines.some(({ tag }) => tag === line.tag)) lines.push(line);
  }
  return lines;
}

function readLine(value: string): CryptoLine | undefined {
  const [number = "", suite = "", keys = "", ...parameters] = value.split(" ").filter((word) => word !== "");
  const tag = readNumber(number, 999_999_999);
  if (tag === undefined || !isSuite(suite) || !parameters.every(isHarmless)) return undefined;
  const key = readKey(keys, KEY_BYTES[suite]);
  return key === undefined ? undefined : { tag, suite, key };
}

function isSuite(name: string): name is SrtpSuite {
  return Object.hasOwn(KEY_BYTES, name);
}

/** `WSH` only advises on the replay window; what begins with `-` may be ignored. */
function isHarmless(parameter: string): boolean {
  return parameter.startsWith("-") || parameter.startsWith("WSH=");
}

/** `inline:` key and salt, then perhaps a lifetime. Our calls end long before any lifetime that makes sense. */
function readKey(text: string, bytes: number): string | undefined {
  if (!text.startsWith("inline:")) return undefined;
  const [given = "", lifetime, ...more] = text.slice("inline:".length).split("|");
  if (more.length > 0 || (lifetime !== undefined && !isLifetime(lifetime))) return undefined;
  const key = given.endsWith("==") ? given.slice(0, -2) : given;
  const characters = Math.ceil((bytes * 4) / 3);
  if (key.length !== characters || !/^[A-Za-z0-9+/]*$/.test(key)) return undefined;
  return key.padEnd(4 * Math.ceil(bytes / 3), "=");
}

/** A number of packets, or a power of two: at most 2^48. What has a colon is an MKI. */
function isLifetime(text: string): boolean {
  const power = text.startsWith("2^");
  const count = readNumber(power ? text.slice(2) : text, power ? 48 : 2 ** 48);
  return count !== undefined && (power || count > 0);
}
