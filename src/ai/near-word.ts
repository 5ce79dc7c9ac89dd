/** The known word that was probably meant: at most two letters wrong, missing, too many or swapped. */
export function nearWord(word: string, known: readonly string[]): string | undefined {
  const limit = word.length < 4 ? 1 : 2;
  const ranked = known.map((candidate) => ({ candidate, by: distance(word, candidate) }));
  const best = ranked.sort((a, b) => a.by - b.by)[0];
  return best !== undefined && best.by <= limit ? best.candidate : undefined;
}

/** Edit distance with swaps of neighbours (optimal string alignment). */
function distance(a: string, b: string): number {
  const rows: number[][] = [Array.from({ length: b.length + 1 }, (_, column) => column)];
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    for (let j = 1; j <= b.length; j++) {
      const same = a[i - 1] === b[j - 1];
      const edits = [
        cell(rows, i - 1, j) + 1,
        (row[j - 1] ?? 0) + 1,
        cell(rows, i - 1, j - 1) + (same ? 0 : 1),
      ];
      if (a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1] && i > 1 && j > 1)
        edits.push(cell(rows, i - 2, j - 2) + 1);
      row.push(Math.min(...edits));
    }
    rows.push(row);
  }
  return cell(rows, a.length, b.length);
}

function cell(rows: readonly (readonly number[])[], row: number, column: number): number {
  return rows[row]?.[column] ?? 0;
}
