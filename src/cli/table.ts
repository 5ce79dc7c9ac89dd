import { pad, textWidth, truncate } from "./clean-text.ts";
import type { Column } from "./views.ts";

export interface Layout {
  readonly header: boolean;
  readonly color: boolean;
  /** Cells of the terminal; undefined: as wide as it takes. */
  readonly width: number | undefined;
}

const gap = "  ";
const narrowest = 12;

/**
 * Lines of a table without borders. When the terminal is too narrow, the last column whose text may be cut is
 * cut; ids, numbers and phones never are.
 */
export function layOut(
  columns: readonly Column[],
  rows: readonly (readonly string[])[],
  layout: Layout,
): string {
  const natural = columns.map((column, at) =>
    Math.max(layout.header ? textWidth(column.header) : 0, ...rows.map((row) => textWidth(row[at] ?? ""))),
  );
  const widths = fitted(columns, natural, layout.width);
  const line = (cells: readonly string[]): string =>
    cells
      .map((cell, at) => {
        const right = columns[at]?.kind === "number" || columns[at]?.kind === "duration";
        return pad(truncate(cell, widths[at] ?? 0), widths[at] ?? 0, right ? "right" : "left");
      })
      .join(gap)
      .trimEnd();
  const head = line(columns.map((column) => column.header));
  const header = layout.header ? [layout.color ? `\u001b[2m${head}\u001b[22m` : head] : [];
  return [...header, ...rows.map(line)].join("\n") + "\n";
}

function fitted(
  columns: readonly Column[],
  natural: readonly number[],
  width: number | undefined,
): readonly number[] {
  const total = natural.reduce((sum, one) => sum + one, 0) + gap.length * Math.max(0, columns.length - 1);
  if (width === undefined || total <= width) return natural;
  const at = columns.findLastIndex((column) => column.cut === true);
  if (at < 0) return natural;
  const room = (natural[at] ?? 0) - (total - width);
  return natural.map((one, index) => (index === at ? Math.max(Math.min(narrowest, one), room) : one));
}
