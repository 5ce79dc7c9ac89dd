import { usageError } from "./command-error.ts";

/** Fields of a contact, as the API names them. */
export const contactFields = [
  "phone",
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
export type ContactField = (typeof contactFields)[number];

/** What a column of the file is for. */
export type Target =
  | { readonly type: "field"; readonly name: ContactField }
  | { readonly type: "custom"; readonly name: string }
  | { readonly type: "skip" };

/** Headings as people write them (es, en, fr, de, it, pt), reduced to letters and digits. */
const aliases: Readonly<Partial<Record<ContactField, string>>> = {
  phone:
    "phonenumber telephone telephonenumber tel telno mobile mobilephone mobilenumber cell cellphone cellular whatsapp " +
    "telefono telefonomovil numerodetelefono movil celular numero telefonofijo tlf tfno tno " +
    "numerodetelephone numerotelephone portable telephoneportable mobil " +
    "telefon telefonnummer handy handynummer mobiltelefon rufnummer mobilnummer " +
    "cellulare numeroditelefono numerotelefono telefonocellulare " +
    "telefone telemovel numerodetelefone telefonecelular phone1 phone1value",
  first_name:
    "firstname givenname name forename nombre nombres primernombre prenom vorname nome primeironome nomeproprio",
  last_name:
    "lastname surname familyname apellido apellidos nomdefamille nom nachname familienname cognome sobrenome apelido",
  email:
    "mail emailaddress correo correoelectronico courriel adressemail adresseemail emailadresse posta postaelettronica",
  company:
    "companyname organization organisation empresa compania societe entreprise firma unternehmen azienda societa",
  job_title: "jobtitle position role cargo puesto poste fonction beruf funktion ruolo qualifica funcao",
  address: "streetaddress street direccion calle adresse rue strasse indirizzo via endereco morada rua",
  city: "town ciudad localidad poblacion ville stadt ort citta comune cidade localidade",
  state: "province region county provincia departamento departement bundesland regione distrito",
  country: "countryname pais pays land paese nazione",
  postal_code:
    "postalcode postcode zip zipcode codigopostal cp codepostal plz postleitzahl cap codicepostale",
  timezone: "tz zonahoraria fuseauhoraire zeitzone fusoorario fusohorario",
};

/** Columns that outdial itself adds to a file of rejected rows; fed again, they are not data. */
export const rejectColumns = ["outdial_line", "outdial_reason"] as const;

/**
 * What each column is for. Exact names of the API come first, then usual headings; any other column becomes a
 * custom field under its own heading. Two columns for one field are never guessed between: exit 2.
 */
export function mapColumns(headings: readonly string[], given: readonly string[]): readonly Target[] {
  const forced = forcedTargets(headings, given);
  const exact = headings.map((heading) =>
    contactFields.find((field) => field === heading.trim().toLowerCase()),
  );
  const taken = new Set([...[...forced.values()].map(nameOf), ...exact.filter((_, at) => !forced.has(at))]);
  const byAlias = headings.map((heading, at) => {
    const field = forced.has(at) || exact[at] !== undefined ? undefined : aliasField(heading);
    return field === undefined || taken.has(field) ? undefined : field;
  });
  refuseAmbiguity(headings, byAlias);
  refuseTwice(headings, exact, forced);
  const customNames = new Set<string>();
  const targets = headings.map((heading, at): Target => {
    const field = exact[at] ?? byAlias[at];
    const target =
      forced.get(at) ?? (field === undefined ? customTarget(heading, at) : { type: "field", name: field });
    return target.type === "custom" ? { type: "custom", name: unused(target.name, customNames) } : target;
  });
  if (!targets.some((target) => target.type === "field" && target.name === "phone")) throw noPhone(headings);
  return targets;
}

/** `Móvil → phone, Curso → custom field "Curso"`. */
export function mappingText(headings: readonly string[], targets: readonly Target[]): string {
  const parts = targets.map((target, at) => {
    const heading = headings[at]?.trim() || `column ${at + 1}`;
    if (target.type === "skip") return `${heading} → not used`;
    if (target.type === "custom")
      return target.name === heading ? `${heading} → custom` : `${heading} → custom ${target.name}`;
    return target.name === heading ? heading : `${heading} → ${target.name}`;
  });
  return parts.join(", ");
}

function forcedTargets(headings: readonly string[], given: readonly string[]): ReadonlyMap<number, Target> {
  const forced = new Map<number, Target>();
  for (const pair of given) {
    const split = pair.lastIndexOf("=");
    const column = pair.slice(0, split).trim();
    const name = pair.slice(split + 1).trim();
    if (split < 1 || name === "")
      throw usageError(`--map takes column=field, not "${pair}"`, 'for example --map "Móvil=phone"');
    const at = columnAt(headings, column);
    if (at === undefined) {
      throw usageError(
        `the file has no column "${column}"`,
        `its columns: ${headings.map((one) => one.trim()).join(", ")}`,
      );
    }
    const field = contactFields.find((one) => one === name.toLowerCase());
    if (name === "-" || name === "skip") forced.set(at, { type: "skip" });
    else if (field !== undefined) forced.set(at, { type: "field", name: field });
    else forced.set(at, { type: "custom", name: name.replace(/^custom_fields\./, "") });
  }
  return forced;
}

function columnAt(headings: readonly string[], column: string): number | undefined {
  const exact = headings.findIndex((heading) => heading.trim() === column);
  const at = exact >= 0 ? exact : headings.findIndex((heading) => reduced(heading) === reduced(column));
  return at < 0 ? undefined : at;
}

function nameOf(target: Target): string | undefined {
  return target.type === "field" ? target.name : undefined;
}

function aliasField(heading: string): ContactField | undefined {
  const key = reduced(heading);
  if (key === "") return undefined;
  return contactFields.find((field) => field.replaceAll("_", "") === key || words(field).includes(key));
}

function words(field: ContactField): readonly string[] {
  return (aliases[field] ?? "").split(" ");
}

/** Lower case letters and digits without accents: `Teléfono móvil` → `telefonomovil`. */
function reduced(heading: string): string {
  return heading
    .normalize("NFKD")
    .toLowerCase()
    .replaceAll("ß", "ss")
    .replace(/[^\p{Letter}\p{Number}]/gu, "");
}

function customTarget(heading: string, at: number): Target {
  const name = heading.trim();
  if (rejectColumns.some((column) => column === name)) return { type: "skip" };
  return { type: "custom", name: name === "" ? `column_${at + 1}` : name };
}

function unused(name: string, used: Set<string>): string {
  let free = name;
  for (let n = 2; used.has(free); n++) free = `${name}_${n}`;
  used.add(free);
  return free;
}

function refuseAmbiguity(headings: readonly string[], fields: readonly (ContactField | undefined)[]): void {
  for (const field of contactFields) {
    const columns = headings.filter((_, at) => fields[at] === field).map((heading) => heading.trim());
    if (columns.length > 1) throw twice(field, columns);
  }
}

function refuseTwice(
  headings: readonly string[],
  exact: readonly (ContactField | undefined)[],
  forced: ReadonlyMap<number, Target>,
): void {
  for (const field of contactFields) {
    const columns = headings.filter((_, at) => {
      const target = forced.get(at);
      return target === undefined ? exact[at] === field : nameOf(target) === field;
    });
    if (columns.length > 1) throw twice(field, columns);
  }
}

function twice(field: ContactField, columns: readonly string[]): Error {
  return usageError(
    `${columns.length} columns could be ${field}: ${columns.join(", ")}`,
    `say which one: --map "${columns[0] ?? ""}=${field}"`,
  );
}

function noPhone(headings: readonly string[]): Error {
  const looksLikeData = headings.some((heading) => /^[+(]?\d[\d\s().-]{5,}$/.test(heading.trim()));
  return usageError(
    looksLikeData ? "the file has no header line" : "no column is known to hold the phone numbers",
    looksLikeData
      ? "put a line with the names of the columns at its beginning: phone,first_name"
      : `say which one: --map "${headings[0]?.trim() ?? "column"}=phone"      (outdial help csv)`,
  );
}
