import { substitute, type Script, type ScriptEnd, type ScriptState } from "#domain";
import type { ConversationPlan } from "./plan.ts";
import { phrasesOf } from "./phrase-book.ts";
import { holdsPhrase } from "./phrases.ts";
import type { DialogAct, DialogCue } from "./ports.ts";

/** Where a script stands between two turns. */
export interface ScriptPlace {
  /** Undefined before the first state. */
  readonly state: string | undefined;
  /** How often the question was asked again already. */
  readonly repeats: number;
  /** The last answer as `answer`, and each state's own as `answer.<state>`. */
  readonly answers: Readonly<Record<string, string>>;
}

export interface ScriptMove {
  readonly place: ScriptPlace;
  /** Ends with exactly one `ask`, `pass` or `end`. */
  readonly acts: readonly DialogAct[];
}

/** A script and the call it is told in. */
export interface Telling {
  readonly script: Script;
  readonly plan: ConversationPlan;
}

type Answer = Extract<DialogCue, { readonly type: "answer" }>;

export const scriptStart: ScriptPlace = { state: undefined, repeats: 0, answers: {} };

/** What the script does about one cue. Deterministic; the place changes only by what is returned. */
export function scriptStep(telling: Telling, place: ScriptPlace, cue: DialogCue): ScriptMove {
  const { script } = telling;
  const state = stateOf(script, place.state);
  if (state === undefined || cue.type === "start") return enter(telling, place, script.start);
  switch (cue.type) {
    case "answer":
      return takeAnswer(telling, remember(place, cue.text), state, cue);
    case "wordless-speech":
      return isOpen(state) ? goOn(telling, remember(place, ""), state) : takeSound(telling, place, state);
    case "silence":
      return askAgain(telling, place, state, cue.round) ?? takeSilence(telling, place, state);
  }
}

function takeAnswer(telling: Telling, place: ScriptPlace, state: ScriptState, answer: Answer): ScriptMove {
  const target = matchingState(state, answer);
  if (target !== undefined) return enter(telling, place, target);
  if (state.goto !== undefined || state.end !== undefined) return goOn(telling, place, state);
  return askAgain(telling, place, state) ?? goOn(telling, place, unmatched(state));
}

/** Someone speaks, nobody knows the words: repeated, then `otherwise`, else the floor stays with the callee. */
function takeSound(telling: Telling, place: ScriptPlace, state: ScriptState): ScriptMove {
  const again = askAgain(telling, place, state);
  if (again !== undefined) return again;
  if (state.otherwise !== undefined) return enter(telling, place, state.otherwise);
  return { place, acts: [{ type: "ask", text: "", digits: Object.keys(state.digits ?? {}) }] };
}

/** Nobody answers: the state for it, or else the conversation's own way with silence. */
function takeSilence(telling: Telling, place: ScriptPlace, state: ScriptState): ScriptMove {
  return state.silence === undefined
    ? { place, acts: [{ type: "pass" }] }
    : enter(telling, place, state.silence);
}

/** A question that accepts whatever is said: there is only one way on. */
function isOpen(state: ScriptState): boolean {
  const onlyWay = state.goto !== undefined || state.end !== undefined;
  return onlyWay && state.digits === undefined && state.text === undefined;
}

/** The way of an answer that matches nothing. */
function unmatched(state: ScriptState): ScriptState {
  return state.otherwise === undefined ? {} : { goto: state.otherwise };
}

/** Keys are compared as they are, words as whole words without regard to case, accents and punctuation. */
function matchingState(state: ScriptState, answer: Answer): string | undefined {
  const digits = state.digits ?? {};
  // A digit that is typed means the same as one that is pressed.
  const keys = answer.text.trim();
  if (Object.hasOwn(digits, keys)) return digits[keys];
  if (answer.via === "dtmf") return undefined;
  return Object.entries(state.text ?? {}).find(([words]) => holdsPhrase(answer.text, words.split("|")))?.[1];
}

/** Speaks from a state on, through every `goto`, to the next question or the end. */
function enter(telling: Telling, from: ScriptPlace, target: string): ScriptMove {
  const seen = new Set<string>();
  const said: DialogAct[] = [];
  let name = target;
  for (;;) {
    const place: ScriptPlace = { ...from, state: name, repeats: 0 };
    const state = stateOf(telling.script, name);
    if (state === undefined || seen.has(name)) return { place, acts: [...said, lost] };
    seen.add(name);
    if (state.ask !== undefined) return { place, acts: [...said, askAct(telling, place, state)] };
    if (state.say !== undefined)
      said.push({ type: "say", text: fill(telling, place, state.say), step: name });
    if (state.goto === undefined) return { place, acts: [...said, endAct(telling, place, state.end)] };
    name = state.goto;
  }
}

/** Takes the state's only way on; without one the script is at a loss. */
function goOn(telling: Telling, place: ScriptPlace, state: ScriptState): ScriptMove {
  return state.goto === undefined
    ? { place, acts: [endAct(telling, place, state.end)] }
    : enter(telling, place, state.goto);
}

/** The question once more, if it was not repeated often enough. After a silence (`round`) it asks for a sign of life. */
function askAgain(
  telling: Telling,
  place: ScriptPlace,
  state: ScriptState,
  round?: number,
): ScriptMove | undefined {
  if (place.repeats >= (state.repeat ?? 1)) return undefined;
  const { plan } = telling;
  const { prompt, maxPrompts } = plan.settings.silence;
  const call = prompt === undefined ? phrasesOf(plan.language).stillThere : substitute(prompt, plan.params);
  const lead = round !== undefined && round <= maxPrompts ? `${call} ` : "";
  return { place: { ...place, repeats: place.repeats + 1 }, acts: [askAct(telling, place, state, lead)] };
}

function askAct(telling: Telling, place: ScriptPlace, state: ScriptState, lead = ""): DialogAct {
  const text = lead + fill(telling, place, state.ask ?? "");
  const digits = Object.keys(state.digits ?? {});
  return { type: "ask", text, digits, ...(place.state !== undefined && { step: place.state }) };
}

function endAct(telling: Telling, place: ScriptPlace, end: ScriptEnd | undefined): DialogAct {
  if (end === undefined) return lost;
  return {
    type: "end",
    result: {
      success: end.success,
      output: fillFields(telling, place, end.output ?? {}),
      summary: fill(telling, place, end.summary ?? ""),
      followUp: end.followUp ?? false,
      doNotCall: end.doNotCall ?? false,
    },
  };
}

/** The script knows no way on: no success, and the summary is made of the facts of the call. */
const lost: DialogAct = {
  type: "end",
  result: { success: false, output: {}, summary: "", followUp: false, doNotCall: false },
};

function stateOf(script: Script, name: string | undefined): ScriptState | undefined {
  return name !== undefined && Object.hasOwn(script.states, name) ? script.states[name] : undefined;
}

function remember(place: ScriptPlace, answer: string): ScriptPlace {
  return { ...place, answers: { ...place.answers, answer, [`answer.${place.state}`]: answer } };
}

function fill(telling: Telling, place: ScriptPlace, text: string): string {
  return substitute(text, { ...telling.plan.params, ...place.answers });
}

function fillFields(telling: Telling, place: ScriptPlace, fields: object): Record<string, unknown> {
  const filled = Object.entries(fields).map(
    ([key, value]) => [key, fillValue(telling, place, value)] as const,
  );
  return Object.fromEntries(filled);
}

function fillValue(telling: Telling, place: ScriptPlace, value: unknown): unknown {
  if (typeof value === "string") return fill(telling, place, value);
  if (Array.isArray(value)) return value.map((item) => fillValue(telling, place, item));
  return typeof value === "object" && value !== null ? fillFields(telling, place, value) : value;
}
