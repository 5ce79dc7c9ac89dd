import { OutdialError } from "#base";
import { readSecret, secretName, type Log } from "#host";
import { openEspeak } from "./espeak.ts";
import { testProvider, type ProbeResult } from "./probe.ts";
import { decodeVoiceConfig, recipientsOf, secretsOf, type VoiceConfig } from "./provider-config.ts";

/** A configured provider, for a list. */
export interface ProviderRow {
  readonly name: string;
  readonly kind: string;
  /** Base URL, or host of a Wyoming server. */
  readonly address: string;
  /** Where its key is kept; null: it wants none. */
  readonly key: string | null;
  /** What it does, as `fast.brain`, `human.mouth`, `fast.fallback.ears`. */
  readonly roles: readonly string[];
}

/** The voices of the configuration file as the daemon needs them. Secrets are read when they are needed, and kept nowhere. */
export interface VoiceSettings {
  /** Whether a language model thinks for this voice model: a playbook then needs no script. */
  hasBrain(voiceModel: string): boolean;
  /** What a call worker needs for the voice model; undefined: everything is built in. Rejects with `secret-unusable`. */
  order(voiceModel: string): Promise<VoiceOrder | undefined>;
  /** Who gets audio or text of a call, besides this machine. */
  recipients(voiceModel: string): readonly { readonly host: string; readonly gets: "audio" | "text" }[];
  providers(): readonly ProviderRow[];
  /** Tries a provider in every role it has: costs one sentence each. Rejects with `provider-unknown`, `provider-unused`, `secret-unusable`. */
  test(name: string, signal: AbortSignal): Promise<readonly ProbeResult[]>;
}

interface VoiceOrder {
  readonly config: Readonly<Record<string, unknown>>;
  readonly secrets: Readonly<Record<string, string>>;
}

const tableNames = ["providers", "voice_models", "voices", "limits"] as const;

/** Checks the tables of the whole parsed config.toml. Throws `config-invalid`: where, and what would be accepted. */
export function readVoiceSettings(
  file: string,
  tables: Readonly<Record<string, unknown>>,
  log: Log,
): VoiceSettings {
  const decoded = decodeVoiceConfig(tables);
  if (!decoded.ok) {
    throw new OutdialError("config-invalid", `${file}: ${decoded.problem.where}: ${decoded.problem.message}`);
  }
  const config = decoded.value;
  const plain = Object.fromEntries(
    tableNames.flatMap((name) => (name in tables ? [[name, tables[name]]] : [])),
  );
  return {
    hasBrain: (voiceModel) => config.voiceModels[voiceModel]?.brain !== undefined,
    order,
    recipients: (voiceModel) => recipientsOf(config, voiceModel),
    providers: () => Object.keys(config.providers).map((name) => rowOf(config, name)),
    test,
  };

  async function order(voiceModel: string): Promise<VoiceOrder | undefined> {
    const model = config.voiceModels[voiceModel];
    if (model === undefined || (model.ears ?? model.brain ?? model.mouth) === undefined) return undefined;
    const secrets = await Promise.all(
      secretsOf(config, voiceModel).map(async (ref) => [secretName(ref), await readSecret(ref)] as const),
    );
    return { config: plain, secrets: Object.fromEntries(secrets) };
  }

  async function test(name: string, signal: AbortSignal): Promise<readonly ProbeResult[]> {
    await using speaker = openEspeak({ log, signal });
    return await testProvider(config, name, { secret: readSecret, log, signal, speaker });
  }
}

function rowOf(config: VoiceConfig, name: string): ProviderRow {
  const provider = config.providers[name];
  if (provider === undefined) throw new Error(`provider ${name} is not configured`);
  const key = provider.kind === "wyoming" ? undefined : provider.apiKey;
  return {
    name,
    kind: provider.kind,
    address: provider.kind === "wyoming" ? provider.host : provider.baseUrl,
    key: key === undefined ? null : secretName(key),
    roles: Object.entries(config.voiceModels).flatMap(([model, parts]) => [
      ...rolesIn(parts, name, model),
      ...rolesIn(parts.fallback, name, `${model}.fallback`),
    ]),
  };
}

type Parts = Pick<VoiceConfig["voiceModels"][string], "ears" | "brain" | "mouth">;

function rolesIn(parts: Parts, name: string, prefix: string): string[] {
  return (["ears", "brain", "mouth"] as const)
    .filter((role) => parts[role]?.provider === name)
    .map((role) => `${prefix}.${role}`);
}
