import { OutdialError } from "#base";
import { steadyClock, type Log } from "#host";
import type { LanguageModel, Synthesizer, Transcriber } from "#talk";
import { openEspeak } from "./espeak.ts";
import { fallbackTranscriber } from "./fallback-transcriber.ts";
import {
  fallbackLanguageModel,
  fallbackSynthesizer,
  type NamedSynthesizer,
  type VoiceSynthesizer,
} from "./fallback.ts";
import { openSource, remembered } from "./part-source.ts";
import type { VoiceConfig, VoicePart } from "./provider-config.ts";
import type { SecretRef } from "./provider-kinds.ts";
import { languageModelFor, synthesizerFor, transcriberFor, type PartSource } from "./provider-parts.ts";

export interface VoiceStackOptions {
  /** Reads a secret from where it is. What it gives is never logged and in no error. */
  readonly secret: (ref: SecretRef) => Promise<string>;
  readonly log: Log;
  /** Ends everything. */
  readonly signal: AbortSignal;
  /** The last resort of every voice. Default: an eSpeak of its own. */
  readonly embedded?: NamedSynthesizer;
}

/** Who hears, thinks and speaks. What is undefined is not configured. */
export interface Voice {
  readonly transcriber: Transcriber | undefined;
  readonly languageModel: LanguageModel | undefined;
  readonly synthesizer: VoiceSynthesizer;
}

/** All configured voices; their connections are shared and closed at disposal. */
export interface VoiceStack extends AsyncDisposable {
  /**
   * Opens no connection yet. Rejects with `voice-model-unknown`, `secret-unusable` or what `secret` rejects with; a later
   * call tries again.
   */
  voice(voiceModel: string): Promise<Voice>;
}

/** The voices of a configuration, each made when first asked for. */
export function openVoiceStack(config: VoiceConfig, options: VoiceStackOptions): VoiceStack {
  const { log, signal } = options;
  const voices = new Map<string, Promise<Voice>>();
  const embedded = options.embedded ?? openEspeak({ log, signal });
  const close = (): void => void dispose();
  signal.addEventListener("abort", close, { once: true });
  const source = openSource(config, options);
  return {
    voice: async (name) => remembered(voices, name, async () => makeVoice(name)),
    [Symbol.asyncDispose]: dispose,
  };

  async function makeVoice(name: string): Promise<Voice> {
    const model = Object.hasOwn(config.voiceModels, name) ? config.voiceModels[name] : undefined;
    if (model === undefined) {
      throw new OutdialError("voice-model-unknown", `There is no voice model ${name}`, {
        hint: `There are ${Object.keys(config.voiceModels).join(" and ")}.`,
      });
    }
    const { fallback } = model;
    const [ears, otherEars] = [
      await made(model.ears, transcriberFor),
      await made(fallback.ears, transcriberFor),
    ];
    const brain = await made(model.brain, languageModelFor);
    const otherBrain = await made(fallback.brain, languageModelFor);
    const mouths = [await named(model.mouth), await named(fallback.mouth), embedded];
    const [first = embedded, ...rest] = mouths.filter((mouth) => mouth !== undefined);
    return {
      transcriber:
        ears !== undefined && otherEars !== undefined
          ? fallbackTranscriber(ears, otherEars, log)
          : (ears ?? otherEars),
      languageModel:
        brain !== undefined && otherBrain !== undefined
          ? fallbackLanguageModel(brain, otherBrain, log)
          : (brain ?? otherBrain),
      synthesizer: fallbackSynthesizer([first, ...rest], { log, clock: steadyClock }),
    };
  }

  async function made<Made>(
    part: VoicePart | undefined,
    make: (from: PartSource, part: VoicePart) => Promise<Made>,
  ): Promise<Made | undefined> {
    return part === undefined ? undefined : make(source, part);
  }

  async function named(part: VoicePart | undefined): Promise<NamedSynthesizer | undefined> {
    if (part === undefined) return undefined;
    const synthesizer: Synthesizer = await synthesizerFor(source, part);
    return { ...synthesizer, engine: `${part.provider}/${part.model}` };
  }

  async function dispose(): Promise<void> {
    signal.removeEventListener("abort", close);
    voices.clear();
    await source[Symbol.asyncDispose]();
    if (options.embedded === undefined && isDisposable(embedded)) await embedded[Symbol.asyncDispose]();
  }
}

function isDisposable(value: object): value is AsyncDisposable {
  return Symbol.asyncDispose in value;
}
