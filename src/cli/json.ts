/** One record as the API gave it. */
export type Row = Readonly<Record<string, unknown>>;

/** JSON text as a value of a promised shape: for answers of our own daemon, whose schemas made the type. */
// oxlint-disable-next-line typescript/no-unnecessary-type-parameters -- the caller names what was promised
export function readJson<Value>(text: string): Value {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- a promise of another process cannot be proved
  return JSON.parse(text) as Value;
}

/** A JSON object's members; none of them when the value or the text is something else. */
export function objectOf(value: unknown): Row {
  return isObject(value) ? value : {};
}

/** Whether a value is a JSON object: not null, not an array. */
export function isObject(value: unknown): value is Row {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** The members of a JSON object in text; undefined when it is none. */
export function objectInText(text: string): Row | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}
