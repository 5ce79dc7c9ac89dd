import { accept, reject, type Decoded } from "#base";
import type { CountryCode } from "libphonenumber-js";
import { usageError } from "./command-error.ts";

/** Reads phone numbers as they stand in spreadsheets. */
export interface PhoneReader {
  /** E.164, or why it is none and what to do. */
  read(text: string): Decoded<string>;
}

/** A reader for numbers of the given country where they have no prefix of their own (ISO 3166 alpha-2). */
export async function createPhoneReader(country: string | undefined): Promise<PhoneReader> {
  const { isSupportedCountry, parsePhoneNumberFromString } = await import("libphonenumber-js");
  const home = country?.toUpperCase();
  if (home !== undefined && !isSupportedCountry(home)) {
    throw usageError(`there is no country "${country ?? ""}"`, "use two letters: ES, FR, US, ...");
  }
  return { read: (text) => readPhone(text, home, parsePhoneNumberFromString) };
}

type Parse = (
  text: string,
  country?: CountryCode,
) => { readonly number: string; readonly ext?: string; isPossible(): boolean } | undefined;

function readPhone(text: string, country: CountryCode | undefined, parse: Parse): Decoded<string> {
  const given = text.trim();
  if (given === "") return reject("phone", "the phone is empty");
  if (/^\d([.,]\d+)?e\+?\d+$/i.test(given)) {
    return reject(
      "phone",
      `"${given}" was rounded by a spreadsheet, its digits are lost; format the column as text and export again`,
    );
  }
  const bare = withoutDress(given);
  if (!/^\+?\d+$/.test(bare)) return reject("phone", notANumber(given));
  const international = bare.replace(/^00/, "+");
  if (/^\+9990000\d{3}$/.test(international)) return accept(international);
  if (!international.startsWith("+") && country === undefined) {
    return reject("phone", `"${given}" has no country prefix; write it with one, or add --country ES`);
  }
  const number = parse(international, country);
  if (number?.isPossible() !== true || number.ext !== undefined || !/^\+[1-9]\d{6,14}$/.test(number.number)) {
    return reject(
      "phone",
      `"${given}" is no possible phone number${country === undefined ? "" : ` (country ${country})`}`,
    );
  }
  return accept(number.number);
}

/** Takes off what people and programs write around the digits: `'`, `tel:`, blanks, brackets, `.0` of a number column. */
function withoutDress(text: string): string {
  return text
    .normalize("NFKC")
    .replace(/^['"`\u2018\u2019]+/, "")
    .replace(/^(?:tel|phone|callto):/i, "")
    .replace(/^(\d{6,})[.,]0+$/, "$1")
    .replace(/^((?:\+|00)[^(]*)\(0\)/, "$1")
    .replace(/[\p{Separator}\p{Cf}\s()[\].\-/\u2010-\u2015]/gu, "");
}

function notANumber(given: string): string {
  if (/\d{6,}.*(?:[;,/|]|\bor\b|\by\b|\bo\b).*\d{6,}/i.test(given))
    return `"${given}" holds more than one number; keep one`;
  if (/(?:ext|x|#)\s*\.?\s*\d+$/i.test(given)) return `"${given}" has an extension, which cannot be dialled`;
  return `"${given}" is no phone number`;
}
