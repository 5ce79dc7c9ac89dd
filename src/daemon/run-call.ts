import { drive, type Clock } from "#base";
import { nextRecallAt, type Outcome } from "#domain";
import { describeError, type Log } from "#host";
import { attempt, startAttempt, type AttemptEffect, type AttemptFacts } from "./attempt.ts";
import { concludeAttempt, durationOf } from "./conclude.ts";
import { dialledAs } from "./dial-order.ts";
import { planOf } from "./plan-of.ts";
import type {
  AttemptEnd,
  ClaimedCall,
  Line,
  LineEvent,
  LineReport,
  Lines,
  LocalMedia,
  SdesKey,
  SipTarget,
  Store,
  Telephony,
  TrunkRow,
  VoiceOrder,
} from "./ports.ts";
import type { SipTrace } from "./sip-trace.ts";

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
  /** The providers that hear, think and speak; undefined: what is built in. */
  readonly voiceOrder: (voiceModel: string) => Promise<VoiceOrder | undefined>;
  readonly mediaAddress: (trunk: TrunkRow) => string | Promise<string>;
  readonly recordingPath: (fileName: string) => string;
  readonly target: (trunk: TrunkRow) => SipTarget;
  /** Fresh keys for the audio of one call. */
  readonly newSrtpKeys: () => readonly SdesKey[];
  /** The trunk has done its part: it rings, or somebody answered. */
  readonly callWent: (trunk: TrunkRow) => void;
  readonly publish: (type: string, data: Readonly<Record<string, unknown>>) => void;
  /** Keeps what is on the wire with this Call-ID. */
  readonly followSip: (sipCallId: string) => SipTrace;
}

export interface RunningCall {
  readonly claimed: ClaimedCall;
  readonly trunk: TrunkRow;
  /** Ends the attempt; before the INVITE left it is remembered. */
  hangUp: (why: "operator" | "shutdown") => void;
  /** Asked for before there was anything to end. */
  readonly hungUpEarly: () => "operator" | "shutdown" | undefined;
}

/** A callback further away is not scheduled: it is a word of the conversation, not a date. */
const longestCallbackMs = 90 * 86_400_000;

/** One attempt, from the open line to the stored end. Resolves when nothing of it is left, with how it ended if it was dialled. */
export async function runCall(running: RunningCall, around: CallSurroundings): Promise<Outcome | undefined> {
  const { claimed, trunk } = running;
  const fileName = `${claimed.call.id}-${claimed.attempt}.wav`;
  const events: { onLine: (event: LineEvent) => void } = { onLine: () => undefined };
  const voice = await around.voiceOrder(claimed.call.options.voiceModel);
  const line = await around.lines.open({
    callId: claimed.call.id,
    attempt: claimed.attempt,
    address: await around.mediaAddress(trunk),
    plan: planOf(claimed, trunk),
    ...(voice === undefined ? {} : { voice }),
    recordingPath: around.recordingPath(fileName),
    onEvent: (event) => events.onLine(event),
  });
  const session = new AttemptSession({ running, around, line, fileName });
  events.onLine = (event) => session.onLine(event);
  try {
    return await session.run();
  } catch (error) {
    await line.close(); // Not dialled: nobody else would.
    throw error;
  }
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
  #sip: SipTrace | undefined;
  #earlyMediaAt: number | undefined;

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

  async run(): Promise<Outcome | undefined> {
    const { store, telephony, clock, owner, newSipCallId, ringTimeoutMs, target } = this.#around;
    const { claimed, trunk } = this.#running;
    const { promise: ended, resolve: conclude } = Promise.withResolvers<[AttemptFacts, LineReport]>();
    const sipCallId = newSipCallId();
    let feed: (event: Parameters<typeof driver.feed>[0]) => void = () => undefined;
    const prepared = telephony.prepare({
      target: target(trunk),
      ...dialledAs(trunk, claimed.call),
      sipCallId,
      media: this.#media(),
      ringTimeoutMs,
      onEvent: (event) => {
        if (event.type === "leg-early-media") this.#earlyMediaAt ??= Math.trunc(clock.now());
        feed({ type: "leg", event });
      },
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
      return undefined;
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
    this.#sip = this.#around.followSip(sipCallId);
    const leg = prepared.send();
    const early = this.#running.hungUpEarly();
    if (early !== undefined) driver.feed({ type: "hang-up", why: early });
    return this.#finish(...(await ended));
  }

  #media(): LocalMedia {
    const { claimed, trunk } = this.#running;
    return {
      ...this.#line.local,
      codecs: trunk.codecs,
      language: claimed.call.options.language,
      ...(trunk.sip.srtp === "required" ? { srtp: this.#around.newSrtpKeys() } : {}),
    };
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
        this.#around.callWent(this.#running.trunk);
        return this.#write(() => store.markRinging(call.id, n, now));
      case "save-answered":
        publish("call-answered", { attempt: n });
        this.#around.callWent(this.#running.trunk);
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

  async #finish(facts: AttemptFacts, report: LineReport): Promise<Outcome> {
    const { clock, log, store, publish } = this.#around;
    await this.#writes;
    const end = this.#endOf(facts, report, Math.trunc(clock.now()));
    const saved = this.#saveSip();
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
    await saved;
    publish("call-ended", {
      attempt: end.n,
      state: end.state,
      outcome: end.outcome,
      due_at: end.dueAt,
      duration: end.durationS,
      success: end.success,
    });
    return end.outcome;
  }

  /** In one piece, beside the end of the attempt; never rejects. */
  async #saveSip(): Promise<void> {
    const { log, store } = this.#around;
    const { call, attempt: n } = this.#running.claimed;
    try {
      await store.saveSipMessages(call.id, n, this.#sip?.messages() ?? []);
    } catch (error) {
      log.warn("the SIP messages of a call could not be stored", { error: describeError(error) });
    }
    this.#sip?.close();
  }

  #endOf(facts: AttemptFacts, report: LineReport, now: number): AttemptEnd {
    const { call, attempt: n } = this.#running.claimed;
    const outcome = concludeAttempt(facts, report);
    const { conversation } = report;
    const spoke = facts.answeredAt !== undefined;
    const dueAt =
      callbackOf(outcome, conversation.result.callbackAt, now) ??
      recallOf(outcome, this.#running.claimed, now);
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
      evidence: {
        trunk: this.#running.trunk.name,
        ...(facts.end.problem === undefined ? {} : { problem: facts.end.problem }),
        ...(this.#earlyMediaAt === undefined ? {} : { early_media_at: isoTime(this.#earlyMediaAt) }),
        ...(spoke
          ? { verdict: conversation.verdict, first_word_ms: conversation.firstWordMs, media: report.media }
          : {}),
      },
      ...(conversation.result.doNotCall
        ? { suppress: { phone: call.to, reason: "asked during a call" } }
        : {}),
    };
  }
}

function isoTime(at: number): string {
  return new Date(at).toISOString();
}

/** When a person asked to be called again; the calling hours are judged when it is dialled. */
function callbackOf(outcome: Outcome, askedFor: string | undefined, now: number): number | undefined {
  const at = outcome.state === "closed" && askedFor !== undefined ? Date.parse(askedFor) : Number.NaN;
  return at > now && at < now + longestCallbackMs ? at : undefined;
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
