import { OutdialError } from "#base";
import { createTasks, type Log } from "#host";
import type { SpeechRequest, SynthesizedSpeech, Synthesizer } from "#talk";
import { languageVoice, voiceShape } from "./espeak-voices.ts";
import { SpeechProcess, type EngineName } from "./speech-process.ts";
import { speechRate, type PieceRequest } from "./speech-protocol.ts";
import { cutText, type Piece } from "./speech-text.ts";
import { StreamQueue } from "./stream-queue.ts";
import { Turnstile } from "./turnstile.ts";

export interface EspeakOptions {
  readonly log: Log;
  /** Ends the speech process and everything that is being said. */
  readonly signal?: AbortSignal;
  /** Which eSpeak NG to use, best first. Default: the npm package, then the system's program. */
  readonly engines?: readonly EngineName[];
  /** Of the speech process. Default: ours. */
  readonly environment?: NodeJS.ProcessEnv;
}

/**
 * Talk's synthesizer, 22 050 Hz. `warm` rejects with `voice-missing` or `speech-unavailable`. `say` starts at once and
 * rejects with `speech-busy` (retryable) when 64 requests are under way; its audio ends with `voice-missing`,
 * `speech-unavailable` (retryable: the process died), `speech-failed` or the signal's reason.
 */
export interface EmbeddedSpeech extends Synthesizer, AsyncDisposable {
  /** Part of a cache key: the same engine, voice, language, speed and text give the same sound. */
  readonly engine: string;
  /** Process id of the speech process while it runs. */
  readonly pid: number | undefined;
  warm(signal: AbortSignal): Promise<void>;
}

const mostRequests = 64;
/** A reader this far behind is not given more. */
const unreadSamples = 30 * speechRate;
const slowestRate = 80;
const fastestRate = 450;

type SpeechMark = NonNullable<SynthesizedSpeech["marks"]> extends AsyncIterable<infer Mark> ? Mark : never;

/** One utterance on its way to its reader. */
interface Utterance {
  readonly pieces: readonly Piece[];
  readonly settings: Omit<PieceRequest, "id" | "text">;
  readonly audio: StreamQueue<Int16Array>;
  readonly marks: StreamQueue<SpeechMark>;
}

/**
 * The embedded voice: eSpeak NG in a process of its own. Requests share it piece by piece, so a long text of one call
 * does not hold up a short one of another. The npm package marks words; the system's program does not.
 */
export function openEspeak(options: EspeakOptions): EmbeddedSpeech {
  const process = new SpeechProcess(options);
  const tasks = createTasks(options.log);
  const turnstile = new Turnstile();
  const closing = new AbortController();
  const warned = new Set<string>();
  options.signal?.addEventListener("abort", close, { once: true });

  return {
    engine: "espeak",
    capabilities: { marks: true, maxChars: 20_000, cacheable: true },
    get pid(): number | undefined {
      return process.pid;
    },
    warm,
    say,
    [Symbol.asyncDispose]: dispose,
  };

  async function warm(signal: AbortSignal): Promise<void> {
    const aborted = Promise.withResolvers<never>();
    const stop = (): void => aborted.reject(signal.reason);
    signal.addEventListener("abort", stop, { once: true });
    try {
      signal.throwIfAborted();
      await Promise.race([process.ready(), aborted.promise]);
    } finally {
      signal.removeEventListener("abort", stop);
    }
  }

  async function say(request: SpeechRequest, signal: AbortSignal): Promise<SynthesizedSpeech> {
    signal.throwIfAborted();
    closing.signal.throwIfAborted();
    if (tasks.size >= mostRequests)
      throw new OutdialError("speech-busy", "The speech engine has too much to say", { retryable: true });
    const utterance: Utterance = {
      pieces: cutText(request.text),
      settings: settingsOf(request),
      audio: new StreamQueue((chunk) => chunk.length),
      marks: new StreamQueue(() => 0),
    };
    tasks.spawn("speech", async () => speakUntil(utterance, AbortSignal.any([signal, closing.signal])));
    return { rateHz: speechRate, audio: utterance.audio, marks: utterance.marks };
  }

  function settingsOf(request: SpeechRequest): Utterance["settings"] {
    const language = languageVoice(request.language);
    if (!language.exact && !warned.has(request.language)) {
      warned.add(request.language);
      const fields = { language: request.language, voice: language.name };
      options.log.warn("no voice for this language: another one reads it", fields);
    }
    const { variant, pitch, range, rate } = voiceShape(request.voice);
    const wanted = Math.round(rate * (request.speed ?? 1));
    return {
      voice: variant === "" ? language.name : `${language.name}+${variant}`,
      pitch,
      range,
      rate: Math.min(fastestRate, Math.max(slowestRate, wanted)),
    };
  }

  async function speakUntil(utterance: Utterance, signal: AbortSignal): Promise<void> {
    const stop = (): void => {
      utterance.audio.abort(signal.reason);
      utterance.marks.abort(signal.reason);
    };
    signal.addEventListener("abort", stop, { once: true });
    try {
      await speakPieces(utterance);
      utterance.audio.end();
      utterance.marks.end();
    } catch (error) {
      utterance.audio.end({ error });
      utterance.marks.end();
    } finally {
      signal.removeEventListener("abort", stop);
    }
  }

  async function speakPieces({ pieces, settings, audio, marks }: Utterance): Promise<void> {
    let samples = 0;
    for (const { text, offset } of pieces) {
      await audio.below(unreadSamples);
      await turnstile.pass(async () => {
        if (audio.ended) return; // Aborted, or its reader left, while it waited.
        const startMs = (samples / speechRate) * 1000;
        await process.speak({ ...settings, text }, (pcm, words) => {
          samples += pcm.length;
          audio.push(pcm);
          for (const { atMs, from, to } of words)
            marks.push({ atMs: startMs + atMs, textStart: offset + from, textEnd: offset + to });
        });
      });
    }
  }

  function close(): void {
    closing.abort(new DOMException("The speech engine is closed", "AbortError"));
    process[Symbol.dispose]();
  }

  async function dispose(): Promise<void> {
    options.signal?.removeEventListener("abort", close);
    close();
    await tasks[Symbol.asyncDispose]();
  }
}
