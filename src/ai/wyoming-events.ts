import { isObject, numberAt, parseJson, textAt, type JsonObject } from "./json-value.ts";

/** An event of the Wyoming protocol. */
export interface WyomingEvent {
  readonly type: string;
  readonly data: JsonObject;
  readonly payload: Uint8Array;
}

const longestHeaderBytes = 65_536;
const longestPartBytes = 8 * 1024 * 1024;
const newline = 10;

/** The octets of an event: a line of JSON, then the payload. */
export function writeWyoming(type: string, data: JsonObject, payload?: Uint8Array): Uint8Array {
  const header = { type, data, ...(payload === undefined ? {} : { payload_length: payload.length }) };
  return Buffer.concat([Buffer.from(`${JSON.stringify(header)}\n`), payload ?? new Uint8Array(0)]);
}

/** Cuts octets into events. */
export class WyomingReader {
  #rest: Buffer = Buffer.alloc(0);

  /** The events that `octets` complete. Throws a RangeError on what cannot be one. */
  push(octets: Uint8Array): readonly WyomingEvent[] {
    this.#rest = Buffer.concat([this.#rest, octets]);
    const events: WyomingEvent[] = [];
    for (let event = this.#next(); event !== undefined; event = this.#next()) events.push(event);
    return events;
  }

  #next(): WyomingEvent | undefined {
    const end = this.#rest.indexOf(newline);
    if (end < 0) {
      if (this.#rest.length > longestHeaderBytes) throw new RangeError("a header without an end");
      return undefined;
    }
    const header = parseJson(this.#rest.toString("utf8", 0, end));
    const type = textAt(header, "type");
    const dataBytes = numberAt(header, "data_length") ?? 0;
    const payloadBytes = numberAt(header, "payload_length") ?? 0;
    if (type === undefined || !isLength(dataBytes) || !isLength(payloadBytes))
      throw new RangeError("a header that is none");
    const dataStart = end + 1;
    const payloadStart = dataStart + dataBytes;
    if (this.#rest.length < payloadStart + payloadBytes) return undefined;
    const more = dataBytes === 0 ? {} : parseJson(this.#rest.toString("utf8", dataStart, payloadStart));
    const inHeader = isObject(header) && isObject(header["data"]) ? header["data"] : {};
    const payload = this.#rest.subarray(payloadStart, payloadStart + payloadBytes);
    this.#rest = this.#rest.subarray(payloadStart + payloadBytes);
    return { type, data: { ...inHeader, ...(isObject(more) ? more : {}) }, payload };
  }
}

function isLength(value: number): boolean {
  return Number.isInteger(value) && value >= 0 && value <= longestPartBytes;
}
