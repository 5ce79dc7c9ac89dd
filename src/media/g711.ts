/** The two laws of ITU-T G.711, by their RTP names (RFC 3551 4.5.14). */
export type G711Codec = "PCMU" | "PCMA";

interface Law {
  /** 16-bit sample of each octet. */
  readonly decoded: Int16Array;
  /** Octet of each 16-bit sample, at index `sample & 0xffff`. */
  readonly encoded: Uint8Array;
}

const mu: Law = { decoded: tabulateDecoder(expandMu), encoded: tabulateEncoder(compressMu) };
const a: Law = { decoded: tabulateDecoder(expandA), encoded: tabulateEncoder(compressA) };

/** Encodes all of `pcm` into `octets` from `at` on; answers the position after the last octet. */
export function encodeG711(codec: G711Codec, pcm: Int16Array, octets: Uint8Array, at = 0): number {
  const table = (codec === "PCMU" ? mu : a).encoded;
  const length = pcm.length;
  for (let i = 0; i < length; i++) octets[at + i] = table[(pcm[i] ?? 0) & 0xffff] ?? 0;
  return at + length;
}

/** A run of octets inside a larger buffer. */
export interface OctetRun {
  readonly offset: number;
  readonly length: number;
}

/** Decodes `run` of `octets` (default: all) to the start of `pcm`; answers how many samples, never more than fit. */
export function decodeG711(codec: G711Codec, octets: Uint8Array, pcm: Int16Array, run?: OctetRun): number {
  const table = (codec === "PCMU" ? mu : a).decoded;
  const offset = run === undefined ? 0 : run.offset;
  const length = Math.min(run === undefined ? octets.length : run.length, pcm.length, octets.length - offset);
  for (let i = 0; i < length; i++) pcm[i] = table[octets[offset + i] ?? 0] ?? 0;
  return Math.max(length, 0);
}

function tabulateDecoder(expand: (octet: number) => number): Int16Array {
  const table = new Int16Array(256);
  for (let octet = 0; octet < 256; octet++) table[octet] = expand(octet);
  return table;
}

function tabulateEncoder(compress: (sample: number) => number): Uint8Array {
  const table = new Uint8Array(65_536);
  for (let bits = 0; bits < 65_536; bits++) table[bits] = compress((bits << 16) >> 16);
  return table;
}

/** ITU-T G.191 `ulaw_compress`: 14-bit one's complement magnitude, bias 33, segment and mantissa inverted. */
function compressMu(sample: number): number {
  const magnitude = (sample < 0 ? ~sample >> 2 : sample >> 2) + 33;
  const clipped = Math.min(magnitude, 0x1fff);
  const segment = 27 - Math.clz32(clipped); // 1 for 33…63, 8 for 4096…8191
  const high = 8 - segment;
  const low = 0x0f - ((clipped >> segment) & 0x0f);
  return (high << 4) | low | (sample >= 0 ? 0x80 : 0);
}

/** ITU-T G.191 `ulaw_expand`. */
function expandMu(octet: number): number {
  const inverted = ~octet & 0xff;
  const exponent = (inverted >> 4) & 7;
  const step = 4 << (exponent + 1);
  const magnitude = (0x80 << exponent) + step * (inverted & 0x0f) + step / 2 - 4 * 33;
  return octet < 0x80 ? -magnitude : magnitude;
}

/** ITU-T G.191 `alaw_compress`: 13-bit one's complement magnitude, even bits inverted. */
function compressA(sample: number): number {
  let magnitude = sample < 0 ? ~sample >> 4 : sample >> 4;
  if (magnitude > 15) {
    let exponent = 1;
    while (magnitude > 16 + 15) {
      magnitude >>= 1;
      exponent++;
    }
    magnitude += (exponent << 4) - 16;
  }
  return (sample >= 0 ? magnitude | 0x80 : magnitude) ^ 0x55;
}

/** ITU-T G.191 `alaw_expand`. */
function expandA(octet: number): number {
  const bits = octet ^ 0x55;
  const exponent = (bits & 0x70) >> 4;
  let mantissa = ((bits & 0x0f) << 4) + 8;
  if (exponent > 0) mantissa += 256;
  if (exponent > 1) mantissa <<= exponent - 1;
  return bits > 127 ? mantissa : -mantissa;
}
