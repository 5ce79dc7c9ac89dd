import {
  getCountryCallingCode,
  isSupportedCountry,
  parsePhoneNumberFromString,
  type CountryCode,
} from "libphonenumber-js";

/** Plain characters of a SIP user around exactly one placeholder. */
const template = /^(\+?[0-9A-Za-z._*-]{0,24})\{(e164|national:([A-Z]{2}))\}([0-9A-Za-z._*-]{0,24})$/;

/** What is wrong with a number format, in one sentence; undefined when nothing is. */
export function numberFormatFault(format: string): string | undefined {
  const parts = template.exec(format);
  const country = parts?.[3];
  if (parts === null) {
    return `"${format}" is no number format; write +{e164}, 00{e164}, {national:ES} or the like`;
  }
  if (country !== undefined && !isSupportedCountry(country))
    return `"${format}" names no country: ${country} is not one`;
  return undefined;
}

/**
 * A number as a trunk wants it dialled. `{e164}` is the number's digits with the country's but without the plus;
 * `{national:FR}` is what somebody in France would dial: the national number with its leading zero, and numbers of
 * other countries with the international prefix, without what stands around the placeholder.
 */
export function formatNumber(format: string, e164: string): string {
  const parts = template.exec(format);
  if (parts === null) return e164;
  const [, before = "", placeholder = "", country, after = ""] = parts;
  if (placeholder === "e164" || country === undefined || !isSupportedCountry(country)) {
    return `${before}${e164.slice(1)}${after}`;
  }
  const number = parsePhoneNumberFromString(e164);
  if (number === undefined) return e164;
  if (number.countryCallingCode !== getCountryCallingCode(country))
    return fromAbroad(country, number.format("IDD", { fromCountry: country }), e164);
  return `${before}${digitsOf(number.formatNational())}${after}`;
}

/** Countries with several international prefixes have none that the library would choose. */
function fromAbroad(country: CountryCode, dialled: string, e164: string): string {
  const digits = digitsOf(dialled);
  const national = e164.slice(1);
  return digits.endsWith(national) && digits.length > national.length
    ? digits
    : `${country === "US" || country === "CA" ? "011" : "00"}${national}`;
}

const digitsOf = (text: string): string => text.replace(/\D/g, "");
