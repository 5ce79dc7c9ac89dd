/*
 * What the synthesiser and its child process say to each other. To the child: one JSON line a request.
 * From the child: a JSON line, for `audio` followed by `bytes` octets of PCM (16 bit, this machine's byte order, mono).
 */

/** One piece of text to speak; pitch and range 0..99, rate in words a minute. */
export interface PieceRequest {
  readonly id: number;
  /** eSpeak voice, with its variant: `es+f2`. */
  readonly voice: string;
  readonly pitch: number;
  readonly range: number;
  readonly rate: number;
  readonly text: string;
}

/** A word begins to sound `atMs` after the start of the piece; `from`..`to` are UTF-16 indices into its text. */
export interface WordMark {
  readonly atMs: number;
  readonly from: number;
  readonly to: number;
}

export type SpeechReply =
  | { readonly type: "ready"; readonly engine: string }
  /** No engine on this machine; the child ends. */
  | { readonly type: "missing"; readonly reason: string }
  | {
      readonly type: "audio";
      readonly id: number;
      readonly bytes: number;
      readonly words: readonly WordMark[];
    }
  | { readonly type: "done"; readonly id: number }
  | { readonly type: "failed"; readonly id: number; readonly message: string };

/** Samples a second of everything the child sends. */
export const speechRate = 22_050;

/** Longest header line; beyond it the stream is not ours. */
const longestHeaderBytes = 65_536;

/** Cuts the child's output into replies with their samples. Throws on octets that are no reply: then the child must go. */
export class ReplyReader {
  #rest: Buffer = Buffer.alloc(0);
  #awaiting: Extract<SpeechReply, { type: "audio" }> | undefined;
  readonly #deliver: (reply: SpeechReply, pcm: Int16Array) => void;

  constructor(deliver: (reply: SpeechReply, pcm: Int16Array) => void) {
    this.#deliver = deliver;
  }

  push(chunk: Buffer): void {
    this.#rest = this.#rest.length === 0 ? chunk : Buffer.concat([this.#rest, chunk]);
    while (this.#awaiting === undefined ? this.#header() : this.#samples(this.#awaiting));
  }

  #header(): boolean {
    const end = this.#rest.indexOf(10);
    if (end < 0 && this.#rest.length <= longestHeaderBytes) return false;
    const reply = readReply(this.#rest.toString("utf8", 0, Math.max(end, 0)));
    this.#rest = this.#rest.subarray(end + 1);
    if (reply.type === "audio") this.#awaiting = reply;
    else this.#deliver(reply, new Int16Array(0));
    return true;
  }

  #samples(reply: Extract<SpeechReply, { type: "audio" }>): boolean {
    if (this.#rest.length < reply.bytes) return false;
    const pcm = new Int16Array(reply.bytes >> 1);
    Buffer.from(pcm.buffer).set(this.#rest.subarray(0, pcm.byteLength));
    this.#rest = this.#rest.subarray(reply.bytes);
    this.#awaiting = undefined;
    this.#deliver(reply, pcm);
    return true;
  }
}

function readReply(line: string): SpeechReply {
  const value = parsed(line);
  if (!isReply(value)) throw new Error(`The speech program said something unknown: ${line.slice(0, 80)}`);
  return value;
}

function parsed(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}

function isReply(value: unknown): value is SpeechReply {
  if (typeof value !== "object" || value === null || !("type" in value)) return false;
  switch (value.type) {
    case "ready":
      return "engine" in value && typeof value.engine === "string";
    case "missing":
      return "reason" in value && typeof value.reason === "string";
    case "audio":
      return "bytes" in value && typeof value.bytes === "number" && value.bytes >= 0 && "words" in value;
    case "done":
    case "failed":
      return "id" in value && typeof value.id === "number";
    default:
      return false;
  }
}
