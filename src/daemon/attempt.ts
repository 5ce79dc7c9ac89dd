import type { Machine, Step } from "#base";
import type { LegEnd, LegEvent, LineEvent, LineMedia, LineReport, SavedDialog } from "./ports.ts";

/*
 * One attempt of a call, from the INVITE to the report.
 *
 *   dialing ──180──▶ ringing ──200──▶ talking ──finished, hang-up──▶ hanging-up
 *      │                │                │                              │
 *      └────────────────┴── leg-ended ───┴──────────────────────────────┴──▶ closing ──report──▶ over
 */
export type AttemptState =
  | { readonly type: "dialing" }
  | { readonly type: "ringing" }
  | { readonly type: "talking"; readonly answeredAt: number }
  | {
      readonly type: "hanging-up";
      readonly answeredAt: number | undefined;
      readonly why: HangUpCause;
      readonly hungUpAt: number;
    }
  | { readonly type: "closing"; readonly facts: AttemptFacts }
  | { readonly type: "over" };

/** Why we end an attempt ourselves. */
export type HangUpCause = "finished" | "operator" | "shutdown" | "no-media" | "media-lost" | "line-lost";

/** Everything the outcome is decided from, except the conversation's report. */
export interface AttemptFacts {
  readonly end: LegEnd;
  readonly answeredAt: number | undefined;
  readonly endedAt: number;
  readonly why: HangUpCause | undefined;
}

export type AttemptInput =
  | { readonly type: "leg"; readonly event: LegEvent }
  | { readonly type: "line"; readonly event: LineEvent }
  | { readonly type: "hang-up"; readonly why: "operator" | "shutdown" }
  | { readonly type: "report"; readonly report: LineReport };

export type AttemptEffect =
  | { readonly type: "save-dialog"; readonly dialog: SavedDialog }
  | { readonly type: "save-ringing" }
  | { readonly type: "save-answered"; readonly dialog: SavedDialog }
  | { readonly type: "connect-line"; readonly media: LineMedia }
  | { readonly type: "change-media"; readonly media: LineMedia }
  | { readonly type: "pass-digit"; readonly digit: string }
  | { readonly type: "hang-up-leg" }
  | { readonly type: "close-line"; readonly endedBy: "callee" | "operator" }
  | { readonly type: "conclude"; readonly facts: AttemptFacts; readonly report: LineReport };

/** A BYE or CANCEL gets this long (64·T1 and a little, RFC 3261 17) before the leg counts as gone. */
const farewellMs = 35_000;

export const attempt = {
  step,
  deadline: (state) => (state.type === "hanging-up" ? state.hungUpAt + farewellMs : Infinity),
  isOver: (state) => state.type === "over",
} satisfies Machine<AttemptState, AttemptInput, AttemptEffect>;

/** The INVITE is about to leave. */
export function startAttempt(): Step<AttemptState, AttemptEffect> {
  return { state: { type: "dialing" }, effects: [] };
}

type Next = Step<AttemptState, AttemptEffect>;

function step(state: AttemptState, input: AttemptInput | { type: "tick" }, now: number): Next {
  switch (input.type) {
    case "leg":
      return onLeg(state, input.event, now);
    case "line":
      return onLine(state, input.event, now);
    case "hang-up":
      return hangUp(state, input.why, now);
    case "report":
      return state.type === "closing"
        ? to({ type: "over" }, { type: "conclude", facts: state.facts, report: input.report })
        : stay(state);
    case "tick":
      return state.type === "hanging-up" && now >= state.hungUpAt + farewellMs
        ? close(state, { by: "nobody", answered: state.answeredAt !== undefined, ringing: false }, now)
        : stay(state);
  }
}

function onLeg(state: AttemptState, event: LegEvent, now: number): Next {
  switch (event.type) {
    case "leg-invited-again":
    case "leg-dialog-changed":
      return to(state, { type: "save-dialog", dialog: event.dialog });
    case "leg-ringing":
      return state.type === "dialing" ? to({ type: "ringing" }, { type: "save-ringing" }) : stay(state);
    case "leg-early-media":
      return stay(state); // Early media is no answer: the conversation waits for the 200.
    case "leg-answered":
      return onAnswered(state, event, now);
    case "leg-media-changed":
      return to(state, { type: "change-media", media: event.media });
    case "leg-offer-settled":
    case "leg-transfer":
    case "leg-dtmf-refused":
      return stay(state); // Answers to what the attempt never asks.
    case "leg-dtmf":
      return to(state, { type: "pass-digit", digit: event.digit });
    case "leg-ended":
      return close(state, event.end, now);
  }
}

function onAnswered(state: AttemptState, event: LegEvent & { type: "leg-answered" }, now: number): Next {
  switch (state.type) {
    case "dialing":
    case "ringing":
      return to(
        { type: "talking", answeredAt: now },
        { type: "connect-line", media: event.media },
        { type: "save-answered", dialog: event.dialog },
      );
    case "hanging-up": // The answer crossed our CANCEL: the leg itself sends ACK and BYE.
      return to({ ...state, answeredAt: now }, { type: "save-answered", dialog: event.dialog });
    case "talking":
    case "closing":
    case "over":
      return stay(state);
  }
}

function onLine(state: AttemptState, event: LineEvent, now: number): Next {
  switch (event.type) {
    case "conversation":
      return stay(state); // Only told to readers.
    case "conversation-finished":
      return hangUp(state, "finished", now);
    case "media-timeout":
      return hangUp(state, event.first ? "no-media" : "media-lost", now);
    case "line-lost":
      return hangUp(state, "line-lost", now);
  }
}

function hangUp(state: AttemptState, why: HangUpCause, now: number): Next {
  switch (state.type) {
    case "dialing":
    case "ringing":
      return to({ type: "hanging-up", answeredAt: undefined, why, hungUpAt: now }, { type: "hang-up-leg" });
    case "talking":
      return to(
        { type: "hanging-up", answeredAt: state.answeredAt, why, hungUpAt: now },
        { type: "hang-up-leg" },
      );
    case "hanging-up":
    case "closing":
    case "over":
      return stay(state);
  }
}

function close(state: AttemptState, end: LegEnd, now: number): Next {
  switch (state.type) {
    case "dialing":
    case "ringing":
      return closing({ end, answeredAt: undefined, endedAt: now, why: undefined });
    case "talking":
      return closing({ end, answeredAt: state.answeredAt, endedAt: now, why: undefined });
    case "hanging-up":
      return closing({ end, answeredAt: state.answeredAt, endedAt: state.hungUpAt, why: state.why });
    case "closing":
    case "over":
      return stay(state);
  }
}

function closing(facts: AttemptFacts): Next {
  const endedBy = facts.why === "operator" || facts.why === "shutdown" ? "operator" : "callee";
  return to({ type: "closing", facts }, { type: "close-line", endedBy });
}

const stay = (state: AttemptState): Next => ({ state, effects: [] });
const to = (state: AttemptState, ...effects: AttemptEffect[]): Next => ({ state, effects });
