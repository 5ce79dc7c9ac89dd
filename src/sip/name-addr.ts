import { printParams, readParams } from "./params.ts";
import { classOf, endOfQuoted, isIn, isToken, quote, skipSpace, trimSpace, unquote } from "./scan.ts";

/** A From, To, Contact or Route value (RFC 3261 20.10). Parameter names are lower case, values unquoted, flags "". */
export interface NameAddr {
  readonly display?: string;
  readonly uri: string;
  readonly params: ReadonlyMap<string, string>;
}

/**
 * Reads one value, with or without angle brackets; without them everything after `;` belongs to the header, not to the URI.
 * Undefined for an unclosed quote, an unquoted name with separators, spaces inside the URI, or an unbracketed URI that needs brackets (RFC 3261 20).
 */
export function parseNameAddr(text: string): NameAddr | undefined {
  const start = skipSpace(text, 0);
  if (text.charAt(start) === '"') {
    const end = endOfQuoted(text, start);
    if (end === undefined) return undefined;
    const open = skipSpace(text, end);
    return text.charAt(open) === "<" ? bracketed(text, open, unquote(text.slice(start, end))) : undefined;
  }
  const open = text.indexOf("<", start);
  // an unbracketed URI may still have "<" in a quoted parameter behind it
  const semicolon = text.indexOf(";", start);
  if (open < 0 || (semicolon >= 0 && semicolon < open)) return unbracketed(text, start, semicolon);
  const display = trimSpace(text.slice(start, open));
  return isPlainName(display) ? bracketed(text, open, display) : undefined;
}

/** The value with angle brackets, the name quoted where it is not plain words. */
export function printNameAddr(value: NameAddr): string {
  const { display = "" } = value;
  const words = display.split(" ");
  const name = display === "" ? "" : `${words.every(isToken) ? display : quote(display)} `;
  return `${name}<${value.uri}>${printParams(value.params)}`;
}

const NOT_IN_NAME = classOf('",;:\\<>');
const NOT_IN_URI = classOf(' \t<>"');
const SCHEME = classOf("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+-.");

function bracketed(text: string, open: number, display: string): NameAddr | undefined {
  const close = text.indexOf(">", open);
  if (close < 0) return undefined;
  return build(display, text.slice(open + 1, close), readParams(text, close + 1, true));
}

function unbracketed(text: string, start: number, semicolon: number): NameAddr | undefined {
  const uri = trimSpace(semicolon < 0 ? text.slice(start) : text.slice(start, semicolon));
  if (uri.includes("?") || uri.includes(",")) return undefined;
  return build("", uri, readParams(text, semicolon < 0 ? text.length : semicolon, true));
}

function build(display: string, uri: string, params: Map<string, string> | undefined): NameAddr | undefined {
  if (params === undefined || !isAbsoluteUri(uri)) return undefined;
  return display === "" ? { uri, params } : { display, uri, params };
}

/** Any scheme: what it means is for the reader of the header to judge. */
function isAbsoluteUri(text: string): boolean {
  const colon = text.indexOf(":");
  if (colon < 1 || colon === text.length - 1) return false;
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (i < colon ? !isIn(SCHEME, code) : isIn(NOT_IN_URI, code)) return false;
  }
  return true;
}

function isPlainName(text: string): boolean {
  for (let i = 0; i < text.length; i++) if (isIn(NOT_IN_NAME, text.charCodeAt(i))) return false;
  return true;
}
