import { classOf, isIn, readNumber } from "./scan.ts";

/** Host and port as they stand in URIs and Via (RFC 3261 25.1 `hostport`); an IPv6 address without its brackets. */
export interface HostPort {
  readonly host: string;
  readonly port?: number;
}

const NAME = classOf("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._");
const IPV6 = classOf("ABCDEFabcdef0123456789:.");
const HEX = classOf("0123456789ABCDEFabcdef");

/** Reads a host with an optional port; the whole text must be it. Underscores in names and the extra colon of RFC 5118 4.10 are tolerated. */
export function parseHostPort(text: string): HostPort | undefined {
  const bracketed = text.startsWith("[");
  const hostEnd = bracketed ? text.indexOf("]") + 1 : endOfName(text);
  if (hostEnd <= 0) return undefined;
  const host = bracketed ? text.slice(1, hostEnd - 1) : text.slice(0, hostEnd);
  if (bracketed && !isIpv6Like(host)) return undefined;
  if (hostEnd === text.length) return { host };
  if (text.charAt(hostEnd) !== ":") return undefined;
  const port = readNumber(text.slice(hostEnd + 1), 65_535);
  return port === undefined ? undefined : { host, port };
}

/** Host with the brackets an IPv6 address needs. */
export function printHost(host: string): string {
  return host.includes(":") && !host.startsWith("[") ? `[${host}]` : host;
}

/** An IPv6 address without the brackets some put around it (RFC 5118 4.5). */
export function bareHost(host: string): string {
  return host.startsWith("[") && host.endsWith("]") ? host.slice(1, -1) : host;
}

function endOfName(text: string): number {
  let i = 0;
  while (i < text.length && isIn(NAME, text.charCodeAt(i))) i++;
  return i;
}

function isIpv6Like(text: string): boolean {
  for (let i = 0; i < text.length; i++) if (!isIn(IPV6, text.charCodeAt(i))) return false;
  return text.length <= 45 && text.indexOf(":") !== text.lastIndexOf(":");
}

/** Whether the text is a complete IPv4 or IPv6 address (RFC 4291 2.2) that one host can have: neither multicast nor broadcast. */
export function isUnicastAddress(text: string): boolean {
  if (!text.includes(":")) {
    const [first] = readIpv4(text) ?? [];
    return first !== undefined && first < 224;
  }
  return isIpv6(text) && !text.toLowerCase().startsWith("ff");
}

/** `0.0.0.0` or `::`: no address at all. */
export function isUnspecified(address: string): boolean {
  return address === "0.0.0.0" || address === "::";
}

function readIpv4(text: string): readonly number[] | undefined {
  const octets = text.split(".").flatMap((part) => (part.length <= 3 ? (readNumber(part, 255) ?? []) : []));
  return octets.length === 4 && text.split(".").length === 4 ? octets : undefined;
}

function isIpv6(text: string): boolean {
  if (text.length > 45) return false;
  const [before = "", after, rest] = text.split("::");
  if (rest !== undefined) return false;
  const head = countGroups(before, after === undefined);
  const tail = after === undefined ? 0 : countGroups(after, true);
  if (head === undefined || tail === undefined) return false;
  return after === undefined ? head === 8 : head + tail <= 7;
}

/** 16-bit groups in a part of an IPv6 address; an IPv4 address at the end counts two. */
function countGroups(text: string, isLast: boolean): number | undefined {
  if (text === "") return 0;
  const groups = text.split(":");
  let count = 0;
  for (const [i, group] of groups.entries()) {
    if (isLast && i === groups.length - 1 && readIpv4(group) !== undefined) count += 2;
    else if (group.length >= 1 && group.length <= 4 && isHex(group)) count += 1;
    else return undefined;
  }
  return count;
}

function isHex(text: string): boolean {
  for (let i = 0; i < text.length; i++) if (!isIn(HEX, text.charCodeAt(i))) return false;
  return true;
}
