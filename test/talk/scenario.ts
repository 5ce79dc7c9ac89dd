import { drive } from "#base";
import type { PlaybookSettings } from "#domain";
import {
  conversation,
  reportOf,
  startConversation,
  type ConversationEffect,
  type ConversationEvent,
  type ConversationInput,
  type ConversationPlan,
  type ConversationReport,
  type ConversationState,
} from "#talk";
import { scriptStart, scriptStep, type ScriptPlace } from "../../src/talk/script-steps.ts";
import { VirtualClock } from "../support/virtual-clock.ts";

/** Every character of the agent's speech lasts so long. */
const charMs = 50;

const plainSettings: PlaybookSettings = {
  name: "test",
  language: "es",
  voice: undefined,
  interrupt: undefined,
  opening: undefined,
  script: undefined,
  prompt: undefined,
  voicemail: { action: "hang-up", message: undefined },
  output: undefined,
  success: undefined,
  rtt: false,
  speakers: { agent: "Assistant", callee: "Customer" },
  silence: { promptAfterMs: 6000, maxPrompts: 2, prompt: undefined },
  goodbye: undefined,
  maxCallMs: 120_000,
};

/** A plan whose playbook has these settings and nothing else. */
export function planOf(
  settings: Partial<PlaybookSettings>,
  plan: Partial<Omit<ConversationPlan, "settings">> = {},
): ConversationPlan {
  return {
    settings: { ...plainSettings, ...settings },
    params: {},
    language: settings.language ?? "es",
    voiceId: "6",
    voiceModel: "fast",
    interrupt: false,
    ...plan,
  };
}

/** What the callee does at a moment (ms since the answer). */
export type Doing = readonly [
  atMs: number,
  inputs: readonly (readonly [afterMs: number, ConversationInput])[],
];

/** Speaks for so long; the detector notices the beginning after 60 ms and the end after 200 ms. */
export function speaks(atMs: number, forMs: number): Doing {
  return [
    atMs,
    [
      [60, { type: "callee-speech", active: true, atMs }],
      [forMs + 200, { type: "callee-speech", active: false, atMs: atMs + forMs }],
    ],
  ];
}

/** Speaks these words, which a transcriber delivers 300 ms after the end. */
export function says(atMs: number, forMs: number, text: string): Doing {
  const heard = { type: "heard", kind: "final", text, startMs: atMs, endMs: atMs + forMs } as const;
  return [atMs, [...speaks(atMs, forMs)[1], [forMs + 300, heard]]];
}

export function presses(atMs: number, digits: string): Doing {
  return [atMs, Array.from(digits).map((digit, i) => [i * 300, { type: "digit", digit }] as const)];
}

export function types(atMs: number, text: string): Doing {
  return [atMs, Array.from(text).map((char, i) => [i * 100, { type: "text", text: char }] as const)];
}

export function beeps(atMs: number): Doing {
  return [atMs, [[0, { type: "beep", atMs }]]];
}

export function does(atMs: number, input: ConversationInput): Doing {
  return [atMs, [[0, input]]];
}

export function hangsUp(atMs: number): Doing {
  return does(atMs, { type: "callee-hung-up" });
}

export interface Told {
  readonly report: ConversationReport;
  readonly state: ConversationState;
  /** Effects with their time since the answer; those while ringing have 0. */
  readonly effects: readonly (readonly [atMs: number, ConversationEffect])[];
  readonly events: readonly ConversationEvent[];
  /** `agent 0-1500: Hola.` one line a turn, in the order of the report. */
  readonly transcript: readonly string[];
  /** When the agent hung up, or undefined. */
  readonly finishedAtMs: number | undefined;
  /** Whether two speeches ever sounded at once. */
  readonly doubled: boolean;
}

export interface LineOptions {
  readonly rtt?: boolean;
  readonly finalWithinMs?: number;
  /** From asking for a speech to having it; Infinity: never. */
  readonly synthesisMs?: number;
  readonly failSpeech?: (text: string) => boolean;
  readonly untilMs?: number;
  /** Speeches whose end the line forgets to report. */
  readonly forgets?: string;
  /** False: the dialog model does not answer at all. */
  readonly dialogAnswers?: boolean;
}

/** Holds a whole conversation in virtual time: a line that plays speech at `charMs`, a script, and a callee. */
export function tell(plan: ConversationPlan, callee: readonly Doing[], options: LineOptions = {}): Told {
  const clock = new VirtualClock();
  const effects: [number, ConversationEffect][] = [];
  const texts = new Map<string, string>();
  let answeredAt: number | undefined;
  let place: ScriptPlace = scriptStart;
  let playing: { id: string; leftMs: number; since: number; alarm: Disposable | undefined } | undefined;
  let doubled = false;
  let state: ConversationState | undefined;
  const early: ConversationInput[] = [];
  const watched = {
    ...conversation,
    step: (before: ConversationState, input: ConversationInput | { type: "tick" }, now: number) => {
      const step = conversation.step(before, input, now);
      state = step.state;
      return step;
    },
  };
  let feed = (input: ConversationInput): void => void early.push(input);
  const finalWithin = options.finalWithinMs === undefined ? {} : { finalWithinMs: options.finalWithinMs };
  const first = startConversation(plan, finalWithin);
  state = first.state;
  using driver = drive(watched, first, clock, perform);
  feed = (input) => driver.feed(input);
  early.forEach(feed);
  clock.advance(1000);
  answeredAt = clock.now();
  for (const [atMs, inputs] of callee) {
    for (const [afterMs, input] of inputs) clock.alarm(answeredAt + atMs + afterMs, () => feed(input));
  }
  feed({ type: "answered", rtt: options.rtt ?? false });
  clock.advance(options.untilMs ?? 200_000);
  const report = reportOf(state);
  const finished = effects.find(([, effect]) => effect.type === "finish");
  return {
    report,
    state,
    effects,
    events: effects.flatMap(([, effect]) => (effect.type === "publish" ? [effect.event] : [])),
    transcript: report.turns.map(
      (turn) =>
        `${turn.speaker} ${turn.startMs}-${turn.endMs}${turn.cutOff === true ? " cut" : ""}${turn.overlap === true ? " overlap" : ""}: ${turn.text}`,
    ),
    finishedAtMs: finished?.[0],
    doubled,
  };

  function perform(effect: ConversationEffect): void {
    effects.push([answeredAt === undefined ? 0 : clock.now() - answeredAt, effect]);
    switch (effect.type) {
      case "synthesise":
        return synthesise(effect.speechId, effect.text);
      case "play":
        if (playing !== undefined) doubled = true;
        playing = {
          id: effect.speechId,
          leftMs: (texts.get(effect.speechId) ?? "").length * charMs,
          since: 0,
          alarm: undefined,
        };
        feed({ type: "speech-started", speechId: effect.speechId, atMs: clock.now() - (answeredAt ?? 0) });
        return run();
      case "resume":
        return run();
      case "pause":
        return halt();
      case "clear-playout":
        return clear();
      case "ask-dialog":
        return answerDialog(effect);
      case "abort-dialog":
      case "detect-tones":
      case "discard":
      case "finalise-hearing":
      case "finish":
      case "publish":
      case "send-digits":
      case "send-text":
        return undefined;
    }
  }

  function synthesise(speechId: string, text: string): void {
    texts.set(speechId, text);
    const wait = options.synthesisMs ?? 50;
    if (wait === Infinity) return;
    const failed = options.failSpeech?.(text) ?? false;
    clock.alarm(clock.now() + wait, () =>
      feed(
        failed
          ? { type: "speech-failed", speechId, reason: "no voice" }
          : { type: "speech-ready", speechId, durationMs: text.length * charMs },
      ),
    );
  }

  function run(): void {
    if (playing === undefined) return;
    const { id } = playing;
    playing.since = clock.now();
    playing.alarm = clock.alarm(clock.now() + playing.leftMs, () => {
      playing = undefined;
      if (id !== options.forgets) feed({ type: "speech-played", speechId: id });
    });
  }

  function halt(): void {
    if (playing?.alarm === undefined) return;
    playing.alarm[Symbol.dispose]();
    playing.alarm = undefined;
    playing.leftMs -= clock.now() - playing.since;
  }

  function clear(): void {
    if (playing === undefined) return;
    halt();
    const { id, leftMs } = playing;
    const totalMs = (texts.get(id) ?? "").length * charMs;
    playing = undefined;
    feed({ type: "speech-stopped", speechId: id, playedMs: totalMs - leftMs, totalMs });
  }

  function answerDialog(effect: ConversationEffect & { type: "ask-dialog" }): void {
    if (options.dialogAnswers === false) return;
    const { generation, turn } = effect;
    const { script } = plan.settings;
    if (script === undefined) {
      const result = { success: true, output: {}, summary: "", followUp: false, doNotCall: false };
      feed({ type: "dialog-acted", generation, act: { type: "end", result } });
      return;
    }
    const move = scriptStep({ script, plan }, place, turn.cue);
    place = move.place;
    for (const act of move.acts) feed({ type: "dialog-acted", generation, act });
  }
}
