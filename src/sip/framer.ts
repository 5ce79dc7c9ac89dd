import { readHead } from "./head.ts";
import { readNumber } from "./scan.ts";

/** What came out of a stream of octets, in order. */
export type Framed =
  /** One message, its own copy. */
  | { readonly type: "message"; readonly bytes: Uint8Array }
  /** A line end between messages: two are a ping, one the answer to ours (RFC 5626 4.4.1). */
  | { readonly type: "line-end" }
  /** No SIP: where the next message begins cannot be known any more. Nothing follows. */
  | { readonly type: "broken"; readonly reason: string };

/** Cuts a stream into messages by Content-Length (RFC 3261 18.3), however it is chopped; keeps one message at most. */
export interface Framer {
  push(chunk: Uint8Array): readonly Framed[];
  /** Octets of a message that is not complete yet. */
  readonly pendingBytes: number;
}

/** Those of a datagram: 64 KiB a message. */
const largestMessageBytes = 65_536;
const longestStartLineBytes = 8_192;
const carriageReturn = 13;
const lineFeed = 10;

export function createFramer(): Framer {
  return new StreamFramer();
}

class StreamFramer implements Framer {
  #buffer = new Uint8Array(4_096);
  /** Octets [start, end) are not dealt with. */
  #start = 0;
  #end = 0;
  /** Up to here the head was searched for its end. */
  #scanned = 0;
  #checked = false;
  /** Octets of the whole message, once its head is complete. */
  #wanted: number | undefined;
  #broken = false;

  get pendingBytes(): number {
    return this.#end - this.#start;
  }

  push(chunk: Uint8Array): readonly Framed[] {
    if (this.#broken) return [];
    this.#append(chunk);
    const framed: Framed[] = [];
    for (let next = this.#next(); next !== undefined; next = this.#next()) framed.push(next);
    return framed;
  }

  #append(chunk: Uint8Array): void {
    const pending = this.pendingBytes;
    if (this.#end + chunk.length > this.#buffer.length) {
      const size = Math.max(4_096, 2 ** Math.ceil(Math.log2(pending + chunk.length)));
      const target = size > this.#buffer.length ? new Uint8Array(size) : this.#buffer;
      target.set(this.#buffer.subarray(this.#start, this.#end));
      this.#buffer = target;
      this.#scanned -= this.#start;
      this.#start = 0;
      this.#end = pending;
    }
    this.#buffer.set(chunk, this.#end);
    this.#end += chunk.length;
  }

  #next(): Framed | undefined {
    if (this.#broken) return undefined;
    if (this.#wanted === undefined) {
      const lineEnd = this.#lineEnd();
      if (lineEnd !== undefined) return lineEnd;
      const fault = this.#readHead();
      if (fault !== undefined) return this.#break(fault);
    }
    const wanted = this.#wanted;
    if (wanted === undefined || this.pendingBytes < wanted) return undefined;
    const bytes = this.#buffer.slice(this.#start, this.#start + wanted);
    this.#skip(wanted);
    return { type: "message", bytes };
  }

  #skip(octets: number): void {
    this.#start += octets;
    this.#scanned = this.#start;
    this.#wanted = undefined;
    this.#checked = false;
    if (this.#start < this.#end) return;
    this.#start = 0;
    this.#end = 0;
    this.#scanned = 0;
    if (this.#buffer.length > 8_192) this.#buffer = new Uint8Array(4_096);
  }

  /** A line end where a message would begin (RFC 3261 7.5); LF alone counts too. */
  #lineEnd(): Framed | undefined {
    if (this.#start >= this.#end) return undefined;
    const first = this.#buffer[this.#start];
    if (first === lineFeed) {
      this.#skip(1);
      return { type: "line-end" };
    }
    if (first !== carriageReturn || this.#start + 1 >= this.#end) return undefined;
    if (this.#buffer[this.#start + 1] !== lineFeed)
      return this.#break("a line begins with a carriage return");
    this.#skip(2);
    return { type: "line-end" };
  }

  /** Finds the end of the head; what is wrong with it, if anything. */
  #readHead(): string | undefined {
    const bytes = this.#buffer;
    for (;;) {
      const at = bytes.subarray(0, this.#end).indexOf(lineFeed, this.#scanned);
      if (at < 0) {
        this.#scanned = this.#end;
        return this.#faultOfSize();
      }
      if (!this.#checked) {
        if (at - this.#start > longestStartLineBytes) return "the start line is too long";
        if (!isStartLine(bytes.subarray(this.#start, at))) return "the start line is not SIP";
        this.#checked = true;
      }
      const after = bytes[at + 1] === carriageReturn && at + 1 < this.#end ? at + 2 : at + 1;
      if (after >= this.#end) {
        this.#scanned = at;
        return this.#faultOfSize();
      }
      if (bytes[after] === lineFeed) return this.#measure(after + 1);
      this.#scanned = at + 1;
    }
  }

  #measure(bodyAt: number): string | undefined {
    const head = readHead(this.#buffer.subarray(this.#start, bodyAt));
    const [length, second] = head.lengths;
    if (second !== undefined && second !== length) return "there is more than one Content-Length";
    // Without one there is no body: some leave it out of an ACK.
    const body = length === undefined ? 0 : readNumber(length, 0xffff_ffff);
    if (body === undefined) return "the Content-Length is not a number";
    const total = bodyAt - this.#start + body;
    if (total > largestMessageBytes) return "the message is too large";
    this.#wanted = total;
    return undefined;
  }

  #faultOfSize(): string | undefined {
    if (!this.#checked && this.pendingBytes > longestStartLineBytes) return "the start line is too long";
    return this.pendingBytes > largestMessageBytes ? "the message is too large" : undefined;
  }

  #break(reason: string): Framed {
    this.#broken = true;
    this.#buffer = new Uint8Array(0);
    this.#start = 0;
    this.#end = 0;
    return { type: "broken", reason };
  }
}

/** Whether it has the form of one, whatever its method, URI and version: told from HTTP, TLS and noise. */
function isStartLine(octets: Uint8Array): boolean {
  const line = new TextDecoder().decode(octets).trimEnd();
  return /^SIP\/\d/i.test(line) || /\sSIP\/\d\.\d$/i.test(line.slice(-9));
}
