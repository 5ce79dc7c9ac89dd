import { drive, type Clock, type Driver, type Machine, type Step } from "#base";

/** Drives a machine and says once when it is over, just before the effects of its last step. */
export function runMachine<State, Input, Effect>(
  machine: Machine<State, Input, Effect>,
  first: Step<State, Effect>,
  clock: Clock,
  on: { readonly effect: (effect: Effect) => void; readonly over?: () => void },
): Driver<Input> {
  const watched: Machine<State, Input, Effect> = {
    ...machine,
    step(state, input, now) {
      const step = machine.step(state, input, now);
      if (machine.isOver(step.state) && !machine.isOver(state)) on.over?.();
      return step;
    },
  };
  return drive(watched, first, clock, on.effect);
}
