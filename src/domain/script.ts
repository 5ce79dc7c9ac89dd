import type { Script, ScriptState } from "./playbook.ts";

/** Something wrong in how a script's states hang together. */
export interface ScriptFault {
  readonly state: string;
  /** Path inside the state, e.g. `["digits", "1"]`; empty for the state itself. */
  readonly path: readonly string[];
  readonly message: string;
}

/** Every way in which the states contradict themselves or do not fit together, in the order of the file. */
export function scriptFaults(script: Script): readonly ScriptFault[] {
  const names = Object.keys(script.states);
  const reached = reachable(script);
  return names.flatMap((name) => {
    const state = script.states[name] ?? {};
    const faults = [...stateFaults(name, state), ...jumpFaults(name, state, names)];
    if (!reached.has(name)) {
      faults.push({
        state: name,
        path: [],
        message: "is never reached; name it in another state or remove it",
      });
    }
    if (talksForEver(script, name)) {
      faults.push({
        state: name,
        path: ["goto"],
        message: "comes back here without ever asking; one state on the way must ask or end",
      });
    }
    return faults;
  });
}

/** Every state a state can lead to, with the path of the field that names it. */
function jumpsOf(state: ScriptState): readonly { readonly path: readonly string[]; readonly to: string }[] {
  const jumps = [
    ...Object.entries(state.digits ?? {}).map(([key, to]) => ({ path: ["digits", key], to })),
    ...Object.entries(state.text ?? {}).map(([key, to]) => ({ path: ["text", key], to })),
  ];
  for (const field of ["otherwise", "silence", "goto"] as const) {
    const to = state[field];
    if (to !== undefined) jumps.push({ path: [field], to });
  }
  return jumps;
}

function stateFaults(name: string, state: ScriptState): ScriptFault[] {
  const fault = (path: readonly string[], message: string): ScriptFault => ({ state: name, path, message });
  const answers = ["digits", "text", "otherwise", "silence", "repeat"] as const;
  const faults: ScriptFault[] = [];
  if (state.say !== undefined && state.ask !== undefined) {
    faults.push(
      fault(["ask"], "has both say and ask; keep the one that fits: ask waits for an answer, say does not"),
    );
  }
  if (state.say === undefined && state.ask === undefined && state.end === undefined) {
    faults.push(fault([], "says nothing; give it say (go on at once) or ask (wait for an answer)"));
  }
  if (state.goto !== undefined && state.end !== undefined) {
    faults.push(fault(["goto"], "has both goto and end; a state goes on or ends the call, not both"));
  }
  if (state.ask === undefined) {
    const idle = answers.find((field) => state[field] !== undefined);
    if (idle !== undefined)
      faults.push(fault([idle], "waits for an answer, but the state asks nothing; use ask in place of say"));
    if (idle === undefined && state.goto === undefined && state.end === undefined) {
      faults.push(fault([], "leads nowhere; give it goto (the next state) or end"));
    }
  } else if (state.end === undefined && !jumpsOf(state).some((jump) => jump.path[0] !== "silence")) {
    faults.push(fault(["ask"], "has no way on; give it digits, text, otherwise, goto or end"));
  }
  return faults;
}

function jumpFaults(name: string, state: ScriptState, names: readonly string[]): ScriptFault[] {
  return jumpsOf(state)
    .filter((jump) => !names.includes(jump.to))
    .map((jump) => ({ state: name, path: jump.path, message: `leads to "${jump.to}", which is no state` }));
}

function reachable(script: Script): ReadonlySet<string> {
  const reached = new Set<string>();
  const open = [script.start];
  for (let name = open.pop(); name !== undefined; name = open.pop()) {
    if (reached.has(name) || !Object.hasOwn(script.states, name)) continue;
    reached.add(name);
    open.push(...jumpsOf(script.states[name] ?? {}).map((jump) => jump.to));
  }
  return reached;
}

/** Whether the states from `name` on follow each other by `goto` in a circle through `name`, asking nothing. */
function talksForEver(script: Script, name: string): boolean {
  const seen = new Set<string>();
  let at: string | undefined = name;
  while (at !== undefined && !seen.has(at) && Object.hasOwn(script.states, at)) {
    seen.add(at);
    const state: ScriptState | undefined = script.states[at];
    at = state?.ask === undefined ? state?.goto : undefined;
  }
  return at === name;
}
