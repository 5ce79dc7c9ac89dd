import type { TrunkRow } from "./ports.ts";

/** The trunks that reach real numbers, in the order they are tried: the default, then the others by priority. */
export function inOrder(trunks: readonly TrunkRow[]): readonly TrunkRow[] {
  return trunks
    .filter(({ kind }) => kind !== "sandbox")
    .sort(
      (a, b) =>
        Number(b.isDefault) - Number(a.isDefault) ||
        a.sip.priority - b.sip.priority ||
        (a.name < b.name ? -1 : 1),
    );
}
