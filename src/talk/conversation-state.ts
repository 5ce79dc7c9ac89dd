import type { Step } from "#base";
import { substitute, type Turn } from "#domain";
import type { DialogAct, DialogCue, DialogNotes } from "./ports.ts";
import type { ConversationEvent, ConversationPlan, ConversationReport, DialogResult } from "./plan.ts";
import type { ConversationEffect } from "./protocol.ts";
import { phrasesOf } from "./phrase-book.ts";
import type { Phrases } from "./phrases.ts";
import type { Ears, Hearing } from "./ears.ts";
import { enqueue, type Floor, type FloorStep, type NewUtterance } from "./floor.ts";
import type { Screening } from "./screening.ts";
import { turnTiming, type ReplyClock, type TimedTurn } from "./timing.ts";

/** Everything about one call's conversation. Times inside are whole milliseconds since the answer. */
export interface ConversationState {
  readonly plan: ConversationPlan;
  readonly hearing: Hearing;
  /** There was a transcriber, and there is none any more. */
  readonly deaf: boolean;
  /** Answers of the dialog may be asked ahead and taken back. */
  readonly revocable: boolean;
  readonly phase: Phase;
  /** On the scale of `now`. */
  readonly answeredAt: number | undefined;
  readonly rtt: boolean;
  readonly detectsTones: boolean;
  readonly floor: Floor;
  readonly ears: Ears;
  readonly screening: Screening;
  readonly dialog: Dialog;
  readonly turns: readonly Turn[];
  /** Of the reply that is under way. */
  readonly replyClock: ReplyClock | undefined;
  readonly timings: readonly TimedTurn[];
  readonly firstWordMs: number | undefined;
  readonly voicemailMessageLeft: boolean;
  /** The dialog came to its end and the callee heard it, so that its result stands. */
  readonly told: boolean;
  readonly optedOut: boolean;
  /** Why the agent gave up, when it did. */
  readonly trouble: string | undefined;
}

export type EndedBy = ConversationReport["endedBy"];

type Phase =
  | { readonly type: "ringing" }
  | { readonly type: "talking" }
  /** Perhaps a voicemail: the dialog is held until a beep, a silence or `untilMs`. */
  | { readonly type: "voicemail-waiting"; readonly untilMs: number }
  | { readonly type: "voicemail-speaking" }
  /** The last words are spoken; `untilMs` is patience's end. */
  | { readonly type: "closing"; readonly untilMs: number; readonly endedBy: EndedBy }
  | { readonly type: "over"; readonly atMs: number; readonly endedBy: EndedBy };

export interface Dialog {
  /** Of the latest question to the dialog model; answers to an older one are dropped. */
  readonly generation: number;
  readonly status:
    /** `begun`: some of its answer came; `spoke`: some words of it. `tries`: how often it was asked this before. */
    | {
        readonly type: "thinking";
        readonly sinceMs: number;
        readonly begun: boolean;
        readonly spoke: boolean;
        readonly cue: DialogCue;
        readonly tries: number;
      }
    /** It failed; it will be asked the same again. */
    | {
        readonly type: "recovering";
        readonly untilMs: number;
        readonly cue: DialogCue;
        readonly tries: number;
      }
    | { readonly type: "asked" }
    | { readonly type: "ended"; readonly result: DialogResult };
  /** What was asked last. `utteranceId` undefined: the floor was given without a word. */
  readonly question:
    | { readonly utteranceId: string | undefined; readonly digits: readonly string[] }
    | undefined;
  /** An answer that came before the question was over. */
  readonly answer: DialogCue | undefined;
  /** Since the callee's last sign of life. */
  readonly silentRounds: number;
  /** The place of the last words spoken. */
  readonly step: string | undefined;
  /** An answer asked for before the callee's turn was surely over. */
  readonly draft: Draft | undefined;
  /** How many were asked for since the agent last spoke. */
  readonly drafts: number;
  readonly notes: DialogNotes;
}

export interface Draft {
  readonly generation: number;
  /** The callee's words it answers, which came after so many turns. */
  readonly text: string;
  readonly turns: number;
  readonly acts: readonly DialogAct[];
  readonly begunAtMs: number | undefined;
}

export type Move = Step<ConversationState, ConversationEffect>;

/** A change without effects. */
export function become(state: ConversationState, change: Partial<ConversationState>): Move {
  return { state: { ...state, ...change }, effects: [] };
}

export function stay(state: ConversationState, ...effects: readonly ConversationEffect[]): Move {
  return { state, effects };
}

/** One move after the other, effects in order. Nothing follows the end of the call. */
export function andThen(move: Move, ...nexts: readonly ((state: ConversationState) => Move)[]): Move {
  return nexts.reduce((before, next) => {
    if (before.state.phase.type === "over") return before;
    const after = next(before.state);
    return { state: after.state, effects: [...before.effects, ...after.effects] };
  }, move);
}

export function publish(state: ConversationState, event: ConversationEvent): Move {
  return stay(state, { type: "publish", event });
}

/** Adds a turn to the transcript. */
export function record(state: ConversationState, turn: Omit<Turn, "seq">, utteranceId?: string): Move {
  const numbered: Turn = { seq: state.turns.length + 1, ...turn };
  const clock = state.replyClock;
  const timing =
    utteranceId !== undefined && clock?.utteranceId === utteranceId ? turnTiming(clock) : undefined;
  const { seq } = numbered;
  const timed =
    timing === undefined ? {} : { replyClock: undefined, timings: [...state.timings, { seq, ...timing }] };
  return andThen(become(state, { turns: [...state.turns, numbered], ...timed }), (next) =>
    publish(next, { type: "turn-finished", turn: numbered, ...(timing !== undefined && { timing }) }),
  );
}

/** Takes over what happened on the floor; an utterance that ended becomes a turn. */
export function onFloor(state: ConversationState, step: FloorStep): Move {
  const { spoken } = step;
  const move: Move = { state: { ...state, floor: step.floor }, effects: step.effects };
  if (spoken === undefined || spoken.text === "") return move;
  const { text, startMs, endMs, cutOff } = spoken;
  const turn = { speaker: "agent", text, startMs, endMs: Math.max(startMs, endMs), via: "voice" } as const;
  return andThen(move, (next) => record(next, cutOff ? { ...turn, cutOff } : turn, spoken.utterance.id));
}

/** Has the agent say something after all that already waits. */
export function speak(state: ConversationState, order: Omit<NewUtterance, "language">): Move {
  return onFloor(state, enqueue(state.floor, { ...order, language: state.plan.language }));
}

/** A text of the playbook with its `{{params}}` filled in, or else the language's own phrase. */
export function playbookText(
  state: ConversationState,
  text: string | undefined,
  phrase: keyof Pick<Phrases, "goodbye" | "stillThere">,
): string {
  return text === undefined ? phrasesFor(state)[phrase] : substitute(text, state.plan.params);
}

export function phrasesFor(state: ConversationState): Phrases {
  return phrasesOf(state.plan.language);
}
