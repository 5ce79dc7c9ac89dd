import { sameSecret, signature } from "#host";
import { Readable } from "node:stream";
import { Refusal } from "./failure.ts";
import type { Answer } from "./http.ts";
import type { Call, OpenRecording } from "./service.ts";

const lifetimeMs = 24 * 3_600_000;

export interface SignedCall {
  readonly accountId: string;
  readonly callId: string;
}

/** The last part of a recording URL: which call, until when, and our signature over both. No path, no file name. */
export function signRecording(call: Call, key: Uint8Array, now: number): string {
  const claim = [call.accountId, call.id, String(Math.ceil((now + lifetimeMs) / 1000))];
  const payload = Buffer.from(claim.join("\n")).toString("base64url");
  return `${payload}.${signature(key, payload)}.wav`;
}

/** The call a signed part names, or undefined when it is forged, cut or too old. */
export function readSigned(signed: string, key: Uint8Array, now: number): SignedCall | undefined {
  const [, payload = "", mac = ""] = /^([\w-]+)\.([\w-]+)\.wav$/.exec(signed) ?? [];
  if (payload === "" || !sameSecret(mac, signature(key, payload))) return undefined;
  const [accountId = "", callId = "", expiresS = ""] = Buffer.from(payload, "base64url")
    .toString()
    .split("\n");
  return now < Number(expiresS) * 1000 ? { accountId, callId } : undefined;
}

/** A recording, whole or the one range asked for (RFC 9110 14). Takes over closing it. */
export function answerRecording(recording: OpenRecording, rangeHeader: string | undefined): Answer {
  const size = recording.sizeBytes;
  const range = readRange(rangeHeader, size);
  if (range === "unsatisfiable") {
    void recording.close();
    const failure = { status: 416, code: "range", message: "The recording is not that long" };
    throw new Refusal(failure, { "content-range": `bytes */${size}` });
  }
  const { from, to } = range ?? { from: 0, to: size - 1 };
  return {
    type: "stream",
    stream: Readable.from(octets(recording, from, to), { objectMode: false }),
    contentType: "audio/wav",
    status: range ? 206 : 200,
    headers: {
      "accept-ranges": "bytes",
      "content-length": String(to - from + 1),
      "content-disposition": 'inline; filename="recording.wav"',
      ...(range && { "content-range": `bytes ${from}-${to}/${size}` }),
    },
  };
}

async function* octets(recording: OpenRecording, from: number, to: number): AsyncGenerator<Uint8Array> {
  try {
    if (to >= from) yield* recording.read(from, to);
  } finally {
    await recording.close();
  }
}

interface Range {
  readonly from: number;
  readonly to: number;
}

/** One byte range; undefined for none, several or one that is not understood: then all is sent. */
function readRange(header: string | undefined, size: number): Range | "unsatisfiable" | undefined {
  const [, first, last] = /^bytes=(\d{0,15})-(\d{0,15})$/.exec(header?.trim() ?? "") ?? [];
  if (first === undefined || last === undefined || (first === "" && last === "")) return undefined;
  const from = first === "" ? Math.max(0, size - Number(last)) : Number(first);
  const to = first === "" || last === "" ? size - 1 : Math.min(size - 1, Number(last));
  if (first !== "" && last !== "" && Number(last) < Number(first)) return undefined;
  return from > to || from >= size ? "unsatisfiable" : { from, to };
}
