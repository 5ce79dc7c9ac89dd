import { OutdialError } from "#base";
import { describeError, type Log } from "#host";
import {
  languageDialog,
  scriptDialog,
  unsupportedReason,
  type ConversationPlan,
  type DialogModel,
  type LanguageModel,
  type Synthesizer,
  type Transcriber,
} from "#talk";
import type { VoiceOrder } from "./protocol.ts";
import type { Renderer } from "./renderer.ts";

/** Who hears, thinks and speaks for one voice model; what is undefined is not configured. */
export interface ProvidedVoice {
  readonly transcriber: Transcriber | undefined;
  readonly languageModel: LanguageModel | undefined;
  readonly synthesizer: Synthesizer & { readonly engine: string };
}

/** The providers of one configuration. */
export interface VoiceSource extends AsyncDisposable {
  voice(voiceModel: string): Promise<ProvidedVoice>;
}

/** What one call has of them. `release` once, when the call is over. */
export interface CallVoice {
  readonly transcriber: Transcriber | undefined;
  readonly dialog: DialogModel;
  /** Reads the call over after its end; undefined when a script says itself what came of it. */
  readonly debriefer: LanguageModel | undefined;
  readonly renderer: Renderer;
  /** Opens connections, while the phone rings. */
  warm(signal: AbortSignal): Promise<void>;
  release(): void;
}

export interface VoicesOptions {
  readonly log: Log;
  /** Epoch milliseconds. */
  readonly now: () => number;
  /** Speaks without any configuration. */
  readonly embedded: Renderer;
  readonly openSource: (order: VoiceOrder) => VoiceSource;
  /** Built once for each synthesizer. */
  readonly rendererFor: (synthesizer: ProvidedVoice["synthesizer"]) => Promise<Renderer>;
}

interface Source {
  readonly source: VoiceSource;
  calls: number;
}

/** So many configurations are kept open without a call: the one before a change may still be wanted by a recall. */
const mostIdle = 1;

/** The voices of a worker: each configuration's providers are opened once and shared. */
export class Voices implements AsyncDisposable {
  readonly #options: VoicesOptions;
  readonly #sources = new Map<string, Source>();
  readonly #renderers = new WeakMap<Synthesizer, Promise<Renderer>>();

  constructor(options: VoicesOptions) {
    this.#options = options;
  }

  /**
   * The voice of a call; providers that cannot be had are replaced by what is built in, as far as the playbook can do
   * with that. Rejects with `playbook-unsupported` when it cannot.
   */
  async voiceFor(plan: ConversationPlan, order: VoiceOrder | undefined): Promise<CallVoice> {
    const held = order === undefined ? undefined : this.#hold(order);
    try {
      const provided = await this.#provided(held, plan);
      const renderer =
        provided === undefined ? this.#options.embedded : await this.#rendererOf(provided.synthesizer);
      return {
        ...this.#brainFor(plan, provided),
        renderer,
        warm: async (signal) => warm(provided, signal),
        release: once(() => this.#release(held)),
      };
    } catch (error) {
      this.#release(held);
      throw error;
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const sources = [...this.#sources.values()];
    this.#sources.clear();
    await Promise.all(sources.map(async ({ source }) => source[Symbol.asyncDispose]()));
  }

  #hold(order: VoiceOrder): Source {
    const key = JSON.stringify([order.config, order.secrets]);
    const known = this.#sources.get(key);
    const held = known ?? { source: this.#options.openSource(order), calls: 0 };
    held.calls++;
    // The latest last: the idle ones are given up from the front.
    this.#sources.delete(key);
    this.#sources.set(key, held);
    return held;
  }

  #release(held: Source | undefined): void {
    if (held === undefined) return;
    held.calls--;
    const idle = [...this.#sources].filter(([, source]) => source.calls === 0);
    for (const [key, { source }] of idle.slice(0, Math.max(0, idle.length - mostIdle))) {
      this.#sources.delete(key);
      void this.#close(source);
    }
  }

  async #close(source: VoiceSource): Promise<void> {
    try {
      await source[Symbol.asyncDispose]();
    } catch (error) {
      this.#options.log.warn("providers not closed", { error: describeError(error) });
    }
  }

  async #provided(held: Source | undefined, plan: ConversationPlan): Promise<ProvidedVoice | undefined> {
    try {
      return await held?.source.voice(plan.voiceModel);
    } catch (error) {
      this.#options.log.error("providers cannot be used", { error: describeError(error) });
      return undefined;
    }
  }

  async #rendererOf(synthesizer: ProvidedVoice["synthesizer"]): Promise<Renderer> {
    const known = this.#renderers.get(synthesizer) ?? this.#options.rendererFor(synthesizer);
    this.#renderers.set(synthesizer, known);
    return known;
  }

  /** A script is followed to the letter whatever is configured; everything else is for the model, if there is one. */
  #brainFor(
    plan: ConversationPlan,
    provided: ProvidedVoice | undefined,
  ): Pick<CallVoice, "transcriber" | "dialog" | "debriefer"> {
    const model = provided?.languageModel;
    const reason = unsupportedReason(plan, { dialogModel: model !== undefined });
    if (reason !== undefined) throw new OutdialError("playbook-unsupported", reason);
    const { prompt, script } = plan.settings;
    const transcriber = provided?.transcriber;
    if (script !== undefined || prompt === undefined || model === undefined) {
      return { transcriber, dialog: scriptDialog(script, plan), debriefer: undefined };
    }
    const dialog = languageDialog({ model, plan, now: this.#options.now });
    return { transcriber, dialog, debriefer: model };
  }
}

/** What cannot be reached yet will show when it is needed. */
async function warm(provided: ProvidedVoice | undefined, signal: AbortSignal): Promise<void> {
  await Promise.allSettled([provided?.languageModel?.warm?.(signal), provided?.synthesizer.warm?.(signal)]);
}

function once(run: () => void): () => void {
  let done = false;
  return () => {
    if (!done) run();
    done = true;
  };
}
