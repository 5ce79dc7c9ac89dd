import { OutdialError, type Clock } from "#base";
import { steadyClock, type Log } from "#host";
import { resample } from "#media";
import type { Synthesizer } from "#talk";
import { pause } from "./patience.ts";
import {
  defaultVoice,
  type VoiceConfig,
  type VoiceModel,
  type VoicePart,
  type VoiceRole,
} from "./provider-config.ts";
import { languageModelFor, synthesizerFor, transcriberFor, type PartSource } from "./provider-parts.ts";
import { openSource } from "./part-source.ts";
import type { SecretRef } from "./provider-kinds.ts";

export interface ProbeOptions {
  readonly secret: (ref: SecretRef) => Promise<string>;
  readonly log: Log;
  readonly signal: AbortSignal;
  /** Speaks what a transcriber is to hear. */
  readonly speaker: Synthesizer;
  /** Of what is said. Default `en`. */
  readonly language?: string;
}

/** How a provider did in one role. Times are milliseconds from the request; for `ears` from the end of the speech. */
export type ProbeResult =
  | {
      readonly role: VoiceRole;
      readonly model: string;
      readonly ok: true;
      /** To the first token, the first audio or the final text. */
      readonly firstMs: number;
      readonly totalMs: number;
      /** What it answered or understood. */
      readonly text?: string;
    }
  | { readonly role: VoiceRole; readonly model: string; readonly ok: false; readonly error: Error };

const sentence = "Hello, this is a test. One, two, three, four, five.";
const frameSamples = 160;
const frameMs = 20;
/** How long a final text is waited for. */
const patienceMs = 10_000;

/**
 * Tries a provider in every role a voice model gives it, one after the other, with one short request each: it costs what
 * one sentence costs. A role that fails is a result; rejects with `provider-unknown`, `provider-unused` or what `secret`
 * rejects with.
 */
export async function testProvider(
  config: VoiceConfig,
  name: string,
  options: ProbeOptions,
): Promise<readonly ProbeResult[]> {
  if (!Object.hasOwn(config.providers, name)) {
    const hint = `There are: ${Object.keys(config.providers).join(", ") || "none"}.`;
    throw new OutdialError("provider-unknown", `There is no provider ${name}`, { hint });
  }
  const parts = partsOf(config, name);
  if (parts.length === 0) {
    throw new OutdialError("provider-unused", `No voice model uses ${name}`, {
      hint: `Give it a role: [voice_models.fast] brain = "${name}/MODEL"`,
    });
  }
  await using source = openSource(config, options);
  const results: ProbeResult[] = [];
  for (const { role, part } of parts) {
    try {
      results.push({ role, model: part.model, ok: true, ...(await probes[role](source, part, options)) });
    } catch (error) {
      options.signal.throwIfAborted();
      if (!(error instanceof Error)) throw error;
      results.push({ role, model: part.model, ok: false, error });
    }
  }
  return results;
}

interface Measured {
  readonly firstMs: number;
  readonly totalMs: number;
  readonly text?: string;
}

type Probe = (source: PartSource, part: VoicePart, options: ProbeOptions) => Promise<Measured>;

const probes: Readonly<Record<VoiceRole, Probe>> = { ears: probeEars, brain: probeBrain, mouth: probeMouth };

function partsOf(config: VoiceConfig, name: string): readonly { role: VoiceRole; part: VoicePart }[] {
  const roles: readonly VoiceRole[] = ["ears", "brain", "mouth"];
  const used = (model: VoiceModel, role: VoiceRole): readonly (VoicePart | undefined)[] => [
    model[role],
    model.fallback[role],
  ];
  const found = Object.values(config.voiceModels).flatMap((model) =>
    roles.flatMap((role) =>
      used(model, role).flatMap((part) => (part?.provider === name ? [{ role, part }] : [])),
    ),
  );
  const key = ({ role, part }: { role: VoiceRole; part: VoicePart }): string => `${role} ${part.model}`;
  return found.filter((one, index) => found.findIndex((other) => key(other) === key(one)) === index);
}

async function probeBrain(source: PartSource, part: VoicePart, options: ProbeOptions): Promise<Measured> {
  const model = await languageModelFor(source, part);
  const startedAt = steadyClock.now();
  let firstMs: number | undefined;
  let text = "";
  const request = { messages: [{ role: "user", text: "Say hello in five words." }], maxTokens: 200 } as const;
  for await (const delta of model.stream(request, options.signal)) {
    if (delta.type !== "text") continue;
    firstMs ??= steadyClock.now() - startedAt;
    text += delta.text;
  }
  const totalMs = steadyClock.now() - startedAt;
  return { firstMs: firstMs ?? totalMs, totalMs, text: text.trim() };
}

async function probeMouth(source: PartSource, part: VoicePart, options: ProbeOptions): Promise<Measured> {
  const synthesizer = await synthesizerFor(source, part);
  const startedAt = steadyClock.now();
  const request = { text: sentence, voice: defaultVoice, language: options.language ?? "en" };
  const speech = await synthesizer.say(request, options.signal);
  const firstMs = steadyClock.now() - startedAt;
  for await (const _ of speech.audio);
  return { firstMs, totalMs: steadyClock.now() - startedAt };
}

async function probeEars(source: PartSource, part: VoicePart, options: ProbeOptions): Promise<Measured> {
  const { language = "en" } = options;
  const transcriber = await transcriberFor(source, part);
  const speech = await spoken(options.speaker, language, options.signal);
  const stop = new AbortController();
  const signal = AbortSignal.any([options.signal, stop.signal]);
  await using session = await transcriber.open({ language }, signal);
  const spokenMs = (speech.length / frameSamples) * frameMs;
  const startedAt = steadyClock.now();
  const speaking = speak(session, speech, { clock: steadyClock, signal });
  speaking.catch(() => undefined); // It ends with the signal.
  const texts: string[] = [];
  try {
    for await (const event of session.events) {
      if (event.type === "degraded" && !event.recoverable) throw new Error(event.reason);
      if (event.type !== "final" || event.text === "") continue;
      texts.push(event.text);
      const heardMs = steadyClock.now() - startedAt;
      // Earlier finals are of the sentence's parts.
      if (heardMs < spokenMs) continue;
      return { firstMs: heardMs - spokenMs, totalMs: heardMs, text: texts.join(" ") };
    }
    throw new OutdialError("provider-bad-answer", `${part.provider} ended the session without a text`);
  } finally {
    stop.abort(new DOMException("The test is over", "AbortError"));
  }
}

/** The sentence at 8 kHz, in whole frames. */
async function spoken(speaker: Synthesizer, language: string, signal: AbortSignal): Promise<Int16Array> {
  const { rateHz, audio } = await speaker.say({ text: sentence, voice: defaultVoice, language }, signal);
  const samples: number[] = [];
  for await (const chunk of audio) for (const sample of chunk) samples.push(sample);
  const narrow = resample(Int16Array.from(samples), rateHz, 8000);
  const whole = new Int16Array(Math.ceil(narrow.length / frameSamples) * frameSamples);
  whole.set(narrow);
  return whole;
}

/** As fast as a person speaks, then silence until the signal. Asks for the text a moment after the last word. */
async function speak(
  session: { write(frame: { pcm: Int16Array; rateHz: 8000; atMs: number }): void; finalize(): void },
  speech: Int16Array,
  pace: { readonly clock: Clock; readonly signal: AbortSignal },
): Promise<void> {
  const { clock, signal } = pace;
  const startedAt = clock.now();
  const spokenFrames = speech.length / frameSamples;
  const mostFrames = spokenFrames + patienceMs / frameMs;
  for (let frame = 0; frame < mostFrames; frame++) {
    const pcm = speech.slice(frame * frameSamples, (frame + 1) * frameSamples);
    session.write({
      pcm: pcm.length > 0 ? pcm : new Int16Array(frameSamples),
      rateHz: 8000,
      atMs: frame * frameMs,
    });
    if (frame === spokenFrames + 15) session.finalize();
    await pause(clock, Math.max(0, startedAt + (frame + 1) * frameMs - clock.now()), signal);
  }
}
