import type { Emit, Engine } from "./espeak-engine.ts";
import type { PieceRequest, WordMark } from "./speech-protocol.ts";
import { escapeForSsml, type EscapedText } from "./speech-text.ts";

/** What we use of `@echogarden/espeak-ng-emscripten` 0.3 (GPL-3.0), which has no type declarations. */
interface EspeakWorker {
  /** 0: done; anything else: unknown, and the voice before stays. */
  set_voice(name: string): number;
  set_rate(wordsPerMinute: number): void;
  set_pitch(pitch: number): void;
  set_range(range: number): void;
  /** Runs to its end; a callback that returns 1 stops it. */
  synthesize(text: string, take: (samples: Int16Array | null, events: readonly EspeakEvent[]) => 0 | 1): void;
}

interface EspeakEvent {
  readonly type: string;
  /** 1-based, in code points. */
  readonly text_position: number;
  readonly word_length: number;
  /** Milliseconds since the start. */
  readonly audio_position: number;
}

interface EspeakModule {
  /** Emscripten's factory; whatever the library prints must stay out of standard output. */
  readonly default: (options: {
    readonly print: (line: string) => void;
    readonly printErr: (line: string) => void;
  }) => Promise<{ readonly eSpeakNGWorker: new () => EspeakWorker }>;
}

/**
 * Loads eSpeak NG as WebAssembly; rejects when the package is not installed. It is a GPL program of its own and
 * belongs in a process of its own: never import this file outside the speech process.
 */
export async function loadEspeakPackage(): Promise<Engine> {
  const address = import.meta.resolve("@echogarden/espeak-ng-emscripten");
  const module: EspeakModule = await import(address);
  const { eSpeakNGWorker: Worker } = await module.default({ print: complain, printErr: complain });
  const worker = new Worker();
  return {
    name: "eSpeak NG (WebAssembly)",
    async speak(request, emit) {
      speakNow(worker, request, emit);
    },
  };
}

function complain(line: string): void {
  process.stderr.write(`${line}\n`);
}

function speakNow(worker: EspeakWorker, request: PieceRequest, emit: Emit): void {
  if (worker.set_voice(request.voice) !== 0) throw new Error(`eSpeak NG has no voice ${request.voice}`);
  worker.set_rate(request.rate);
  worker.set_pitch(request.pitch);
  worker.set_range(request.range);
  const escaped = escapeForSsml(request.text);
  worker.synthesize(escaped.text, (samples, events) => {
    const words = events.filter((event) => event.type === "word").map((event) => wordMark(event, escaped));
    // The samples are a window onto the engine's memory, which the next sound overwrites.
    if (samples !== null && samples.length > 0) emit(samples.slice(), words);
    return 0;
  });
}

function wordMark(event: EspeakEvent, escaped: EscapedText): WordMark {
  const last = escaped.origins.length - 1;
  const from = escaped.origins[Math.min(event.text_position - 1, last)] ?? 0;
  const to = escaped.origins[Math.min(event.text_position - 1 + event.word_length, last)] ?? from;
  return { atMs: event.audio_position, from, to };
}
