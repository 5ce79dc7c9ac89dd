import { CommandError, usageError } from "./command-error.ts";

/** An id begins with its time; 13 characters are that time in full, to the millisecond (RFC 9562 5.7). */
const leastShown = 13;

/** Beginnings that tell the different ids of a list apart, all of one length. They are accepted wherever an id is. */
export function shortIds(ids: readonly string[]): readonly string[] {
  const different = [...new Set(ids)];
  let length = leastShown;
  while (length < 36 && new Set(different.map((id) => id.slice(0, length))).size < different.length) length++;
  return ids.map((id) => id.slice(0, length).replace(/-$/, ""));
}

/** The one id of `ids` that `given` names: itself, or a unique beginning. Several: exit 2 with the candidates. */
export function idByPrefix(given: string, ids: readonly string[], noun: string): string {
  const wanted = given.toLowerCase();
  if (ids.includes(wanted)) return wanted;
  const found = ids.filter((id) => id.startsWith(wanted));
  if (found.length === 1 && found[0] !== undefined) return found[0];
  if (found.length === 0) throw new CommandError("not-found", `there is no ${noun} ${given}`, { ref: given });
  throw usageError(
    `"${given}" is the beginning of ${found.length} ${noun} ids`,
    `write more of it: ${found.slice(0, 6).join(", ")}`,
  );
}
