import { accept, reject, type Decoded } from "#base";
import { parsePhoneNumberFromString } from "libphonenumber-js";

const sandbox = /^\+9990000\d{3}$/;
const accepted = "with country prefix, such as +34600111222";

/** Whether a normalised number belongs to the built-in carrier: `+999 000 0nnn`. */
export function isSandboxNumber(phone: string): boolean {
  return sandbox.test(phone);
}

/** Whether `text` is E.164 as we store and dial it: a plus and 7 to 15 digits. */
export function isE164(text: string): boolean {
  return /^\+[1-9]\d{6,14}$/.test(text);
}

/**
 * E.164 of a number as people write it: ASCII digits with spaces, dashes, dots, parentheses, `00` for `+`.
 * Refused: no country prefix, extensions, other scripts, lengths no country has.
 */
export function normalizePhone(text: string): Decoded<string> {
  const written = text.trim();
  // Before the library sees it: it would also find a number inside a SIP URI and read digits of other scripts.
  if (!/^[+0-9][0-9 .()-]*$/.test(written) || written.length > 40) {
    return reject("phone", `phone must be a number ${accepted}`);
  }
  const international = written.replace(/^00/, "+");
  if (!international.startsWith("+")) return reject("phone", `phone must be a number ${accepted}`);
  const digits = `+${international.replace(/\D/g, "")}`;
  if (isSandboxNumber(digits)) return accept(digits);
  const number = parsePhoneNumberFromString(international);
  if (!number?.isPossible() || number.ext !== undefined || !isE164(number.number)) {
    return reject("phone", `phone is not a possible number; it must be given ${accepted}`);
  }
  return accept(number.number);
}
