import type { Machine, Step, Tick } from "#base";

/**
 * When a re-INVITE of ours may go out (RFC 3261 14.1): one at a time, not while an INVITE of the peer is under way,
 * and after a collision (491) only when its time has come.
 */
export interface NegotiationState {
  readonly phase:
    | { readonly type: "idle" }
    /** Something to ask; waits for the peer's INVITE to be over, and until `askAt`. */
    | { readonly type: "pending"; readonly askAt: number; readonly collisions: number }
    /** Our INVITE is out. `again`: something more was wanted since. */
    | { readonly type: "asking"; readonly again: boolean; readonly collisions: number }
    | { readonly type: "over" };
  /** INVITEs of the peer not over yet. */
  readonly peerBusy: boolean;
}

export type NegotiationInput =
  /** There is something to ask for. */
  | { readonly type: "wanted" }
  | { readonly type: "agreed" }
  /** Refused for good. */
  | { readonly type: "refused" }
  /** Refused for now: to be asked again after a pause. */
  | { readonly type: "collided"; readonly pauseMs: number }
  | { readonly type: "peer-busy" }
  | { readonly type: "peer-free" }
  | { readonly type: "ended" };

export type NegotiationEffect =
  | { readonly type: "ask" }
  /** What was asked is settled, one way or the other. */
  | { readonly type: "settle"; readonly agreed: boolean };

type NegotiationStep = Step<NegotiationState, NegotiationEffect>;

/** How often a question is put again after collisions before it counts as refused. */
const mostCollisions = 6;

export const negotiation = {
  step,
  deadline: ({ phase, peerBusy }) => (phase.type === "pending" && !peerBusy ? phase.askAt : Infinity),
  isOver: ({ phase }) => phase.type === "over",
} satisfies Machine<NegotiationState, NegotiationInput, NegotiationEffect>;

/** `asking`: the INVITE that begins the call is ours and still out. */
export function startNegotiation(asking: boolean): NegotiationStep {
  const phase = asking
    ? ({ type: "asking", again: false, collisions: 0 } as const)
    : ({ type: "idle" } as const);
  return { state: { phase, peerBusy: false }, effects: [] };
}

function step(state: NegotiationState, input: NegotiationInput | Tick, now: number): NegotiationStep {
  const { phase } = state;
  if (phase.type === "over") return { state, effects: [] };
  switch (input.type) {
    case "wanted":
      return want(state, now);
    case "agreed":
    case "refused":
      return settle(state, input.type === "agreed", now);
    case "collided":
      return collide(state, input.pauseMs, now);
    case "peer-busy":
      return { state: { ...state, peerBusy: true }, effects: [] };
    case "peer-free":
      return askIfDue({ ...state, peerBusy: false }, now);
    case "ended":
      return { state: { ...state, phase: { type: "over" } }, effects: [] };
    case "tick":
      return askIfDue(state, now);
  }
}

function want(state: NegotiationState, now: number): NegotiationStep {
  switch (state.phase.type) {
    case "idle":
      return askIfDue({ ...state, phase: { type: "pending", askAt: now, collisions: 0 } }, now);
    case "asking":
      return { state: { ...state, phase: { ...state.phase, again: true } }, effects: [] };
    case "pending": // It will ask for what is wanted then.
    case "over":
      return { state, effects: [] };
  }
}

function askIfDue(state: NegotiationState, now: number): NegotiationStep {
  const { phase } = state;
  if (phase.type !== "pending" || state.peerBusy || now < phase.askAt) return { state, effects: [] };
  const asking = { type: "asking", again: false, collisions: phase.collisions } as const;
  return { state: { ...state, phase: asking }, effects: [{ type: "ask" }] };
}

function settle(state: NegotiationState, agreed: boolean, now: number): NegotiationStep {
  if (state.phase.type !== "asking") return { state, effects: [] };
  const settled = { type: "settle", agreed } as const;
  if (!state.phase.again) return { state: { ...state, phase: { type: "idle" } }, effects: [settled] };
  const next = askIfDue({ ...state, phase: { type: "pending", askAt: now, collisions: 0 } }, now);
  return { state: next.state, effects: [settled, ...next.effects] };
}

function collide(state: NegotiationState, pauseMs: number, now: number): NegotiationStep {
  if (state.phase.type !== "asking") return { state, effects: [] };
  const collisions = state.phase.collisions + 1;
  if (collisions > mostCollisions) return settle(state, false, now);
  return { state: { ...state, phase: { type: "pending", askAt: now + pauseMs, collisions } }, effects: [] };
}
