import type { Clock, Entropy } from "#base";
import { describeError, type Log } from "#host";
import type { ConversationPlan, DialogModel } from "#talk";
import { AudioLine } from "./audio-line.ts";
import { Conversation } from "./converse.ts";
import { lateRecorder } from "./late-recorder.ts";
import type { LineAddress, LineMedia } from "./line-media.ts";
import type { PortDrain } from "./port-drain.ts";
import type { LineEndedBy, LineEvent, LineReport, LineRequest } from "./protocol.ts";
import type { Recorder } from "./recorder.ts";
import type { Renderer } from "./renderer.ts";
import type { Tickable } from "./ticker.ts";

/** What all calls of a worker share. */
export interface CallParts {
  readonly clock: Clock;
  readonly entropy: Entropy;
  readonly log: Log;
  readonly drain: PortDrain;
  readonly renderer: Renderer;
  readonly dialogFor: (plan: ConversationPlan) => DialogModel;
}

interface Assembled {
  readonly line: AudioLine;
  readonly recorder: Recorder | undefined;
  readonly conversation: Conversation;
}

/** One call in its worker: audio, recording and conversation, on the worker's clock. */
export class CarriedCall implements Tickable {
  readonly #parts: Assembled;
  #report: Promise<LineReport> | undefined;

  /** Binds the ports. Rejects with `no-media-port`. */
  static async open(
    request: LineRequest,
    parts: CallParts,
    tell: (event: LineEvent) => void,
  ): Promise<CarriedCall> {
    const { clock, entropy, drain, renderer } = parts;
    const { plan, recordingPath } = request;
    const log = fieldsAdded(parts.log, { callId: request.callId, attempt: request.attempt });
    const onFailure = (error: Error): void => log.error("recording stopped", { error: describeError(error) });
    const recorder = recordingPath === undefined ? undefined : lateRecorder(recordingPath, { onFailure });
    const line = await AudioLine.open({
      address: request.address,
      withText: plan.settings.rtt,
      now: () => clock.now(),
      entropy,
      drain,
      ...(recorder === undefined ? {} : { recorder }),
    });
    line.onMediaTimeout = (first) => tell({ type: "media-timeout", first });
    const dialog = parts.dialogFor(plan);
    return new CarriedCall({
      line,
      recorder,
      conversation: new Conversation({ plan, line, dialog, renderer, clock, log, tell }),
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
    this.#parts.line.connect(media);
    this.#parts.conversation.answered(media.text !== undefined);
  }

  changeMedia(media: LineMedia): void {
    this.#parts.line.changeMedia(media);
  }

  pressed(digit: string): void {
    this.#parts.conversation.pressed(digit);
  }

  /** Ends conversation, audio and recording, in this order. Idempotent. */
  async close(endedBy: LineEndedBy): Promise<LineReport> {
    this.#report ??= this.#close(endedBy);
    return this.#report;
  }

  async #close(endedBy: LineEndedBy): Promise<LineReport> {
    const { conversation, line, recorder } = this.#parts;
    const report = conversation.end(endedBy);
    await conversation[Symbol.asyncDispose]();
    await line.close();
    return { conversation: report, recordedMs: recorder?.recordedMs ?? 0, media: line.stats() };
  }
}

function fieldsAdded(log: Log, added: Readonly<Record<string, unknown>>): Log {
  return {
    debug: (message, fields) => log.debug(message, { ...added, ...fields }),
    info: (message, fields) => log.info(message, { ...added, ...fields }),
    warn: (message, fields) => log.warn(message, { ...added, ...fields }),
    error: (message, fields) => log.error(message, { ...added, ...fields }),
  };
}
