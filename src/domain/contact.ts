import { accept, reject, type Decoded } from "#base";
import { normalizePhone } from "./phone-number.ts";
import { isTimeZone } from "./time.ts";

/** Text fields a contact can have beside `phone` and `custom_fields`, by their published names. */
export const contactFieldNames = [
  "first_name",
  "last_name",
  "email",
  "company",
  "job_title",
  "address",
  "city",
  "state",
  "country",
  "postal_code",
  "timezone",
  "utm_source",
  "utm_medium",
  "utm_campaign",
  "utm_term",
  "utm_content",
] as const;

type Texts = Readonly<Record<string, string>>;
type Values = Readonly<Record<string, unknown>>;

/** A contact of a campaign, read and checked. */
export interface CampaignContact {
  /** E.164 when `callable`, otherwise the text as given. */
  readonly phone: string;
  /** False: the phone is no number that can be dialled. */
  readonly callable: boolean;
  /** Only the fields that were given. */
  readonly fields: Texts;
  readonly customFields: Values;
}

/** What is stored of a contact. */
export interface ContactRecord {
  readonly fields: Texts;
  readonly customFields: Values;
}

/** Reads one contact of a request; `where` is its path, e.g. `contacts[17]`. A malformed phone is not a problem, an absent one is. */
export function readContact(input: unknown, where: string): Decoded<CampaignContact> {
  if (!isRecord(input))
    return reject(where, `${where} is no object; each contact must have a non-empty phone field`);
  const { phone } = input;
  if (typeof phone !== "string" || phone.trim() === "") {
    return reject(`${where}.phone`, `Each contact must have a non-empty phone field; ${where} has none`);
  }
  const fields = readFields(input, where);
  if (!fields.ok) return fields;
  const custom = input["custom_fields"] ?? {};
  if (!isRecord(custom)) return reject(`${where}.custom_fields`, `${where}.custom_fields must be an object`);
  const number = normalizePhone(phone);
  return accept({
    phone: number.ok ? number.value : phone.trim(),
    callable: number.ok,
    fields: fields.value,
    customFields: custom,
  });
}

/** Create-or-update: given fields overwrite, absent ones stay, custom fields merge key by key. */
export function mergeContact(known: ContactRecord, given: ContactRecord): ContactRecord {
  return {
    fields: { ...known.fields, ...given.fields },
    customFields: { ...known.customFields, ...given.customFields },
  };
}

/** The parameters a contact gives to its call: its fields by name, its custom fields as text. Custom fields never hide a field. */
export function contactParams(contact: ContactRecord & { readonly phone: string }): Texts {
  const custom = Object.entries(contact.customFields).map(([name, value]) => [name, asText(value)]);
  return Object.fromEntries([...custom, ...Object.entries(contact.fields), ["phone", contact.phone]]);
}

function readFields(input: Values, where: string): Decoded<Texts> {
  const given: [string, string][] = [];
  for (const name of contactFieldNames) {
    const value = Object.hasOwn(input, name) ? input[name] : undefined;
    if (value === undefined || value === null) continue;
    if (typeof value !== "string") return reject(`${where}.${name}`, `${where}.${name} must be a string`);
    given.push([name, value]);
  }
  const zone = given.find(([name]) => name === "timezone")?.[1];
  if (zone !== undefined && zone !== "" && !isTimeZone(zone)) {
    return reject(`${where}.timezone`, `${where}.timezone must be an IANA zone name such as Europe/Madrid`);
  }
  return accept(Object.fromEntries(given));
}

function asText(value: unknown): string {
  if (typeof value === "string") return value;
  if (value === null || value === undefined) return "";
  return JSON.stringify(value) ?? "";
}

function isRecord(value: unknown): value is Values {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
