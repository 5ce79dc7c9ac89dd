import type { Endpoint } from "./endpoint.ts";
import type { HttpAnswer } from "./http.ts";
import { providerError } from "./provider-error.ts";

/** One event of a text/event-stream. */
export interface ServerEvent {
  /** Empty when the stream names none. */
  readonly event: string;
  readonly data: string;
}

const longestEventChars = 1024 * 1024;

/** The events of an answer. Rejects with `provider-bad-answer` when it is no event stream or one event is endless. */
export async function* eventsOf(
  endpoint: Endpoint,
  answer: HttpAnswer,
): AsyncGenerator<ServerEvent, void, undefined> {
  const reader = new EventReader();
  // Iterated even when refused, so that the connection is given up.
  for await (const chunk of answer.body) {
    if (!answer.contentType.startsWith("text/event-stream")) {
      throw providerError("provider-bad-answer", `${endpoint.name} did not answer with a stream of events`, {
        hint: `Check base_url of providers.${endpoint.name}, and that the server can stream.`,
      });
    }
    yield* read(endpoint, reader, chunk);
  }
}

/** Cuts octets into server-sent events (HTML Standard 9.2.6); what is unfinished at the end of a stream is no event. */
export class EventReader {
  readonly #decoder = new TextDecoder("utf-8");
  #rest = "";
  #afterReturn = false;
  #event = "";
  #data: string[] = [];
  #chars = 0;

  /** The events that `octets` complete. Throws a RangeError on one of more than 1 Mi characters. */
  push(octets: Uint8Array): readonly ServerEvent[] {
    const found: ServerEvent[] = [];
    let text = this.#decoder.decode(octets, { stream: true });
    if (text === "") return found;
    // The line before ended with a return at the end of a chunk: a feed that follows belongs to it.
    if (this.#afterReturn && text.startsWith("\n")) text = text.slice(1);
    this.#afterReturn = text === "" ? false : text.endsWith("\r");
    const lines = text.split(/\r\n|\n|\r/);
    const last = lines.pop() ?? "";
    for (const line of lines) {
      this.#line(`${this.#rest}${line}`, found);
      this.#rest = "";
    }
    this.#rest += last;
    this.#limit(this.#rest.length);
    return found;
  }

  #line(line: string, found: ServerEvent[]): void {
    if (line === "") return this.#dispatch(found);
    const colon = line.indexOf(":");
    const field = colon < 0 ? line : line.slice(0, colon);
    const value = colon < 0 ? "" : line.slice(line[colon + 1] === " " ? colon + 2 : colon + 1);
    if (field === "event") this.#event = value;
    if (field !== "data") return;
    this.#chars += value.length;
    this.#limit(0);
    this.#data.push(value);
  }

  #dispatch(found: ServerEvent[]): void {
    if (this.#data.length > 0) found.push({ event: this.#event, data: this.#data.join("\n") });
    this.#event = "";
    this.#data = [];
    this.#chars = 0;
  }

  #limit(unfinished: number): void {
    if (this.#chars + unfinished > longestEventChars) throw new RangeError("an event is too long");
  }
}

function read(endpoint: Endpoint, reader: EventReader, chunk: Uint8Array): readonly ServerEvent[] {
  try {
    return reader.push(chunk);
  } catch (cause) {
    throw providerError("provider-bad-answer", `${endpoint.name} sent an event without an end`, { cause });
  }
}
