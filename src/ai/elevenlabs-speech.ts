import type { SpeechRequest, SynthesizedSpeech, Synthesizer } from "#talk";
import type { Endpoint } from "./endpoint.ts";
import { send, warmUp } from "./http.ts";
import type { JsonObject } from "./json-value.ts";
import { voiceOf } from "./openai-speech.ts";
import { speechOf, type SoundFormat } from "./pcm-stream.ts";

export interface ElevenLabsOptions {
  readonly endpoint: Endpoint;
  readonly model: string;
  /** The provider's voice id for ours (`1` to `7`). */
  readonly voices: Readonly<Record<string, string>>;
  /** The provider's name of the format, e.g. `ulaw_8000`. */
  readonly output: ElevenLabsOutput;
  /** Until the first sound. */
  readonly firstAudioMs: number;
  readonly extraBody?: JsonObject;
}

export type ElevenLabsOutput = keyof typeof elevenLabsOutputs;

/** The formats we can play, by the provider's names. */
export const elevenLabsOutputs = {
  ulaw_8000: { encoding: "mulaw", rateHz: 8000 },
  pcm_8000: { encoding: "linear16", rateHz: 8000 },
  pcm_16000: { encoding: "linear16", rateHz: 16_000 },
  pcm_22050: { encoding: "linear16", rateHz: 22_050 },
  pcm_24000: { encoding: "linear16", rateHz: 24_000 },
} as const satisfies Record<string, SoundFormat>;

const slowest = 0.7;
const fastest = 1.2;

/** `POST …/v1/text-to-speech/{voice}/stream`. `say` resolves with the first sound. */
export function elevenLabsSpeech(options: ElevenLabsOptions): Synthesizer {
  const { endpoint, model, output } = options;
  return {
    capabilities: { marks: false, maxChars: 5000, cacheable: true },
    warm: (signal) => warmUp(endpoint, "/v1/models", signal),
    say,
  };

  async function say(request: SpeechRequest, signal: AbortSignal): Promise<SynthesizedSpeech> {
    const { text, language, speed = 1 } = request;
    const voice = voiceOf(endpoint, options.voices, request.voice);
    const json = {
      text,
      model_id: model,
      ...(takesLanguage(model) ? { language_code: language.split(/[-_]/)[0]?.toLowerCase() } : {}),
      ...(speed === 1 ? {} : { voice_settings: { speed: Math.min(fastest, Math.max(slowest, speed)) } }),
      ...options.extraBody,
    };
    const answer = await send(
      endpoint,
      {
        path: `/v1/text-to-speech/${encodeURIComponent(voice)}/stream`,
        query: [["output_format", output]],
        json,
        firstMs: options.firstAudioMs,
      },
      signal,
    );
    return speechOf(endpoint, answer, elevenLabsOutputs[output]);
  }
}

/** Other models refuse a request that names the language; they hear it from the text. */
function takesLanguage(model: string): boolean {
  return /_v2_5$|_v3/.test(model);
}
