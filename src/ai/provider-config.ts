import { accept, reject, type Decoded } from "#base";
import { ConfigProblem, onlyFields, refused, tableAt, textIn, wholeIn } from "./config-reader.ts";
import type { JsonObject } from "./json-value.ts";
import { nearWord } from "./near-word.ts";
import { isOpenAi, readProvider, type Provider, type SecretRef } from "./provider-kinds.ts";

/** A model of a provider; the provider `builtin` needs no entry. */
export interface VoicePart {
  readonly provider: string;
  readonly model: string;
}

export type VoiceRole = "ears" | "brain" | "mouth";

/** Who hears, thinks and speaks in a call. What is undefined is done by what is built in. */
export interface VoiceModel {
  readonly ears: VoicePart | undefined;
  readonly brain: VoicePart | undefined;
  readonly mouth: VoicePart | undefined;
  readonly fallback: {
    readonly ears: VoicePart | undefined;
    readonly brain: VoicePart | undefined;
    readonly mouth: VoicePart | undefined;
  };
}

/** The tables `providers`, `voice_models`, `voices` and `limits` of config.toml. No secret is in it: it may cross threads. */
export interface VoiceConfig {
  readonly providers: Readonly<Record<string, Provider>>;
  /** `fast` and `human` are always there. */
  readonly voiceModels: Readonly<Record<string, VoiceModel>>;
  /** Provider's voice by our voice (`1` to `7`) and provider. */
  readonly voices: Readonly<Record<string, Readonly<Record<string, string>>>>;
  readonly limits: { readonly firstTokenMs: number; readonly firstAudioMs: number };
}

const roles: readonly VoiceRole[] = ["ears", "brain", "mouth"];
const builtinModels: Readonly<Record<VoiceRole, string>> = { ears: "dtmf", brain: "script", mouth: "espeak" };
const verbs: Readonly<Record<VoiceRole, string>> = { ears: "hear", brain: "think", mouth: "speak" };
const able: Readonly<Record<VoiceRole, readonly Provider["kind"][]>> = {
  ears: ["openai", "deepgram", "wyoming"],
  brain: ["openai", "anthropic"],
  mouth: ["openai", "elevenlabs", "wyoming"],
};
export const defaultVoice = "6";
const openAiVoices: Readonly<Record<string, string>> = {
  "1": "coral",
  "2": "sage",
  "3": "shimmer",
  "4": "onyx",
  "5": "echo",
  "6": "nova",
  "7": "fable",
};
const nothing: VoiceModel = {
  ears: undefined,
  brain: undefined,
  mouth: undefined,
  fallback: { ears: undefined, brain: undefined, mouth: undefined },
};

/** Reads its tables out of the whole parsed config.toml; what is absent gives the built-in voice. Other tables are not looked at. */
export function decodeVoiceConfig(config: Readonly<Record<string, unknown>>): Decoded<VoiceConfig> {
  try {
    const providers = readProviders(config["providers"]);
    const voiceModels = readVoiceModels(config["voice_models"], providers);
    const voices = readVoices(config["voices"], providers);
    for (const model of Object.values(voiceModels))
      for (const mouth of [model.mouth, model.fallback.mouth]) checkVoice(mouth, providers, voices);
    return accept({ providers, voiceModels, voices, limits: readLimits(config["limits"]) });
  } catch (error) {
    if (error instanceof ConfigProblem) return reject(error.where, error.message);
    throw error;
  }
}

/** Who besides this machine will get something of a call with this voice model: hosts by what they get. */
export function recipientsOf(
  config: VoiceConfig,
  voiceModel: string,
): readonly { readonly host: string; readonly gets: "audio" | "text" }[] {
  const model = config.voiceModels[voiceModel] ?? nothing;
  const found = roles.flatMap((role) =>
    [model[role], model.fallback[role]].flatMap((part) => {
      const provider = part === undefined ? undefined : config.providers[part.provider];
      if (provider === undefined) return [];
      const host = provider.kind === "wyoming" ? provider.host : new URL(provider.baseUrl).host;
      return [{ host, gets: role === "ears" ? ("audio" as const) : ("text" as const) }];
    }),
  );
  return found.filter(
    (one, index) => found.findIndex((other) => other.host === one.host && other.gets === one.gets) === index,
  );
}

/** The secrets a voice model needs, each once. */
export function secretsOf(config: VoiceConfig, voiceModel: string): readonly SecretRef[] {
  const model = config.voiceModels[voiceModel] ?? nothing;
  const names = roles.flatMap((role) => [model[role]?.provider ?? "", model.fallback[role]?.provider ?? ""]);
  return [...new Set(names)].flatMap((name) => {
    const provider = config.providers[name];
    return provider === undefined || provider.kind === "wyoming" ? [] : (provider.apiKey ?? []);
  });
}

/** A provider's voices by ours. OpenAI's own have names that everybody may use. */
export function voicesFor(
  provider: Provider,
  voices: VoiceConfig["voices"],
): Readonly<Record<string, string>> {
  const named = Object.entries(voices).flatMap(([voice, names]) => {
    const name = names[provider.name];
    return name === undefined ? [] : [[voice, name] as const];
  });
  const usual = provider.kind === "openai" && isOpenAi(provider.baseUrl) ? openAiVoices : {};
  return { ...usual, ...Object.fromEntries(named) };
}

function readProviders(value: unknown): Readonly<Record<string, Provider>> {
  const table = tableAt(value, "providers");
  return Object.fromEntries(Object.entries(table).map(([name, entry]) => [name, readProvider(name, entry)]));
}

function readVoiceModels(
  value: unknown,
  providers: VoiceConfig["providers"],
): Readonly<Record<string, VoiceModel>> {
  const table = tableAt(value, "voice_models");
  onlyFields(table, "voice_models", ["fast", "human"]);
  const models = Object.entries(table).map(([name, entry]) => {
    const where = `voice_models.${name}`;
    const fields = tableAt(entry, where);
    onlyFields(fields, where, [...roles, "fallback"]);
    const fallback = tableAt(fields["fallback"], `${where}.fallback`);
    onlyFields(fallback, `${where}.fallback`, roles);
    return [
      name,
      {
        ...readParts(fields, where, providers),
        fallback: readParts(fallback, `${where}.fallback`, providers),
      },
    ] as const;
  });
  return { fast: nothing, human: nothing, ...Object.fromEntries(models) };
}

function readParts(
  table: JsonObject,
  where: string,
  providers: VoiceConfig["providers"],
): Readonly<Record<VoiceRole, VoicePart | undefined>> {
  return {
    ears: readPart("ears", table, where, providers),
    brain: readPart("brain", table, where, providers),
    mouth: readPart("mouth", table, where, providers),
  };
}

function readPart(
  role: VoiceRole,
  table: JsonObject,
  where: string,
  providers: VoiceConfig["providers"],
): VoicePart | undefined {
  const text = textIn(table, where, role);
  if (text === undefined) return undefined;
  const path = `${where}.${role}`;
  const slash = text.indexOf("/");
  const [name, model] = slash < 0 ? [text, ""] : [text.slice(0, slash), text.slice(slash + 1)];
  if (name === "builtin") {
    if (model === builtinModels[role]) return undefined;
    throw refused(path, `builtin/${builtinModels[role]} or PROVIDER/MODEL`);
  }
  const provider = Object.hasOwn(providers, name) ? providers[name] : undefined;
  if (provider === undefined) {
    const near = nearWord(name, Object.keys(providers));
    const hint = near === undefined ? `add a table [providers.${name}]` : `did you mean ${near}?`;
    throw new ConfigProblem(path, `${path} names a provider that is not there; ${hint}`);
  }
  checkPart(role, { path, provider, model });
  return { provider: name, model };
}

function checkPart(
  role: VoiceRole,
  part: { readonly path: string; readonly provider: Provider; readonly model: string },
): void {
  const { path, provider, model } = part;
  if (!able[role].includes(provider.kind)) {
    const kinds = able[role].join(", ");
    throw new ConfigProblem(
      path,
      `${path}: ${provider.name} (${provider.kind}) cannot ${verbs[role]}; take a provider of kind ${kinds}`,
    );
  }
  if (provider.kind === "wyoming") {
    const [field, port] = role === "ears" ? ["stt_port", provider.sttPort] : ["tts_port", provider.ttsPort];
    if (port === undefined) throw refused(`providers.${provider.name}.${field}`, "a port: it is used here");
  } else if (model === "") throw refused(path, `PROVIDER/MODEL, e.g. "${provider.name}/…"`);
}

function readVoices(value: unknown, providers: VoiceConfig["providers"]): VoiceConfig["voices"] {
  const table = tableAt(value, "voices");
  onlyFields(table, "voices", ["1", "2", "3", "4", "5", "6", "7"]);
  const voices = Object.entries(table).map(([voice, entry]) => {
    const where = `voices.${voice}`;
    const names = tableAt(entry, where);
    onlyFields(names, where, Object.keys(providers));
    const pairs = Object.keys(names).map((name) => [name, textIn(names, where, name) ?? ""] as const);
    return [voice, Object.fromEntries(pairs)] as const;
  });
  return Object.fromEntries(voices);
}

/** Who speaks needs at least our default voice. */
function checkVoice(
  mouth: VoicePart | undefined,
  providers: VoiceConfig["providers"],
  voices: VoiceConfig["voices"],
): void {
  const provider = mouth === undefined ? undefined : providers[mouth.provider];
  if (provider === undefined || provider.kind === "wyoming") return;
  if (voicesFor(provider, voices)[defaultVoice] !== undefined) return;
  const where = `voices.${defaultVoice}.${provider.name}`;
  throw new ConfigProblem(
    where,
    `${provider.name} has no default voice; name one: [voices."${defaultVoice}"] ${provider.name} = "…"`,
  );
}

function readLimits(value: unknown): VoiceConfig["limits"] {
  const table = tableAt(value, "limits");
  const [token, audio] = ["llm_first_token_ms", "tts_first_audio_ms"];
  onlyFields(table, "limits", [token, audio]);
  const range = { least: 200, most: 60_000 };
  return {
    firstTokenMs: wholeIn(table, "limits", { field: token, ...range }) ?? 4000,
    firstAudioMs: wholeIn(table, "limits", { field: audio, ...range }) ?? 2500,
  };
}
