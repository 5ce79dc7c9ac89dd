import { OutdialError, type Clock, type Entropy } from "#base";
import { describeError, type Log } from "#host";
import { debrief, type ConversationPlan, type ConversationReport, type DialogResult } from "#talk";
import { AudioLine } from "./audio-line.ts";
import { Conversation } from "./converse.ts";
import { lateRecorder } from "./late-recorder.ts";
import type { LineAddress, LineMedia } from "./line-media.ts";
import type { PortDrain } from "./port-drain.ts";
import type { LineEndedBy, LineEvent, LineReport, LineRequest, VoiceOrder } from "./protocol.ts";
import type { Recorder } from "./recorder.ts";
import type { Tickable } from "./ticker.ts";
import type { CallVoice } from "./voices.ts";

/** What all calls of a worker share. */
export interface CallParts {
  readonly clock: Clock;
  readonly entropy: Entropy;
  readonly log: Log;
  readonly drain: PortDrain;
  /** Rejects with `playbook-unsupported` when nobody could hold this conversation. */
  readonly voiceFor: (plan: ConversationPlan, order: VoiceOrder | undefined) => Promise<CallVoice>;
}

/** For reading a call over after its end. */
const debriefMs = 20_000;

interface Assembled {
  readonly request: LineRequest;
  readonly voice: CallVoice;
  readonly clock: Clock;
  readonly log: Log;
  readonly line: AudioLine;
  readonly recorder: Recorder | undefined;
  readonly conversation: Conversation;
}

/** One call in its worker: audio, recording and conversation, on the worker's clock. */
export class CarriedCall implements Tickable {
  readonly #parts: Assembled;
  #report: Promise<LineReport> | undefined;

  /** Binds the ports. Rejects with `no-media-port` and `playbook-unsupported`. */
  static async open(
    request: LineRequest,
    parts: CallParts,
    tell: (event: LineEvent) => void,
  ): Promise<CarriedCall> {
    const { clock, entropy, drain } = parts;
    const { plan, recordingPath, portRange } = request;
    const log = fieldsAdded(parts.log, { callId: request.callId, attempt: request.attempt });
    const onFailure = (error: Error): void => log.error("recording stopped", { error: describeError(error) });
    const recorder = recordingPath === undefined ? undefined : lateRecorder(recordingPath, { onFailure });
    const voice = await parts.voiceFor(plan, request.voice);
    const opening = AudioLine.open({
      address: request.address,
      withText: plan.settings.rtt,
      now: () => clock.now(),
      entropy,
      drain,
      ...(portRange === undefined ? {} : { portRange }),
      ...(recorder === undefined ? {} : { recorder }),
    });
    const line = await opening.catch((error: unknown) => {
      voice.release();
      throw error;
    });
    line.onMediaTimeout = (first) => tell({ type: "media-timeout", first });
    const { dialog, renderer, transcriber } = voice;
    const warm = async (signal: AbortSignal): Promise<void> => voice.warm(signal);
    const said = { dialog, renderer, transcriber, warm };
    return new CarriedCall({
      request,
      voice,
      clock,
      log,
      line,
      recorder,
      conversation: new Conversation({ plan, line, ...said, clock, log, tell }),
    });
  }

  private constructor(parts: Assembled) {
    this.#parts = parts;
  }

  get local(): LineAddress {
    return this.#parts.line.local;
  }

  tick(now: number): void {
    this.#parts.line.tick(now);
    this.#parts.conversation.ticked();
  }

  skip(frames: number): void {
    this.#parts.line.skip(frames);
  }

  prepare(): void {
    this.#parts.conversation.prepare();
  }

  connect(media: LineMedia): void {
    this.#parts.conversation.codec = media.audio.codec;
    this.#parts.line.connect(media);
    this.#parts.conversation.answered(media.text !== undefined);
  }

  changeMedia(media: LineMedia): void {
    this.#parts.conversation.codec = media.audio.codec;
    this.#parts.line.changeMedia(media);
  }

  pressed(digit: string): void {
    this.#parts.conversation.pressed(digit);
  }

  /**
   * Ends conversation, audio and recording, in this order, and then has a conversation that a model held read over, for
   * 20 s at most and not beyond `signal`. Idempotent.
   */
  async close(endedBy: LineEndedBy, signal?: AbortSignal): Promise<LineReport> {
    this.#report ??= this.#close(endedBy, signal);
    return this.#report;
  }

  async #close(endedBy: LineEndedBy, signal: AbortSignal | undefined): Promise<LineReport> {
    const { conversation, line, recorder, voice } = this.#parts;
    const report = conversation.end(endedBy);
    await conversation[Symbol.asyncDispose]();
    await line.close();
    try {
      const result = await this.#debriefed(report, signal);
      const media = line.stats();
      return { conversation: { ...report, result }, recordedMs: recorder?.recordedMs ?? 0, media };
    } finally {
      voice.release();
    }
  }

  /** The result with what the transcript shows; the conversation's own when there is no time for it. */
  async #debriefed(report: ConversationReport, signal: AbortSignal | undefined): Promise<DialogResult> {
    const { clock, log, request, voice } = this.#parts;
    const { debriefer: model } = voice;
    if (model === undefined || signal?.aborted === true) return report.result;
    const limit = new AbortController();
    const late = new OutdialError("debrief-late", "the model did not answer in time");
    using _alarm = clock.alarm(clock.now() + debriefMs, () => limit.abort(late));
    const either = signal === undefined ? limit.signal : AbortSignal.any([limit.signal, signal]);
    try {
      return await withinSignal(debrief({ model, plan: request.plan, report, signal: either }), either);
    } catch (error) {
      log.warn("call not read over", { error: describeError(error) });
      const reason = error instanceof Error ? error.message : String(error);
      return { ...report.result, debriefProblem: reason };
    }
  }
}

/** Not even a provider that ignores its signal holds a report up. */
async function withinSignal<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  const aborted = Promise.withResolvers<never>();
  const leave = (): void => aborted.reject(signal.reason);
  if (signal.aborted) leave();
  signal.addEventListener("abort", leave, { once: true });
  return Promise.race([work, aborted.promise]).finally(() => signal.removeEventListener("abort", leave));
}

function fieldsAdded(log: Log, added: Readonly<Record<string, unknown>>): Log {
  return {
    debug: (message, fields) => log.debug(message, { ...added, ...fields }),
    info: (message, fields) => log.info(message, { ...added, ...fields }),
    warn: (message, fields) => log.warn(message, { ...added, ...fields }),
    error: (message, fields) => log.error(message, { ...added, ...fields }),
  };
}
