import { endOfToken, isSpace, readNumber, trimSpace } from "./scan.ts";
import { parseUri } from "./uri.ts";

/** First line of a message (RFC 3261 7.1, 7.2). With a `fault` a request line is read as far as an answer needs. */
export type StartLine =
  | {
      readonly type: "request";
      readonly method: string;
      readonly uri: string;
      readonly fault: StartLineFault | undefined;
    }
  | { readonly type: "response"; readonly status: number; readonly reason: string }
  | { readonly type: "unreadable"; readonly reason: string };

interface StartLineFault {
  readonly reason: string;
  readonly status: 400 | 416 | 505;
}

export function readStartLine(line: string): StartLine {
  return line.slice(0, 4).toUpperCase() === "SIP/" ? readStatusLine(line) : readRequestLine(line);
}

function readStatusLine(line: string): StartLine {
  if (line.slice(0, VERSION.length).toUpperCase() !== VERSION || line.charAt(VERSION.length) !== " ")
    return { type: "unreadable", reason: "the protocol version of the response is not SIP/2.0" };
  const digits = line.slice(VERSION.length + 1, VERSION.length + 4);
  const rest = line.slice(VERSION.length + 4);
  const status = digits.length === 3 ? readNumber(digits, 699) : undefined;
  if (status === undefined || status < 100 || (rest !== "" && !rest.startsWith(" ")))
    return { type: "unreadable", reason: "the status code is not between 100 and 699" };
  return { type: "response", status, reason: trimSpace(rest) };
}

function readRequestLine(line: string): StartLine {
  const methodEnd = endOfToken(line, 0);
  const trimmed = trimSpace(line);
  const versionAt = trimmed.lastIndexOf(" ") + 1;
  const version = trimmed.slice(versionAt).toUpperCase();
  if (
    methodEnd === 0 ||
    line.charAt(methodEnd) !== " " ||
    versionAt <= methodEnd ||
    !version.startsWith("SIP/")
  )
    return { type: "unreadable", reason: "the first line is neither a SIP request nor a SIP response" };
  const uri = line.slice(methodEnd + 1, Math.max(methodEnd + 1, versionAt - 1));
  const fault = trimmed === line ? (faultOfVersion(version) ?? faultOfUri(uri)) : TRAILING;
  return { type: "request", method: line.slice(0, methodEnd), uri: trimSpace(uri), fault };
}

const VERSION = "SIP/2.0";
const TRAILING: StartLineFault = { reason: "white space follows the request line", status: 400 };

function faultOfVersion(version: string): StartLineFault | undefined {
  if (version === VERSION) return undefined;
  return { reason: "the protocol version is not SIP/2.0", status: 505 };
}

function faultOfUri(uri: string): StartLineFault | undefined {
  const colon = uri.indexOf(":");
  if (colon < 1 || endOfToken(uri, 0) !== colon || hasSpace(uri))
    return { reason: "the Request-URI is malformed", status: 400 };
  const scheme = uri.slice(0, colon).toLowerCase();
  if (scheme !== "sip" && scheme !== "sips" && scheme !== "tel")
    return { reason: "the scheme of the Request-URI is not supported", status: 416 };
  const parsed = parseUri(uri);
  if (parsed === undefined) return { reason: "the Request-URI is malformed", status: 400 };
  // RFC 3261 19.1.1, table 1: headers are not allowed in a Request-URI
  return parsed.headers.size === 0 ? undefined : { reason: "the Request-URI carries headers", status: 400 };
}

function hasSpace(text: string): boolean {
  for (let i = 0; i < text.length; i++) if (isSpace(text.charCodeAt(i))) return true;
  return false;
}
