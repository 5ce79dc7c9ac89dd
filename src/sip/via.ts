import { bareHost, parseHostPort, printHost } from "./address.ts";
import { printParams, readParams } from "./params.ts";
import { endOfToken, readNumber, skipSpace } from "./scan.ts";

/** A Via value (RFC 3261 20.42). IPv6 addresses stand without brackets; `params` holds what has no field of its own. */
export interface Via {
  /** Upper case: UDP, TCP, TLS. */
  readonly transport: string;
  readonly host: string;
  readonly port?: number;
  readonly branch?: string;
  readonly received?: string;
  /** `true`: asked for but not filled in (RFC 3581). */
  readonly rport?: number | true;
  readonly params: ReadonlyMap<string, string>;
}

/** Reads one Via value; undefined when it is malformed or of another protocol than SIP/2.0. */
export function parseVia(text: string): Via | undefined {
  const protocol = readWord(text, 0);
  const version = readWord(text, afterSlash(text, protocol.end));
  const transport = readWord(text, afterSlash(text, version.end));
  if (protocol.word.toUpperCase() !== "SIP" || version.word !== "2.0" || transport.word === "")
    return undefined;
  const start = skipSpace(text, transport.end);
  if (start === transport.end) return undefined;
  const semicolon = text.indexOf(";", start);
  const paramsAt = semicolon < 0 ? text.length : semicolon;
  const sentBy = parseHostPort(withoutSpaces(text.slice(start, paramsAt)));
  const params = readParams(text, paramsAt);
  if (sentBy === undefined || params === undefined) return undefined;
  return { transport: transport.word.toUpperCase(), ...sentBy, ...knownParams(params) };
}

/** The value as it goes into a Via header. */
export function printVia(via: Via): string {
  const port = via.port === undefined ? "" : `:${via.port}`;
  const params: [string, string][] = [...via.params].filter(([name]) => !KNOWN.has(name));
  if (via.received !== undefined) params.push(["received", via.received]);
  if (via.rport !== undefined) params.push(["rport", via.rport === true ? "" : String(via.rport)]);
  if (via.branch !== undefined) params.push(["branch", via.branch]);
  return `SIP/2.0/${via.transport} ${printHost(via.host)}${port}${printParams(params)}`;
}

const KNOWN: ReadonlySet<string> = new Set(["branch", "received", "rport"]);

function knownParams(all: Map<string, string>): Pick<Via, "branch" | "received" | "rport" | "params"> {
  const branch = all.get("branch");
  const received = all.get("received");
  const rport = all.get("rport");
  for (const name of KNOWN) all.delete(name);
  return {
    // a branch without a value identifies nothing
    ...(branch ? { branch } : {}),
    ...(received ? { received: bareHost(received) } : {}),
    ...(rport === undefined ? {} : { rport: readNumber(rport, 65_535) ?? true }),
    params: all,
  };
}

function readWord(text: string, at: number): { word: string; end: number } {
  const start = skipSpace(text, at);
  const end = endOfToken(text, start);
  return { word: text.slice(start, end), end };
}

function afterSlash(text: string, at: number): number {
  const slash = skipSpace(text, at);
  return text.charAt(slash) === "/" ? slash + 1 : text.length;
}

/** `host : port` may be spaced (RFC 3261 25.1 COLON); a space inside the host must not vanish. */
function withoutSpaces(text: string): string {
  let end = text.length;
  while (end > 0 && (text.charAt(end - 1) === " " || text.charAt(end - 1) === "\t")) end--;
  const colon = text.lastIndexOf(":", end);
  if (colon < 0) return text.slice(0, end);
  let hostEnd = colon;
  while (hostEnd > 0 && (text.charAt(hostEnd - 1) === " " || text.charAt(hostEnd - 1) === "\t")) hostEnd--;
  return `${text.slice(0, hostEnd)}:${text.slice(skipSpace(text, colon + 1), end)}`;
}
