import type { Clock } from "#base";
import { describeError, type Log } from "#host";
import type { LanguageModel, SpeechRequest, SynthesizedSpeech, Synthesizer } from "#talk";
import type { LanguageDelta, LanguageRequest } from "./language-shapes.ts";

/** A synthesizer and what makes its sound, for caches: the same engine and request give the same sound. */
export interface NamedSynthesizer extends Synthesizer {
  readonly engine: string;
}

/** Speech that says who made it: after a fallback not the engine that was asked. */
export interface NamedSpeech extends SynthesizedSpeech {
  readonly engine: string;
}

/** A synthesizer that answers for several. */
export interface VoiceSynthesizer extends NamedSynthesizer {
  say(request: SpeechRequest, signal: AbortSignal): Promise<NamedSpeech>;
}

/** How long one that failed is left alone: a caller should not wait for it at every sentence, nor hear two voices in turn. */
const restMs = 30_000;

/** Lets the first one speak that can. `say` rejects with the last one's error when none can. */
export function fallbackSynthesizer(
  chain: readonly [NamedSynthesizer, ...NamedSynthesizer[]],
  surroundings: { readonly log: Log; readonly clock: Clock },
): VoiceSynthesizer {
  const { log, clock } = surroundings;
  const [first] = chain;
  const restsUntil = new Map<NamedSynthesizer, number>();
  const lengths = chain.map((one) => one.capabilities.maxChars);
  return {
    engine: first.engine,
    capabilities: {
      marks: first.capabilities.marks,
      maxChars: Math.min(...lengths),
      cacheable: first.capabilities.cacheable,
    },
    async warm(signal) {
      // The others are warmed too, because they are needed at once when they are needed.
      const warmed = await Promise.allSettled(chain.map(async (one) => one.warm?.(signal)));
      signal.throwIfAborted();
      for (const [index, outcome] of warmed.entries()) {
        if (outcome.status === "rejected") report(chain[index] ?? first, outcome.reason);
      }
      const failed = warmed.flatMap((outcome) => (outcome.status === "rejected" ? [outcome] : []));
      if (failed.length === chain.length) throw failed[0]?.reason;
    },
    say,
  };

  async function say(request: SpeechRequest, signal: AbortSignal): Promise<NamedSpeech> {
    const rested = chain.filter((one) => (restsUntil.get(one) ?? 0) <= clock.now());
    let failure: unknown;
    for (const one of rested.length === 0 ? chain : rested) {
      try {
        const { rateHz, audio, marks } = await one.say(request, signal);
        return { rateHz, audio, engine: one.engine, ...(marks === undefined ? {} : { marks }) };
      } catch (error) {
        if (signal.aborted) throw error;
        report(one, error);
        failure = error;
      }
    }
    throw failure;
  }

  function report(one: NamedSynthesizer, error: unknown): void {
    restsUntil.set(one, clock.now() + restMs);
    log.warn("synthesizer failed", { engine: one.engine, error: describeError(error) });
  }
}

/** Asks the second when the first fails before its first word; afterwards a failure is the caller's. */
export function fallbackLanguageModel(first: LanguageModel, second: LanguageModel, log: Log): LanguageModel {
  return {
    get capabilities(): LanguageModel["capabilities"] {
      return first.capabilities;
    },
    async warm(signal) {
      const [one, other] = await Promise.allSettled([first.warm?.(signal), second.warm?.(signal)]);
      signal.throwIfAborted();
      if (one.status === "rejected" && other.status === "rejected") throw one.reason;
    },
    stream,
    async object(request, schema, signal) {
      try {
        return await first.object(request, schema, signal);
      } catch (error) {
        if (signal.aborted) throw error;
        log.warn("language model failed", { error: describeError(error) });
        return second.object(request, schema, signal);
      }
    },
  };

  async function* stream(request: LanguageRequest, signal: AbortSignal): AsyncGenerator<LanguageDelta> {
    let begun = false;
    try {
      for await (const delta of first.stream(request, signal)) {
        begun = true;
        yield delta;
      }
      return;
    } catch (error) {
      if (begun || signal.aborted) throw error;
      log.warn("language model failed", { error: describeError(error) });
    }
    yield* second.stream(request, signal);
  }
}
