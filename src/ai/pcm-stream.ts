import { decodeG711, readWavHeader, wavHeaderBytes } from "#media";
import type { SynthesizedSpeech } from "#talk";
import type { Endpoint } from "./endpoint.ts";
import type { HttpAnswer } from "./http.ts";
import { providerError } from "./provider-error.ts";

/** What the octets of a sound are. `linear16` is little-endian. */
export interface SoundFormat {
  readonly encoding: "linear16" | "mulaw";
  readonly rateHz: number;
}

/**
 * Speech from an answer, once its first sound has come: then nothing but a break of the connection can fail any more.
 * A WAV header, which some servers send unasked, tells the rate. Rejects with `provider-bad-answer` on anything but sound.
 */
export async function speechOf(
  endpoint: Endpoint,
  answer: HttpAnswer,
  format: SoundFormat,
): Promise<SynthesizedSpeech> {
  const chunks = answer.body[Symbol.asyncIterator]();
  const head = await firstOctets(endpoint, answer, chunks);
  answer.progress();
  const wav = head.subarray(0, 4).toString("latin1") === "RIFF" ? readWav(endpoint, head) : undefined;
  const rateHz = wav?.rateHz ?? rateIn(answer.contentType) ?? format.rateHz;
  const first = wav === undefined ? head : head.subarray(wav.start);
  const encoding = wav === undefined ? format.encoding : "linear16";
  return { rateHz, audio: samples(first, chunks, encoding) };
}

/** Enough to know what it is. */
async function firstOctets(
  endpoint: Endpoint,
  answer: HttpAnswer,
  chunks: AsyncIterator<Uint8Array>,
): Promise<Buffer> {
  let head = Buffer.alloc(0);
  while (head.length < wavHeaderBytes) {
    const next = await chunks.next();
    if (next.done === true) break;
    head = Buffer.concat([head, next.value]);
  }
  const isText = /^(application\/json|text\/)/.test(answer.contentType);
  if (!isText && head.length >= 2) return head;
  await chunks.return?.();
  const what = isText ? `text: ${endpoint.quote(head.toString("utf8"))}` : "nothing";
  throw providerError("provider-bad-answer", `${endpoint.name} answered with ${what} instead of sound`, {
    hint: "Check the model's name: can it speak?",
  });
}

function readWav(endpoint: Endpoint, head: Buffer): { readonly rateHz: number; readonly start: number } {
  const wav = readWavHeader(head);
  if (wav.ok && wav.value.channels === 1)
    return { rateHz: wav.value.sampleRateHz, start: wav.value.dataOffset };
  const why = wav.ok ? "it has more than one channel" : wav.problem.message;
  throw providerError("provider-bad-answer", `${endpoint.name} sent a WAV that cannot be played: ${why}`);
}

/** `audio/pcm;rate=24000` and the like. */
function rateIn(contentType: string): number | undefined {
  const rate = Number(/;\s*(?:rate|sample_rate)=(\d{4,6})\b/.exec(contentType)?.[1]);
  return rate >= 8000 && rate <= 192_000 ? rate : undefined;
}

async function* samples(
  first: Buffer,
  rest: AsyncIterator<Uint8Array>,
  encoding: SoundFormat["encoding"],
): AsyncGenerator<Int16Array, void, undefined> {
  try {
    let odd: Uint8Array = new Uint8Array(0);
    let chunk: Uint8Array = first;
    for (;;) {
      if (encoding === "mulaw") yield decoded(chunk);
      else {
        const whole = odd.length === 0 ? chunk : Buffer.concat([odd, chunk]);
        odd = whole.subarray(whole.length & ~1);
        if (whole.length > 1) yield littleEndian(whole);
      }
      const next = await rest.next();
      if (next.done === true) return;
      chunk = next.value;
    }
  } finally {
    await rest.return?.();
  }
}

function decoded(octets: Uint8Array): Int16Array {
  const pcm = new Int16Array(octets.length);
  decodeG711("PCMU", octets, pcm);
  return pcm;
}

/** The whole samples in a run of octets, on machines of either byte order. */
function littleEndian(octets: Uint8Array): Int16Array {
  const view = new DataView(octets.buffer, octets.byteOffset, octets.byteLength);
  const pcm = new Int16Array(octets.length >> 1);
  for (let i = 0; i < pcm.length; i++) pcm[i] = view.getInt16(2 * i, true);
  return pcm;
}
