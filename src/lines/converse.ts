import { drive, type Clock, type Driver, type Machine } from "#base";
import { createTasks, describeError, type Log, type Tasks } from "#host";
import {
  conversation,
  reportOf,
  startConversation,
  type ConversationEffect,
  type ConversationInput,
  type ConversationPlan,
  type ConversationReport,
  type ConversationState,
  type DialogModel,
  type DialogTurn,
  type Transcriber,
} from "#talk";
import type { AudioLine } from "./audio-line.ts";
import type { LineMedia } from "./line-media.ts";
import type { LineEndedBy, LineEvent } from "./protocol.ts";
import type { Renderer } from "./renderer.ts";
import { Speeches } from "./speeches.ts";
import { Transcription } from "./transcription.ts";

export interface ConverseOptions {
  readonly plan: ConversationPlan;
  readonly line: AudioLine;
  readonly dialog: DialogModel;
  readonly renderer: Renderer;
  /** Without one only keys, typed text and the presence of speech are heard. */
  readonly transcriber?: Transcriber | undefined;
  /** Opens connections, while the phone rings. */
  readonly warm?: (signal: AbortSignal) => Promise<void>;
  /** Steady; the ticker's. */
  readonly clock: Clock;
  readonly log: Log;
  readonly tell: (event: LineEvent) => void;
}

/** How long after the fact the speech detector tells of it. */
const speechBeginsLateMs = 60;
const speechEndsLateMs = 200;
/** Of a playbook's parameters, as words a transcriber should expect. */
const mostHints = 20;
const longestHint = 40;

/**
 * One call's conversation on its line: feeds talk's machine with what the line hears and performs its effects on the line,
 * the renderer and the dialog model. A bug in it ends this call (`line-lost`), not the worker.
 */
export class Conversation implements AsyncDisposable {
  readonly #options: ConverseOptions;
  readonly #tasks: Tasks;
  readonly #speeches: Speeches;
  readonly #transcription: Transcription | undefined;
  readonly #questions = new Map<number, AbortController>();
  /** What the callee's audio comes in. */
  codec: LineMedia["audio"]["codec"] | undefined;
  #driver: Driver<ConversationInput> | undefined;
  #state: ConversationState | undefined;
  #answeredAt: number | undefined;
  #calleeSpeaks = false;
  #failed = false;

  constructor(options: ConverseOptions) {
    const { line, renderer, plan, log } = options;
    this.#options = options;
    this.#tasks = createTasks(log);
    this.#speeches = new Speeches({
      line,
      render: (text, rank, signal) =>
        renderer.render({ text, voice: plan.voiceId, language: plan.language }, signal, rank),
      spawn: (name, run) =>
        this.#tasks.spawn(name, async (signal) => this.#guardAsync(async () => run(signal))),
      now: () => options.clock.now(),
      sinceAnswer: () => this.#sinceAnswer(),
      feed: (input) => this.#feed(input),
    });
    this.#transcription = this.#openEars();
    line.onFrame = (pcm, speechActive, info) => {
      this.#guard(() => this.#transcription?.write(pcm, info.elapsedMs, this.codec));
      this.#listen(speechActive, info.elapsedMs);
    };
    line.onPlayed = (segmentId) => this.#guard(() => this.#speeches.played(segmentId));
    line.onDtmf = (digit) => this.pressed(digit);
    line.onText = (text) => this.#feed({ type: "text", text });
    line.onBeep = (atMs) => this.#feed({ type: "beep", atMs });
    line.onTone = ({ type: kind, atMs }) => this.#feed({ type: "tone", kind, atMs });
  }

  /** It rings: the dialog thinks and the first words are rendered. Again: nothing. */
  prepare(): void {
    if (this.#driver !== undefined) return;
    const { warm } = this.#options;
    this.#guard(() => this.#start());
    if (warm !== undefined) this.#tasks.spawn("warm-up", warm);
  }

  /** Picked up: the first words leave with the next tick, if they are rendered. `rtt`: real-time text was agreed. */
  answered(rtt: boolean): void {
    if (this.#answeredAt !== undefined) return;
    this.#answeredAt = this.#options.clock.now();
    this.#guard(() => this.#start());
    this.#feed({ type: "answered", rtt });
  }

  pressed(digit: string): void {
    this.#feed({ type: "digit", digit });
  }

  /** After each tick of the line. */
  ticked(): void {
    this.#guard(() => this.#speeches.ticked());
  }

  /** The call is over, whatever the conversation was doing; its report. */
  end(endedBy: LineEndedBy): ConversationReport {
    // The line knows better than the conversation could reckon how much of the last words was heard.
    this.#guard(() => this.#speeches.clear());
    this.#feed({ type: endedBy === "callee" ? "callee-hung-up" : "operator-hung-up" });
    return reportOf(this.#state ?? startConversation(this.#options.plan).state);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#driver?.[Symbol.dispose]();
    await this.#tasks[Symbol.asyncDispose]();
  }

  #start(): void {
    if (this.#driver !== undefined || this.#failed) return;
    const { clock, dialog, plan, transcriber } = this.#options;
    const first = startConversation(plan, {
      revocable: dialog.revocable ?? false,
      ...(transcriber !== undefined && {
        finalWithinMs: transcriber.capabilities.finalWithinMs,
        endsTurns: transcriber.capabilities.turnDetection,
        streaming: transcriber.capabilities.streaming,
      }),
    });
    this.#transcription?.open();
    this.#state = first.state;
    const machine: Machine<ConversationState, ConversationInput, ConversationEffect> = {
      ...conversation,
      step: (state, input, now) => {
        const step = conversation.step(state, input, now);
        this.#state = step.state;
        return step;
      },
    };
    const guardedClock: Clock = {
      now: () => clock.now(),
      alarm: (at, wake) => clock.alarm(at, () => this.#guard(wake)),
    };
    // The first effects are performed once the driver exists: what they start may feed it.
    this.#driver = drive(machine, { state: first.state, effects: [] }, guardedClock, (effect) =>
      this.#perform(effect),
    );
    for (const effect of first.effects) this.#perform(effect);
  }

  #perform(effect: ConversationEffect): void {
    const { line, tell } = this.#options;
    switch (effect.type) {
      case "synthesise":
        return this.#speeches.synthesise(effect.speechId, effect.text, effect.priority);
      case "play":
        return this.#speeches.play(effect.speechId);
      case "pause":
        return this.#speeches.pause();
      case "resume":
        return this.#speeches.resume();
      case "clear-playout":
        return this.#speeches.clear();
      case "discard":
        return this.#speeches.discard(effect.speechId);
      case "send-text":
        line.sendText(effect.text);
        return;
      case "send-digits":
        line.sendDtmf(effect.digits);
        return;
      case "ask-dialog":
        return this.#ask(effect.generation, effect.turn);
      case "abort-dialog":
        return this.#stopAsking(effect.generation);
      case "publish":
        return tell({ type: "conversation", event: effect.event });
      case "detect-tones":
        line.detectTones = effect.on;
        return;
      case "finalise-hearing":
        return this.#transcription?.finalise();
      case "finish":
        return tell({ type: "conversation-finished" });
    }
  }

  #openEars(): Transcription | undefined {
    const { clock, log, plan, transcriber } = this.#options;
    if (transcriber === undefined) return undefined;
    const hints = Object.values(plan.params).filter((value) => isHint(value));
    return new Transcription({
      transcriber,
      language: plan.language,
      hints: hints.slice(0, mostHints),
      clock,
      log,
      spawn: (name, run) => this.#tasks.spawn(name, run),
      feed: (input) => this.#feed(input),
    });
  }

  #ask(generation: number, turn: DialogTurn): void {
    const question = new AbortController();
    this.#questions.set(generation, question);
    this.#tasks.spawn("dialog", async (callSignal) => {
      const signal = AbortSignal.any([question.signal, callSignal]);
      try {
        for await (const act of this.#options.dialog.answer(turn, signal)) {
          if (signal.aborted) return;
          this.#feed({ type: "dialog-acted", generation, act });
        }
      } catch (error) {
        if (signal.aborted) return;
        this.#options.log.warn("dialog failed", { error: describeError(error) });
        const reason = error instanceof Error ? error.message : String(error);
        this.#feed({ type: "dialog-failed", generation, reason });
      } finally {
        this.#questions.delete(generation);
      }
    });
  }

  #stopAsking(generation: number): void {
    this.#questions
      .get(generation)
      ?.abort(new DOMException("The answer is not wanted any more", "AbortError"));
  }

  #listen(speechActive: boolean, elapsedMs: number): void {
    if (speechActive === this.#calleeSpeaks) return;
    this.#calleeSpeaks = speechActive;
    const lateMs = speechActive ? speechBeginsLateMs : speechEndsLateMs;
    this.#feed({ type: "callee-speech", active: speechActive, atMs: Math.max(0, elapsedMs - lateMs) });
  }

  #sinceAnswer(): number {
    return this.#answeredAt === undefined ? 0 : this.#options.clock.now() - this.#answeredAt;
  }

  #feed(input: ConversationInput): void {
    this.#guard(() => this.#driver?.feed(input));
  }

  #guard(run: () => void): void {
    if (this.#failed) return;
    try {
      run();
    } catch (error) {
      this.#fail(error);
    }
  }

  async #guardAsync(run: () => Promise<void>): Promise<void> {
    try {
      await run();
    } catch (error) {
      this.#fail(error);
    }
  }

  /** A bug: this call cannot go on. */
  #fail(error: unknown): void {
    if (this.#failed) return;
    this.#failed = true;
    this.#driver?.[Symbol.dispose]();
    this.#options.log.error("conversation failed", { error: describeError(error) });
    this.#options.tell({ type: "line-lost", reason: "the conversation failed" });
  }
}

/** A name or a word, and not a number or a text. */
function isHint(value: string): boolean {
  return value.length >= 2 && value.length <= longestHint && /\p{L}/u.test(value) && !/[\n@/]/.test(value);
}
