import { isIn } from "./scan.ts";

/** Percent-escapes resolved as UTF-8 (RFC 3261 19.1.2); undefined for a broken escape, U+FFFD for octets that are no UTF-8. */
export function percentDecode(text: string): string | undefined {
  if (!text.includes("%")) return text;
  const bytes: number[] = [];
  let decoded = "";
  let i = 0;
  while (i < text.length) {
    if (text.charCodeAt(i) !== PERCENT) {
      const next = text.indexOf("%", i);
      const end = next < 0 ? text.length : next;
      decoded += text.slice(i, end);
      i = end;
      continue;
    }
    bytes.length = 0;
    for (; text.charCodeAt(i) === PERCENT; i += 3) {
      const high = hexDigit(text.charCodeAt(i + 1));
      const low = hexDigit(text.charCodeAt(i + 2));
      if (high === undefined || low === undefined) return undefined;
      bytes.push(high * 16 + low);
    }
    decoded += DECODER.decode(Uint8Array.from(bytes));
  }
  return decoded;
}

/** Every character outside the class as UTF-8 percent-escapes. */
export function percentEncode(text: string, plain: Uint8Array): string {
  let escaped = "";
  for (const character of text) {
    const code = character.charCodeAt(0);
    if (isIn(plain, code)) escaped += character;
    else if (code < 0x80) escaped += hexEscape(code);
    else for (const byte of ENCODER.encode(character)) escaped += hexEscape(byte);
  }
  return escaped;
}

function hexEscape(byte: number): string {
  return `%${byte.toString(16).toUpperCase().padStart(2, "0")}`;
}

const PERCENT = 0x25;
const DECODER = new TextDecoder("utf-8", { ignoreBOM: true });
const ENCODER = new TextEncoder();

function hexDigit(code: number): number | undefined {
  if (code >= 0x30 && code <= 0x39) return code - 0x30;
  const letter = code | 0x20;
  return letter >= 0x61 && letter <= 0x66 ? letter - 0x57 : undefined;
}
