import { drive, type Clock } from "#base";
import { nextRecallAt, type Outcome } from "#domain";
import { describeError, type Log } from "#host";
import type { ConversationPlan } from "#talk";
import { attempt, startAttempt, type AttemptEffect, type AttemptFacts } from "./attempt.ts";
import { concludeAttempt, durationOf } from "./conclude.ts";
import type {
  AttemptEnd,
  ClaimedCall,
  Line,
  LineEvent,
  LineReport,
  Lines,
  SipTarget,
  Store,
  Telephony,
  TrunkRow,
} from "./ports.ts";

/** What one attempt needs around it. */
export interface CallSurroundings {
  readonly store: Store;
  readonly telephony: Telephony;
  readonly lines: Lines;
  readonly clock: Clock;
  readonly log: Log;
  /** Names this daemon in claims. */
  readonly owner: string;
  readonly newSipCallId: () => string;
  readonly ringTimeoutMs: number;
  /** Local address for RTP towards a trunk. */
  readonly mediaAddress: (trunk: TrunkRow) => string | Promise<string>;
  readonly recordingPath: (fileName: string) => string;
  readonly target: (trunk: TrunkRow) => SipTarget;
  readonly publish: (type: string, data: Readonly<Record<string, unknown>>) => void;
}

export interface RunningCall {
  readonly claimed: ClaimedCall;
  readonly trunk: TrunkRow;
  /** Ends the attempt; before the INVITE left it is remembered. */
  hangUp: (why: "operator" | "shutdown") => void;
  /** Asked for before there was anything to end. */
  readonly hungUpEarly: () => "operator" | "shutdown" | undefined;
}

/** One attempt, from the open line to the stored end. Resolves when nothing of it is left. */
export async function runCall(running: RunningCall, around: CallSurroundings): Promise<void> {
  const { claimed, trunk } = running;
  const fileName = `${claimed.call.id}-${claimed.attempt}.wav`;
  const events: { onLine: (event: LineEvent) => void } = { onLine: () => undefined };
  const line = await around.lines.open({
    callId: claimed.call.id,
    attempt: claimed.attempt,
    address: await around.mediaAddress(trunk),
    plan: planOf(claimed),
    recordingPath: around.recordingPath(fileName),
    onEvent: (event) => events.onLine(event),
  });
  const session = new AttemptSession({ running, around, line, fileName });
  events.onLine = (event) => session.onLine(event);
  await session.run();
}

function planOf({ call, settings }: ClaimedCall): ConversationPlan {
  return {
    settings,
    params: call.params,
    language: call.options.language,
    voiceId: call.options.voiceId,
    voiceModel: call.options.voiceModel,
    interrupt: call.options.interrupt,
  };
}

/** The shell of the attempt machine: performs its effects in order and keeps the store's writes in order behind them. */
class AttemptSession {
  readonly #running: RunningCall;
  readonly #around: CallSurroundings;
  readonly #line: Line;
  readonly #fileName: string;
  /** Writes follow each other; none delays the audio. */
  #writes: Promise<unknown> = Promise.resolve();
  #onLine: (event: LineEvent) => void = () => undefined;

  constructor(parts: { running: RunningCall; around: CallSurroundings; line: Line; fileName: string }) {
    this.#running = parts.running;
    this.#around = parts.around;
    this.#line = parts.line;
    this.#fileName = parts.fileName;
  }

  onLine(event: LineEvent): void {
    if (event.type === "conversation")
      this.#around.publish(event.event.type, { ...event.event, type: undefined });
    this.#onLine(event);
  }

  async run(): Promise<void> {
    const { store, telephony, clock, owner, newSipCallId, ringTimeoutMs, target } = this.#around;
    const { claimed, trunk } = this.#running;
    const { promise: ended, resolve: conclude } = Promise.withResolvers<[AttemptFacts, LineReport]>();
    const sipCallId = newSipCallId();
    let feed: (event: Parameters<typeof driver.feed>[0]) => void = () => undefined;
    const prepared = telephony.prepare({
      target: target(trunk),
      number: claimed.call.to,
      callerId: claimed.call.from,
      sipCallId,
      media: { ...this.#line.local, codecs: trunk.codecs, language: claimed.call.options.language },
      ringTimeoutMs,
      onEvent: (event) => feed({ type: "leg", event }),
    });
    this.#line.prepare();
    // Durable before the INVITE leaves: after a crash nobody has to guess whether the phone rang.
    const mayDial = await store
      .startDial(claimed.call.id, claimed.attempt, owner, sipCallId, prepared.dialog, Math.trunc(clock.now()))
      .catch(async (error: unknown) => {
        await this.#line.close();
        throw error;
      });
    if (!mayDial) {
      await this.#line.close();
      return;
    }
    this.#around.publish("call-dialing", { attempt: claimed.attempt });
    const driver = drive(attempt, startAttempt(), clock, (effect) => {
      if (effect.type === "conclude") conclude([effect.facts, effect.report]);
      else
        this.#perform(effect, {
          hangUp: () => leg.hangUp(),
          report: (report) => driver.feed({ type: "report", report }),
        });
    });
    feed = (input) => driver.feed(input);
    this.#onLine = (event) => driver.feed({ type: "line", event });
    this.#running.hangUp = (why) => driver.feed({ type: "hang-up", why });
    const leg = prepared.send();
    const early = this.#running.hungUpEarly();
    if (early !== undefined) driver.feed({ type: "hang-up", why: early });
    await this.#finish(...(await ended));
  }

  #perform(
    effect: Exclude<AttemptEffect, { type: "conclude" }>,
    on: { hangUp: () => void; report: (report: LineReport) => void },
  ): void {
    const { store, clock, publish } = this.#around;
    const { call, attempt: n } = this.#running.claimed;
    const now = Math.trunc(clock.now());
    switch (effect.type) {
      case "save-dialog":
        return this.#write(() => store.saveDialog(call.id, n, effect.dialog));
      case "save-ringing":
        publish("call-ringing", { attempt: n });
        return this.#write(() => store.markRinging(call.id, n, now));
      case "save-answered":
        publish("call-answered", { attempt: n });
        return this.#write(() => store.markAnswered(call.id, n, effect.dialog, now));
      case "connect-line":
        return this.#line.connect(effect.media);
      case "change-media":
        return this.#line.changeMedia(effect.media);
      case "pass-digit":
        return this.#line.pressed(effect.digit);
      case "hang-up-leg":
        return on.hangUp();
      case "close-line":
        void this.#line.close(effect.endedBy).then(on.report);
        return undefined;
    }
  }

  /** Evidence that is lost does not end a call: the end itself is written until it is. */
  #write(operation: () => Promise<unknown>): void {
    this.#writes = this.#writes.then(operation).catch((error: unknown) => {
      this.#around.log.warn("a step of a call could not be stored", { error: describeError(error) });
    });
  }

  async #finish(facts: AttemptFacts, report: LineReport): Promise<void> {
    const { clock, log, store, publish } = this.#around;
    await this.#writes;
    const end = this.#endOf(facts, report, Math.trunc(clock.now()));
    for (let waitMs = 500; ; waitMs = Math.min(30_000, waitMs * 2)) {
      try {
        await store.endAttempt(end);
        break;
      } catch (error) {
        log.error("the end of a call could not be stored; it is tried again", {
          error: describeError(error),
          waitMs,
        });
        await new Promise<void>((resolve) => clock.alarm(clock.now() + waitMs, resolve));
      }
    }
    publish("call-ended", {
      attempt: end.n,
      state: end.state,
      outcome: end.outcome,
      due_at: end.dueAt,
      duration: end.durationS,
      success: end.success,
    });
  }

  #endOf(facts: AttemptFacts, report: LineReport, now: number): AttemptEnd {
    const { call, attempt: n } = this.#running.claimed;
    const outcome = concludeAttempt(facts, report);
    const { conversation } = report;
    const spoke = facts.answeredAt !== undefined;
    const dueAt = recallOf(outcome, this.#running.claimed, now);
    return {
      callId: call.id,
      n,
      at: now,
      outcome,
      state: dueAt === undefined ? outcome.state : "recall-scheduled",
      dueAt: dueAt ?? null,
      durationS: durationOf(facts),
      success: spoke && conversation.result.success,
      summary: spoke ? conversation.result.summary : "",
      output: spoke ? conversation.result.output : {},
      turns: spoke ? conversation.turns : [],
      recording: spoke && report.recordedMs > 0 ? this.#fileName : null,
      evidence: spoke
        ? { verdict: conversation.verdict, first_word_ms: conversation.firstWordMs, media: report.media }
        : {},
      ...(conversation.result.doNotCall
        ? { suppress: { phone: call.to, reason: "asked during a call" } }
        : {}),
    };
  }
}

function recallOf(
  outcome: Outcome,
  { call, attempt: attempts }: ClaimedCall,
  now: number,
): number | undefined {
  return nextRecallAt({
    recallMin: call.recallMin,
    recallFrom: call.recallFrom,
    attempts,
    outcome,
    endedAt: now,
  });
}
