/** A pure state machine. Time comes in as `now`; what to do in the world comes out as effects. */
export interface Machine<State, Input, Effect> {
  /** Answers one input. Never waits, never throws on anything a peer can send. */
  step(state: State, input: Input | Tick, now: number): Step<State, Effect>;
  /** The next moment (same scale as `now`, ms) at which the machine wants a `tick`, or Infinity. */
  deadline(state: State): number;
  isOver(state: State): boolean;
}

export interface Tick {
  readonly type: "tick";
}

export interface Step<State, Effect> {
  readonly state: State;
  readonly effects: readonly Effect[];
}
