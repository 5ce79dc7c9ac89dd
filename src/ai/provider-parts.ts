import type { Log } from "#host";
import type { LanguageModel, Synthesizer, Transcriber } from "#talk";
import { anthropicMessages, anthropicVersion } from "./anthropic-messages.ts";
import { deepgramFlux } from "./deepgram-flux.ts";
import { deepgramListen } from "./deepgram-listen.ts";
import { elevenLabsSpeech } from "./elevenlabs-speech.ts";
import { openEndpoint, type Endpoint } from "./endpoint.ts";
import { openAiChat } from "./openai-chat.ts";
import { openAiRealtime } from "./openai-realtime.ts";
import { openAiSpeech } from "./openai-speech.ts";
import { openAiTranscriptions } from "./openai-transcriptions.ts";
import { voicesFor, type VoiceConfig, type VoicePart } from "./provider-config.ts";
import type { Provider } from "./provider-kinds.ts";
import { wyomingSynthesizer, wyomingTranscriber } from "./wyoming.ts";

type WebProvider = Exclude<Provider, { kind: "wyoming" }>;

/** Where parts get their connections from. */
export interface PartSource {
  readonly config: VoiceConfig;
  readonly log: Log;
  /** Shared by all parts of a provider. */
  endpoint(provider: WebProvider): Promise<Endpoint>;
}

const credentials: Readonly<
  Record<WebProvider["kind"], { readonly header: string; readonly prefix: string }>
> = {
  openai: { header: "authorization", prefix: "Bearer " },
  anthropic: { header: "x-api-key", prefix: "" },
  deepgram: { header: "authorization", prefix: "Token " },
  elevenlabs: { header: "xi-api-key", prefix: "" },
};

/** The provider's endpoint with its key. Throws `secret-unusable`. */
export function endpointFor(
  provider: WebProvider,
  access: { readonly secret: string | undefined; readonly ca: string | undefined },
): Endpoint {
  const { secret, ca } = access;
  return openEndpoint({
    name: provider.name,
    baseUrl: provider.baseUrl,
    ...(secret === undefined ? {} : { credential: { ...credentials[provider.kind], secret } }),
    ...(provider.kind === "anthropic" ? { headers: { "anthropic-version": anthropicVersion } } : {}),
    ...(ca === undefined ? {} : { ca }),
  });
}

/** The configured part that hears. The configuration has been checked: a provider that cannot is a bug. */
export async function transcriberFor(source: PartSource, part: VoicePart): Promise<Transcriber> {
  const { config, log } = source;
  const provider = providerOf(config, part);
  const { model } = part;
  switch (provider.kind) {
    case "openai": {
      const endpoint = await source.endpoint(provider);
      const dialect = provider.realtimeDialect;
      if (dialect === undefined) return openAiTranscriptions({ endpoint, model, log });
      return openAiRealtime({ endpoint, model, dialect, log });
    }
    case "deepgram": {
      const endpoint = await source.endpoint(provider);
      const open = model.startsWith("flux") ? deepgramFlux : deepgramListen;
      return open({ endpoint, model, log });
    }
    case "wyoming": {
      const { name, host, sttPort: port = 0 } = provider;
      return wyomingTranscriber({ name, host, port, log, ...(model === "" ? {} : { model }) });
    }
    case "anthropic":
    case "elevenlabs":
      throw cannot(part, "hear");
  }
}

/** The configured part that thinks. */
export async function languageModelFor(source: PartSource, part: VoicePart): Promise<LanguageModel> {
  const { config } = source;
  const provider = providerOf(config, part);
  const { model } = part;
  const { firstTokenMs } = config.limits;
  switch (provider.kind) {
    case "openai": {
      const { jsonSchema, maxTokensField, extraBody } = provider;
      const endpoint = await source.endpoint(provider);
      return openAiChat({ endpoint, model, jsonSchema, maxTokensField, firstTokenMs, extraBody });
    }
    case "anthropic": {
      const { extraBody } = provider;
      return anthropicMessages({ endpoint: await source.endpoint(provider), model, firstTokenMs, extraBody });
    }
    case "deepgram":
    case "elevenlabs":
    case "wyoming":
      throw cannot(part, "think");
  }
}

/** The configured part that speaks. */
export async function synthesizerFor(source: PartSource, part: VoicePart): Promise<Synthesizer> {
  const { config, log } = source;
  const provider = providerOf(config, part);
  const { model } = part;
  const { firstAudioMs } = config.limits;
  const voices = voicesFor(provider, config.voices);
  switch (provider.kind) {
    case "openai": {
      const { speechRateHz: rateHz } = provider;
      return openAiSpeech({ endpoint: await source.endpoint(provider), model, voices, rateHz, firstAudioMs });
    }
    case "elevenlabs": {
      const { output, extraBody } = provider;
      const endpoint = await source.endpoint(provider);
      return elevenLabsSpeech({ endpoint, model, voices, output, firstAudioMs, extraBody });
    }
    case "wyoming": {
      const { name, host, ttsPort: port = 0 } = provider;
      const named = model === "" ? {} : { model };
      return wyomingSynthesizer({ name, host, port, log, voices, firstAudioMs, ...named });
    }
    case "anthropic":
    case "deepgram":
      throw cannot(part, "speak");
  }
}

function providerOf(config: VoiceConfig, part: VoicePart): Provider {
  const provider = config.providers[part.provider];
  if (provider !== undefined) return provider;
  throw new Error(`The configuration has no provider ${part.provider}`);
}

function cannot(part: VoicePart, verb: string): Error {
  return new Error(`The configuration lets ${part.provider} ${verb}, which it cannot`);
}
