import { drive, type Clock, type Driver, type Entropy } from "#base";
import type { Log } from "#host";
import { AudioLine, type startTicker } from "#lines";
import { beepTone } from "#media";
import type { IncomingCall } from "#trunks";
import { callee, pickUp, type CalleeEffect, type CalleeInput } from "./callee.ts";
import { behaviourOf, type Behaviour } from "./numbers.ts";
import { languageOf, wordsOf, type PhraseName } from "./phrases.ts";
import type { CalleeRole } from "./roles.ts";
import type { CarrierEvent } from "./carrier-event.ts";

export interface CallSurroundings {
  readonly clock: Clock;
  readonly entropy: Entropy;
  readonly log: Log;
  readonly ticker: ReturnType<typeof startTicker>;
  /** Local address for SDP and RTP towards this caller. */
  readonly mediaAddress: (remote: string) => Promise<string>;
  readonly say: (phrase: PhraseName, language: string) => Promise<Int16Array>;
  readonly report: (event: CarrierEvent) => void;
}

const beepMs = 400;
const beepHz = 1_000;

/** Takes one call as the dialled number says; resolves when it is over. */
export async function takeCall(call: IncomingCall, around: CallSurroundings): Promise<void> {
  const over = Promise.withResolvers<string>();
  const abort = new AbortController();
  call.onEvent = (event) => {
    if (event.type === "cancelled" || event.type === "ended") {
      abort.abort();
      over.resolve(event.type === "ended" ? `ended by ${event.by}` : "cancelled");
    }
  };
  around.report({ type: "invited", sipCallId: call.sipCallId, number: call.number, from: call.from });
  const behaviour = behaviourOf(call.number);
  if (behaviour === undefined) call.reject(404, { q850: 1 });
  else await react(call, behaviour, { ...around, signal: abort.signal });
  around.report({ type: "over", sipCallId: call.sipCallId, number: call.number, how: await over.promise });
}

type Surroundings = CallSurroundings & { readonly signal: AbortSignal };

async function react(
  call: IncomingCall,
  { ringAfterMs, reaction }: Behaviour,
  around: Surroundings,
): Promise<void> {
  const { clock, signal } = around;
  const start = clock.now();
  if (ringAfterMs !== undefined) {
    await until(clock, start + ringAfterMs, signal);
    if (signal.aborted) return;
    call.ring();
  }
  switch (reaction.type) {
    case "reject":
      await until(clock, start + reaction.afterMs, signal);
      if (!signal.aborted) call.reject(reaction.status, reaction);
      return;
    case "ring":
      await until(clock, start + reaction.giveUpMs, signal);
      if (!signal.aborted) call.reject(480, { q850: 19 });
      return;
    case "answer":
      await until(clock, start + reaction.afterMs, signal);
      if (!signal.aborted) await converse(call, reaction.role, around);
      return;
  }
}

async function converse(call: IncomingCall, role: CalleeRole, around: Surroundings): Promise<void> {
  const { clock, entropy, ticker, signal } = around;
  const line = await AudioLine.open({
    address: await around.mediaAddress(call.remote.address),
    withText: call.offered.text,
    now: () => clock.now(),
    entropy,
  });
  const media = signal.aborted ? undefined : call.answer({ ...line.local, codecs: ["PCMU", "PCMA"] });
  if (media === undefined) return line.close();
  around.report({ type: "answered", sipCallId: call.sipCallId, number: call.number });
  line.connect(media);
  const language = languageOf(call.offered.language);
  using driver = listen({ call, line, role, language, hasText: media.text !== undefined }, around);
  forwardMedia(call, line, driver);
  if (role.hasAudio) ticker.register(line);
  await aborted(signal);
  ticker.unregister(line);
  await line.close();
}

function listen(
  party: { call: IncomingCall; line: AudioLine; role: CalleeRole; language: string; hasText: boolean },
  around: Surroundings,
): Driver<CalleeInput> {
  const { call, line, role, language, hasText } = party;
  const { clock, log, say, signal } = around;
  let segmentId = 0;
  const driver: Driver<CalleeInput> = drive(callee, pickUp(role, hasText, clock.now()), clock, perform);
  let speech = false;
  line.onFrame = (_pcm, active) => {
    if (active !== speech) driver.feed({ type: "agent-speech", active });
    speech = active;
  };
  line.onDtmf = (digit) => driver.feed({ type: "agent-digit", digit });
  line.onText = (text) => driver.feed({ type: "agent-text", text });
  line.onPlayed = () => driver.feed({ type: "said" });
  return driver;

  function perform(effect: CalleeEffect): void {
    switch (effect.type) {
      case "say":
        void say(effect.phrase, language).then(
          (pcm) => (signal.aborted ? undefined : line.play(++segmentId, pcm)),
          (error: unknown) => log.error("a sandbox callee lost its voice", { error: String(error) }),
        );
        return;
      case "beep":
        line.play(++segmentId, beepTone({ frequencyHz: beepHz, durationMs: beepMs }));
        return;
      case "press":
        line.sendDtmf(effect.digits);
        return;
      case "type":
        line.sendText(`${wordsOf(effect.phrase, language)}\n`);
        return;
      case "hang-up":
        call.hangUp();
        return;
    }
  }
}

function forwardMedia(call: IncomingCall, line: AudioLine, driver: Driver<CalleeInput>): void {
  const whenOver = call.onEvent;
  call.onEvent = (event) => {
    if (event.type === "media-changed") line.changeMedia(event.media);
    if (event.type === "dtmf") driver.feed({ type: "agent-digit", digit: event.digit });
    whenOver(event);
  };
}

async function until(clock: Clock, at: number, signal: AbortSignal): Promise<void> {
  if (signal.aborted) return;
  const { promise, resolve } = Promise.withResolvers<void>();
  using _alarm = clock.alarm(at, resolve);
  const onAbort = (): void => resolve();
  signal.addEventListener("abort", onAbort, { once: true });
  await promise;
  signal.removeEventListener("abort", onAbort);
}

async function aborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return;
  await new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));
}
