import { OutdialError } from "#base";

/** Upper end of the ids that start with `prefix`: above every character that an id can have. */
export function prefixEnd(prefix: string): string {
  return `${prefix}~`;
}

/** The one row that a shortened id means. Throws `ambiguous-id` when it means several. */
export function onlyMatch<Row>(rows: readonly Row[], what: string, prefix: string): Row | undefined {
  if (rows.length > 1) {
    throw new OutdialError("ambiguous-id", `Several ${what} have an id that starts with ${prefix}.`, {
      hint: "Give more characters of the id.",
    });
  }
  return rows[0];
}
