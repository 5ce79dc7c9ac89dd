import type { Script, ScriptEnd, ScriptState } from "./playbook.ts";
import type { Field, FieldReader } from "./playbook-front-matter.ts";
import { didYouMean } from "./did-you-mean.ts";
import { scriptFaults, type ScriptFault } from "./script.ts";

const stateFields = ["say", "ask", "digits", "text", "otherwise", "silence", "repeat", "goto", "end"];
const endFields = ["success", "output", "summary", "follow_up", "do_not_call"];

/** The `script` map: state by state, the first one starts. Problems are noted in the reader. */
export function readScript(field: Field, reader: FieldReader): Script | undefined {
  const places = reader.entries(field);
  const [start] = places.keys();
  if (start === undefined) {
    reader.refuse(
      field,
      "has no states; give it at least one, e.g. hello: { say: Hello., end: { success: true } }",
    );
    return undefined;
  }
  const states = [...places].map(([name, place]) => [name, readState(place, reader)] as const);
  const script: Script = { start, states: Object.fromEntries(states) };
  for (const fault of scriptFaults(script)) refuseFault(fault, places, reader);
  return script;
}

function readState(place: Field, reader: FieldReader): ScriptState {
  const fields = reader.entries(place, stateFields);
  const state: { -readonly [Name in keyof ScriptState]: ScriptState[Name] } = {};
  for (const name of ["say", "ask", "otherwise", "silence", "goto"] as const) {
    const text = reader.text(fields.get(name));
    if (text !== undefined) state[name] = text;
  }
  const digits = readDigits(fields.get("digits"), reader);
  if (digits !== undefined) state.digits = digits;
  const words = readWords(fields.get("text"), reader);
  if (words !== undefined) state.text = words;
  const repeat = readRepeat(fields.get("repeat"), reader);
  if (repeat !== undefined) state.repeat = repeat;
  const end = fields.get("end");
  if (end !== undefined) state.end = readEnd(end, reader);
  return state;
}

function readDigits(field: Field | undefined, reader: FieldReader): Record<string, string> | undefined {
  if (field === undefined) return undefined;
  const targets = readTargets(field, reader);
  for (const [keys, place] of reader.entries(field)) {
    if (!/^[0-9*#]{1,20}$/.test(keys)) {
      reader.refuse(
        place,
        `"${keys}" cannot be pressed; accepted: 0 to 9, "*", "#", one or more in a row`,
        "key",
      );
    }
  }
  return targets;
}

function readWords(field: Field | undefined, reader: FieldReader): Record<string, string> | undefined {
  if (field === undefined) return undefined;
  const targets = readTargets(field, reader);
  for (const [words, place] of reader.entries(field)) {
    if (words.split("|").some((word) => word.trim() === "")) {
      reader.refuse(
        place,
        `"${words}" holds an empty alternative; write words separated by |, e.g. yes|yeah`,
        "key",
      );
    }
  }
  return targets;
}

function readTargets(field: Field, reader: FieldReader): Record<string, string> {
  const targets = [...reader.entries(field)].map(([key, place]) => [key, reader.text(place)] as const);
  if (targets.length === 0)
    reader.refuse(field, "has no answers; name at least one and the state it leads to");
  return Object.fromEntries(targets.filter((pair): pair is [string, string] => pair[1] !== undefined));
}

function readRepeat(field: Field | undefined, reader: FieldReader): number | undefined {
  const repeat = reader.number(field, 0, 10);
  if (field !== undefined && repeat !== undefined && !Number.isInteger(repeat)) {
    reader.refuse(field, "must be a whole number from 0 to 10");
  }
  return repeat;
}

function readEnd(field: Field, reader: FieldReader): ScriptEnd {
  const fields = reader.entries(field, endFields);
  const output = fields.get("output");
  const summary = reader.text(fields.get("summary"));
  const followUp = reader.flag(fields.get("follow_up"));
  const doNotCall = reader.flag(fields.get("do_not_call"));
  if (!fields.has("success"))
    reader.refuse(field, "lacks success; say whether the call succeeded: true or false");
  return {
    success: reader.flag(fields.get("success")) ?? false,
    ...(output !== undefined && { output: readOutput(output, reader) }),
    ...(summary !== undefined && { summary }),
    ...(followUp !== undefined && { followUp }),
    ...(doNotCall !== undefined && { doNotCall }),
  };
}

function readOutput(field: Field, reader: FieldReader): Record<string, unknown> {
  reader.entries(field);
  const data = reader.data(field);
  return typeof data === "object" && data !== null && !Array.isArray(data) ? { ...data } : {};
}

function refuseFault(fault: ScriptFault, places: ReadonlyMap<string, Field>, reader: FieldReader): void {
  let place = places.get(fault.state);
  const state = place;
  for (const name of fault.path) place = place && reader.entries(place).get(name);
  const near = /^leads to "(.*)", which is no state$/.exec(fault.message)?.[1];
  const meant = near === undefined ? undefined : didYouMean(near, [...places.keys()]);
  const hint =
    near === undefined
      ? ""
      : meant === undefined
        ? `; states: ${[...places.keys()].join(", ")}`
        : `; did you mean ${meant}?`;
  const about = place ?? state;
  if (about !== undefined)
    reader.refuse(about, fault.message + hint, fault.path.length > 0 && place ? "value" : "key");
}
