import { canonicalName } from "./header-name.ts";
import type { SipHeader } from "./message.ts";
import { endOfToken, skipSpace, trimSpace } from "./scan.ts";

/** What stands before the body. With a `fault` the rest is what could still be read, for answering it. */
export interface Head {
  readonly startLine: string;
  readonly headers: readonly SipHeader[];
  /** Values of Content-Length, which is not among the headers: the body carries it. */
  readonly lengths: readonly string[];
  /** Index of the first body octet. */
  readonly bodyAt: number;
  readonly fault: HeadFault | undefined;
}

interface HeadFault {
  readonly reason: string;
  readonly status: 400 | 513;
}

/** Longest start line or unfolded header value, in characters. */
const MAX_LINE = 8192;
/** Most octets of one header before unfolding: white space and multi-octet characters included. */
const MAX_FOLDED_BYTES = 3 * MAX_LINE;
/** Content-Length not counted. */
const MAX_HEADERS = 200;

const CR = 0x0d;
const LF = 0x0a;

/** Reads start line and headers (RFC 3261 7.3) up to the empty line; line breaks before the start line are skipped (7.5), LF alone ends a line too. */
export function readHead(bytes: Uint8Array): Head {
  return new HeadReader(bytes).read();
}

class HeadReader {
  readonly #bytes: Uint8Array;
  readonly #headers: SipHeader[] = [];
  readonly #lengths: string[] = [];
  #at = 0;
  #lines = 0;
  #fault: HeadFault | undefined;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
  }

  read(): Head {
    const bytes = this.#bytes;
    while (bytes[this.#at] === CR || bytes[this.#at] === LF) this.#at++;
    const startLine = this.#nextLine();
    if (startLine.includes("\n") || startLine.includes("\r")) this.#refuse("the start line is broken");
    if (startLine.length > MAX_LINE) this.#refuse("the start line is too long", 513);
    while (this.#fault?.status !== 513 && !this.#skipEmptyLine()) {
      if (this.#at >= bytes.length) {
        this.#refuse("the empty line after the headers is missing");
        break;
      }
      this.#readHeader();
    }
    return {
      startLine: startLine.slice(0, MAX_LINE),
      headers: this.#headers,
      lengths: this.#lengths,
      bodyAt: this.#at,
      fault: this.#fault,
    };
  }

  #readHeader(): void {
    const line = this.#nextLine();
    // counted apart from the headers kept: refused ones cost time too
    this.#lines++;
    if (this.#lines > MAX_HEADERS + 1) {
      this.#refuse("there are too many headers", 513);
      return;
    }
    const nameEnd = endOfToken(line, 0);
    const colon = skipSpace(line, nameEnd);
    if (nameEnd === 0 || line.charCodeAt(colon) !== 0x3a) {
      this.#refuse("a header line has no name");
      return;
    }
    const value = unfold(line.slice(colon + 1));
    if (value.length > MAX_LINE) this.#refuse("a header is too long", 513);
    else if (value.includes("\r")) this.#refuse("a header holds a stray carriage return");
    else this.#keep(canonicalName(line.slice(0, nameEnd)), value);
  }

  #keep(name: string, value: string): void {
    if (name === "Content-Length") {
      if (this.#lengths.length < 2) this.#lengths.push(value);
    } else if (this.#headers.length >= MAX_HEADERS) this.#refuse("there are too many headers", 513);
    else this.#headers.push({ name, value });
  }

  /** The line at the cursor with its continuation lines, undecoded breaks inside; moves behind it. */
  #nextLine(): string {
    const start = this.#at;
    let end = this.#bytes.length;
    let next = end;
    for (let lf = this.#bytes.indexOf(LF, start); lf >= 0; lf = this.#bytes.indexOf(LF, lf + 1)) {
      const after = this.#bytes[lf + 1];
      if (after === 0x20 || after === 0x09) continue;
      end = lf;
      next = lf + 1;
      break;
    }
    this.#at = next;
    if (end > start && this.#bytes[end - 1] === CR) end--;
    if (end - start > MAX_FOLDED_BYTES) {
      this.#refuse("a line is too long", 513);
      end = start + MAX_FOLDED_BYTES;
    }
    return DECODER.decode(this.#bytes.subarray(start, end));
  }

  #skipEmptyLine(): boolean {
    const lf = this.#bytes[this.#at] === CR ? this.#at + 1 : this.#at;
    if (this.#bytes[lf] !== LF) return false;
    this.#at = lf + 1;
    return true;
  }

  #refuse(reason: string, status: 400 | 513 = 400): void {
    if (this.#fault === undefined || status > this.#fault.status) this.#fault = { reason, status };
  }
}

// A byte order mark inside a message is text, not a mark.
const DECODER = new TextDecoder("utf-8", { ignoreBOM: true });

/** Continuation lines joined by one space (RFC 3261 7.3.1), ends trimmed. */
function unfold(text: string): string {
  if (!text.includes("\n")) return trimSpace(text);
  return text
    .split("\n")
    .map((part) => trimSpace(part.endsWith("\r") ? part.slice(0, -1) : part))
    .filter((part) => part !== "")
    .join(" ");
}
