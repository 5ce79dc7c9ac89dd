import { parseHostPort, printHost } from "./address.ts";
import { percentDecode, percentEncode } from "./percent.ts";
import { classOf, isIn } from "./scan.ts";

/** A sip, sips or tel URI (RFC 3261 19.1, RFC 3966), escapes decoded. IPv6 hosts stand without brackets; of a tel URI `user` is the number and `host` is "". */
export interface SipUri {
  readonly scheme: "sip" | "sips" | "tel";
  readonly user?: string;
  readonly password?: string;
  readonly host: string;
  readonly port?: number;
  /** Names in lower case; a flag such as `lr` is "". */
  readonly params: ReadonlyMap<string, string>;
  readonly headers: ReadonlyMap<string, string>;
}

/** Reads a URI without angle brackets; undefined when it is malformed or of another scheme. */
export function parseUri(text: string): SipUri | undefined {
  const colon = text.indexOf(":");
  const scheme = text.slice(0, Math.max(colon, 0)).toLowerCase();
  const rest = text.slice(colon + 1);
  if (!isPrintable(rest)) return undefined;
  if (scheme === "tel") return parseTel(rest);
  return scheme === "sip" || scheme === "sips" ? parseSip(scheme, rest) : undefined;
}

/** The URI with everything escaped that must be. */
export function printUri(uri: SipUri): string {
  const params = printPairs(uri.params, ";", ";", PARAM);
  if (uri.scheme === "tel") return `tel:${percentEncode(uri.user ?? "", NUMBER)}${params}`;
  const password = uri.password === undefined ? "" : `:${percentEncode(uri.password, PASSWORD)}`;
  const user = uri.user === undefined ? "" : `${percentEncode(uri.user, USER)}${password}@`;
  const port = uri.port === undefined ? "" : `:${uri.port}`;
  return `${uri.scheme}:${user}${printHost(uri.host)}${port}${params}${printPairs(uri.headers, "?", "&", HEADER)}`;
}

/** Whether two URIs are equivalent (RFC 3261 19.1.4; RFC 3966 5 for tel). */
export function sameUri(a: SipUri, b: SipUri): boolean {
  if (a.scheme !== b.scheme || a.password !== b.password || a.port !== b.port) return false;
  if (a.scheme === "tel") return digitsOf(a) === digitsOf(b) && sameEntries(a.params, b.params);
  if (a.user !== b.user || a.host.toLowerCase() !== b.host.toLowerCase()) return false;
  for (const name of DECISIVE) if (a.params.has(name) !== b.params.has(name)) return false;
  for (const [name, value] of a.params) {
    const other = b.params.get(name);
    if (other !== undefined && other.toLowerCase() !== value.toLowerCase()) return false;
  }
  return sameEntries(a.headers, b.headers);
}

/** A parameter of these that only one URI has makes them differ; others are then ignored. */
const DECISIVE = ["user", "ttl", "method", "maddr", "transport"] as const;

const UNRESERVED = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_.!~*'()";
const USER = classOf(`${UNRESERVED}&=+$,;?/`);
const PASSWORD = classOf(`${UNRESERVED}&=+$,`);
const PARAM = classOf(`${UNRESERVED}[]/:&+$`);
const HEADER = classOf(`${UNRESERVED}[]/?:+$`);
const NUMBER = classOf("0123456789ABCDEFabcdef+-.()*#");
const FORBIDDEN = classOf(' \t<>"');

function parseSip(scheme: "sip" | "sips", text: string): SipUri | undefined {
  const at = text.indexOf("@");
  const userInfo = at < 0 ? undefined : parseUserInfo(text.slice(0, at));
  if (at >= 0 && userInfo === undefined) return undefined;
  const hostAt = at + 1;
  const question = text.indexOf("?", hostAt);
  const headersAt = question < 0 ? text.length : question;
  const semicolon = text.indexOf(";", hostAt);
  const paramsAt = semicolon < 0 || semicolon > headersAt ? headersAt : semicolon;
  const hostPort = parseHostPort(text.slice(hostAt, paramsAt));
  const params = readPairs(text.slice(paramsAt + 1, headersAt), ";");
  const headers = readPairs(text.slice(headersAt + 1), "&");
  if (hostPort === undefined || params === undefined || headers === undefined) return undefined;
  return { scheme, ...userInfo, ...hostPort, params, headers };
}

function parseTel(text: string): SipUri | undefined {
  const semicolon = text.indexOf(";");
  const end = semicolon < 0 ? text.length : semicolon;
  const number = text.slice(0, end);
  const params = readPairs(text.slice(end + 1), ";");
  if (number === "" || params === undefined) return undefined;
  for (let i = 0; i < number.length; i++) if (!isIn(NUMBER, number.charCodeAt(i))) return undefined;
  return { scheme: "tel", user: number, host: "", params, headers: new Map() };
}

/** The first colon parts user and password: an unescaped one cannot stand in a user (RFC 3261 25.1). */
function parseUserInfo(text: string): Pick<SipUri, "user" | "password"> | undefined {
  const colon = text.indexOf(":");
  const user = percentDecode(colon < 0 ? text : text.slice(0, colon));
  const password = colon < 0 ? undefined : percentDecode(text.slice(colon + 1));
  if (user === undefined || user === "" || (colon >= 0 && password === undefined)) return undefined;
  return password === undefined ? { user } : { user, password };
}

/** `a=b;c`: names in lower case, the first of a repeated name counts, an empty part is skipped; undefined for a nameless value or a broken escape. */
function readPairs(text: string, separator: ";" | "&"): Map<string, string> | undefined {
  const pairs = new Map<string, string>();
  for (const part of text === "" ? [] : text.split(separator)) {
    const equals = part.indexOf("=");
    const name = percentDecode(equals < 0 ? part : part.slice(0, equals))?.toLowerCase();
    const value = equals < 0 ? "" : percentDecode(part.slice(equals + 1));
    if (part === "") continue;
    if (name === undefined || name === "" || value === undefined) return undefined;
    if (!pairs.has(name)) pairs.set(name, value);
  }
  return pairs;
}

function printPairs(
  pairs: ReadonlyMap<string, string>,
  first: string,
  next: string,
  plain: Uint8Array,
): string {
  let text = "";
  for (const [name, value] of pairs) {
    text += `${text === "" ? first : next}${percentEncode(name, plain)}`;
    // a header needs its "=", a parameter without value is a flag
    if (value !== "" || first === "?") text += `=${percentEncode(value, plain)}`;
  }
  return text;
}

/** No white space, control character, quote or angle bracket: the callers take URIs out of lines and brackets. */
function isPrintable(text: string): boolean {
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (code < 0x20 || code === 0x7f || isIn(FORBIDDEN, code)) return false;
  }
  return true;
}

/** Without visual separators (RFC 3966 3). */
function digitsOf(tel: SipUri): string {
  return (tel.user ?? "").replaceAll(/[-.()]/g, "").toLowerCase();
}

function sameEntries(a: ReadonlyMap<string, string>, b: ReadonlyMap<string, string>): boolean {
  if (a.size !== b.size) return false;
  for (const [name, value] of a) if (b.get(name)?.toLowerCase() !== value.toLowerCase()) return false;
  return true;
}
