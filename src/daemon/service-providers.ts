import type { VoiceOrder } from "./ports.ts";

/** The configured providers, as the application sees them. */
export interface Voices {
  /** Whether a language model thinks for this voice model. */
  hasBrain(voiceModel: string): boolean;
  order(voiceModel: string): Promise<VoiceOrder | undefined>;
  providers(): readonly ProviderRow[];
  test(name: string, signal: AbortSignal): Promise<readonly ProbeResult[]>;
}

interface ProviderRow {
  readonly name: string;
  readonly kind: string;
  readonly address: string;
  readonly key: string | null;
  readonly roles: readonly string[];
}

type ProbeResult =
  | {
      readonly role: string;
      readonly model: string;
      readonly ok: true;
      readonly firstMs: number;
      readonly totalMs: number;
      readonly text?: string;
    }
  | { readonly role: string; readonly model: string; readonly ok: false; readonly error: Error };

/** What a person asks of the providers. */
export function providerService(voices: Voices) {
  return { listProviders, testProvider };

  function listProviders(): Promise<readonly ProviderRow[]> {
    return Promise.resolve(voices.providers());
  }

  /** One short request in every role the provider has; a role that fails says why. */
  async function testProvider(name: string, signal: AbortSignal) {
    const results = await voices.test(name, signal);
    return results.map((result) =>
      result.ok
        ? {
            role: result.role,
            model: result.model,
            ok: true,
            firstMs: result.firstMs,
            totalMs: result.totalMs,
          }
        : { role: result.role, model: result.model, ok: false, problem: result.error.message },
    );
  }
}
