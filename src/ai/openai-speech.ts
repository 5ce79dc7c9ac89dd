import { OutdialError } from "#base";
import type { SpeechRequest, SynthesizedSpeech, Synthesizer } from "#talk";
import type { Endpoint } from "./endpoint.ts";
import { send, warmUp } from "./http.ts";
import { speechOf } from "./pcm-stream.ts";

export interface OpenAiSpeechOptions {
  readonly endpoint: Endpoint;
  readonly model: string;
  /** The provider's voice for ours (`1` to `7`). */
  readonly voices: Readonly<Record<string, string>>;
  /** Of its PCM when the answer does not tell. OpenAI's is 24 000. */
  readonly rateHz: number;
  /** Until the first sound. */
  readonly firstAudioMs: number;
}

const slowest = 0.25;
const fastest = 4;

/** `POST …/audio/speech` with PCM as it is made. `say` resolves with the first sound. */
export function openAiSpeech(options: OpenAiSpeechOptions): Synthesizer {
  const { endpoint, model, rateHz } = options;
  return {
    capabilities: { marks: false, maxChars: 4096, cacheable: true },
    warm: (signal) => warmUp(endpoint, "/models", signal),
    say,
  };

  async function say(request: SpeechRequest, signal: AbortSignal): Promise<SynthesizedSpeech> {
    const { text, speed = 1 } = request;
    const json = {
      model,
      input: text,
      voice: voiceOf(endpoint, options.voices, request.voice),
      response_format: "pcm",
      ...(speed === 1 ? {} : { speed: Math.min(fastest, Math.max(slowest, speed)) }),
    };
    const what = { path: "/audio/speech", json, firstMs: options.firstAudioMs };
    const answer = await send(endpoint, what, signal);
    return speechOf(endpoint, answer, { encoding: "linear16", rateHz });
  }
}

/** The provider's voice for one of ours, or else its default voice. Throws `voice-unknown` when it has neither. */
export function voiceOf(endpoint: Endpoint, voices: Readonly<Record<string, string>>, voice: string): string {
  const found = Object.hasOwn(voices, voice) ? voices[voice] : voices["6"];
  if (found !== undefined) return found;
  throw new OutdialError("voice-unknown", `${endpoint.name} has no voice for voice ${voice}`, {
    hint: `Name one in the configuration: [voices."${voice}"] ${endpoint.name} = "…"`,
  });
}
