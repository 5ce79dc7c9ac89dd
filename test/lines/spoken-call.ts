import { silentLog } from "#host";
import type { PlaybookSettings } from "#domain";
import { languageDialog, type ConversationEvent, type ConversationReport } from "#talk";
import type { AudioLine } from "../../src/lines/audio-line.ts";
import { Conversation } from "../../src/lines/converse.ts";
import { Playout } from "../../src/lines/playout.ts";
import type { LineEvent } from "../../src/lines/protocol.ts";
import { Renderer } from "../../src/lines/renderer.ts";
import {
  scriptedModel,
  scriptedSynthesizer,
  scriptedTranscriber,
  type ScriptedEars,
  type ScriptedModel,
  type ScriptedReply,
  type ScriptedTranscriber,
  type SpokenWords,
} from "../support/scripted-voices.ts";
import { VirtualClock } from "../support/virtual-clock.ts";
import { scriptPlan } from "./loopback-call.ts";

/** What the callee does at a time (ms since the answer): speaks words, makes a sound without words, presses, leaves. */
export type CalleeAct =
  | { readonly type: "says"; readonly atMs: number; readonly text: string; readonly wordMs?: number }
  | { readonly type: "sounds"; readonly atMs: number; readonly forMs: number }
  | { readonly type: "presses"; readonly atMs: number; readonly digits: string }
  | { readonly type: "hangs-up"; readonly atMs: number };

export interface SpokenScenario {
  readonly settings?: Partial<PlaybookSettings>;
  readonly interrupt?: boolean;
  readonly callee: readonly CalleeAct[];
  readonly replies: readonly ScriptedReply[] | ((lastWords: string, n: number) => ScriptedReply);
  readonly ears?: ScriptedEars;
  readonly firstAudioMs?: number;
  readonly charMs?: number;
  readonly untilMs?: number;
}

export interface SpokenCall {
  readonly report: ConversationReport;
  readonly events: readonly ConversationEvent[];
  /** `agent 0-1500: Hello.` one line a turn. */
  readonly transcript: readonly string[];
  readonly model: ScriptedModel;
  readonly transcriber: ScriptedTranscriber;
  readonly digitsSent: readonly string[];
  /** When the agent hung up, ms since the answer. */
  readonly finishedAtMs: number | undefined;
  readonly lost: boolean;
}

const wordMs = 250;

class QuietLine extends Playout {
  readonly digits: string[] = [];
  onPlayed = (_segmentId: number): void => undefined;
  onFrame = (_pcm: Int16Array, _active: boolean, _info: { elapsedMs: number }): void => undefined;

  sendText(): boolean {
    return false;
  }

  sendDtmf(digits: string): boolean {
    this.digits.push(digits);
    return true;
  }
}

/** Holds a call in virtual time, with ears, a model and a voice that follow the scenario, and everything between them real. */
export async function holdCall(scenario: SpokenScenario): Promise<SpokenCall> {
  const clock = new VirtualClock();
  const line = new QuietLine();
  const events: LineEvent[] = [];
  const spoken = scenario.callee.flatMap((act): readonly SpokenWords[] =>
    act.type === "says" ? [{ atMs: act.atMs, text: act.text, wordMs: act.wordMs ?? wordMs }] : [],
  );
  const sounds = scenario.callee.flatMap((act) => {
    if (act.type === "sounds") return [{ from: act.atMs, to: act.atMs + act.forMs }];
    if (act.type !== "says") return [];
    return [{ from: act.atMs, to: act.atMs + act.text.split(" ").length * (act.wordMs ?? wordMs) }];
  });
  const model = scriptedModel(clock, scenario.replies);
  const transcriber = scriptedTranscriber(clock, spoken, scenario.ears);
  const settings = { prompt: "Be kind.", script: undefined, ...scenario.settings };
  const plan = {
    ...scriptPlan({ start: "x", states: {} }, settings),
    interrupt: scenario.interrupt ?? false,
    params: { name: "Ana" },
  };
  const { charMs = 50, firstAudioMs = 40, untilMs = 30_000 } = scenario;
  const conversation = new Conversation({
    plan,
    line: line as unknown as AudioLine,
    dialog: languageDialog({ model, plan, now: () => clock.now() }),
    transcriber,
    renderer: new Renderer({
      engine: "scripted",
      rateHz: 8000,
      parallel: 4,
      store: { find: () => undefined, keep: () => undefined },
      synthesizer: scriptedSynthesizer(clock, { charMs, firstAudioMs }),
    }),
    clock,
    log: silentLog,
    tell: (event) => events.push(event),
  });
  conversation.codec = "PCMU";
  const frame = new Int16Array(160);
  const settle = async (): Promise<void> => {
    for (let turn = 0; turn < 4; turn++) await new Promise(setImmediate);
  };
  conversation.prepare();
  for (let i = 0; i < 50; i++) {
    clock.advance(20);
    await settle();
  }
  conversation.answered(false);
  let finishedAtMs: number | undefined;
  let endedBy: "callee" | "operator" = "operator";
  for (let at = 20; at <= untilMs && finishedAtMs === undefined; at += 20) {
    clock.advance(20);
    // The detector is 60 ms late to begin and 200 ms late to end.
    const active = sounds.some(({ from, to }) => at >= from + 60 && at < to + 200);
    line.onFrame(frame, active, { elapsedMs: at });
    line.pull(frame, (id) => line.onPlayed(id));
    conversation.ticked();
    for (const act of scenario.callee) {
      if (act.type === "presses" && act.atMs === at)
        for (const digit of act.digits) conversation.pressed(digit);
      if (act.type === "hangs-up" && act.atMs === at) endedBy = "callee";
    }
    await settle();
    if (endedBy === "callee") break;
    if (events.some(({ type }) => type === "conversation-finished")) finishedAtMs = at;
  }
  const report = conversation.end(endedBy);
  await conversation[Symbol.asyncDispose]();
  return {
    report,
    model,
    transcriber,
    finishedAtMs,
    digitsSent: line.digits,
    lost: events.some(({ type }) => type === "line-lost"),
    events: events.flatMap((event) => (event.type === "conversation" ? [event.event] : [])),
    transcript: report.turns.map(
      (turn) =>
        `${turn.speaker} ${turn.startMs}-${turn.endMs}${turn.cutOff === true ? " cut" : ""}${turn.overlap === true ? " overlap" : ""}: ${turn.text}`,
    ),
  };
}
