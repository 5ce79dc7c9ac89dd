import type { Clock } from "./clock.ts";
import type { Machine, Step, Tick } from "./machine.ts";

export interface Driver<Input> extends Disposable {
  feed(input: Input): void;
}

/** Runs a pure machine in the real world: one alarm, one mailbox, effects in order. */
export function drive<State, Input, Effect>(
  machine: Machine<State, Input, Effect>,
  first: Step<State, Effect>,
  clock: Clock,
  perform: (effect: Effect) => void,
): Driver<Input> {
  const mailbox: (Input | Tick)[] = [];
  let state = first.state;
  let busy = false;
  let closed = false;
  let alarm: Disposable | undefined;

  run(first.effects);
  return { feed, [Symbol.dispose]: close };

  function feed(input: Input | Tick): void {
    if (closed) return;
    mailbox.push(input);
    if (!busy) run([]); // Fed by an effect: the loop that performs it comes to this mail.
  }

  function run(effects: readonly Effect[]): void {
    busy = true;
    try {
      for (const effect of effects) perform(effect);
      for (let mail = mailbox.shift(); mail !== undefined; mail = mailbox.shift()) {
        const step = machine.step(state, mail, clock.now());
        state = step.state;
        for (const effect of step.effects) perform(effect);
      }
    } finally {
      busy = false;
      arm();
    }
  }

  function arm(): void {
    alarm?.[Symbol.dispose]();
    const at = closed || machine.isOver(state) ? Infinity : machine.deadline(state);
    alarm = at === Infinity ? undefined : clock.alarm(at, () => feed({ type: "tick" }));
  }

  function close(): void {
    closed = true;
    arm();
  }
}
