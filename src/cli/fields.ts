import { isObject, objectInText, type Row } from "./json.ts";

export type { Row } from "./json.ts";

/**
 * The value at a dotted path. A field that holds JSON text (the call's `data`) is read into when the path
 * goes on inside it. Undefined when there is none.
 */
export function fieldValue(row: Row, path: string): unknown {
  if (Object.hasOwn(row, path)) return row[path];
  let value: unknown = row;
  for (const key of path.split(".")) {
    const holder = typeof value === "string" ? objectInText(value) : value;
    if (!isObject(holder) || !Object.hasOwn(holder, key)) return undefined;
    value = holder[key];
  }
  return value;
}

/** A value as one piece of text: objects as compact JSON, nothing as "". */
export function plainValue(value: unknown): string {
  if (value === undefined || value === null) return "";
  if (typeof value === "object") return JSON.stringify(value);
  return typeof value === "string" ? value : JSON.stringify(value);
}
