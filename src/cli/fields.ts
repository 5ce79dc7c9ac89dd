/** One record as the API gave it. */
export type Row = Readonly<Record<string, unknown>>;

/**
 * The value at a dotted path. A field that holds JSON text (the call's `data`) is read into when the path
 * goes on inside it. Undefined when there is none.
 */
export function fieldValue(row: Row, path: string): unknown {
  if (Object.hasOwn(row, path)) return row[path];
  let value: unknown = row;
  for (const key of path.split(".")) {
    const holder = typeof value === "string" ? parsedObject(value) : value;
    if (typeof holder !== "object" || holder === null || !Object.hasOwn(holder, key)) return undefined;
    value = (holder as Record<string, unknown>)[key];
  }
  return value;
}

/** A value as one piece of text: objects as compact JSON, nothing as "". */
export function plainValue(value: unknown): string {
  if (value === undefined || value === null) return "";
  if (typeof value === "object") return JSON.stringify(value);
  return String(value as string | number | boolean | bigint);
}

function parsedObject(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}
