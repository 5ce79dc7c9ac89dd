import { usageError } from "./command-error.ts";

/** How a file writes its rows. */
export interface Dialect {
  readonly delimiter: string;
  /** `\n` (a `\r` before it is taken off) or, in old Macintosh files, `\r`. */
  readonly newline: "\n" | "\r";
  /** The first line is `sep=;`, which spreadsheets write and read for themselves. */
  readonly hasSepLine: boolean;
}

const candidates = [",", ";", "\t", "|"] as const;
const names: Readonly<Record<string, string>> = {
  tab: "\t",
  comma: ",",
  semicolon: ";",
  pipe: "|",
  "\\t": "\t",
};

/** Finds out the dialect from the first part of a file (64 KB and more tell the truth, a line often does not). */
export async function sniffDialect(sample: string, given: string | undefined): Promise<Dialect> {
  const text = sample.replace(/^\uFEFF/, "");
  const sep = /^"?sep=(.)"?\r?(?:\n|\r|$)/i.exec(text);
  const newline = newlineOf(text);
  const delimiter = delimiterGiven(given) ?? sep?.[1] ?? (await sniffDelimiter(text, newline));
  return { delimiter, newline, hasSepLine: sep !== null };
}

/** What ends the lines, looking only outside quotes. */
function newlineOf(text: string): "\n" | "\r" {
  let quoted = false;
  for (let at = 0; at < text.length; at++) {
    const char = text[at];
    if (char === '"') quoted = !quoted;
    else if (!quoted && char === "\n") return "\n";
    else if (!quoted && char === "\r" && text[at + 1] !== "\n" && at + 1 < text.length) return "\r";
  }
  return "\n";
}

function delimiterGiven(given: string | undefined): string | undefined {
  if (given === undefined || given === "auto") return undefined;
  const delimiter = names[given.toLowerCase()] ?? given;
  if (delimiter.length !== 1 || delimiter === '"' || delimiter === "\n" || delimiter === "\r") {
    throw usageError(`--delimiter takes one character, not "${given}"`, "write ; or , or tab");
  }
  return delimiter;
}

/** The separator that gives most rows the same number of columns, and more than one. */
async function sniffDelimiter(text: string, newline: "\n" | "\r"): Promise<string> {
  const { default: Papa } = await import("papaparse");
  let best: { readonly delimiter: string; readonly score: number } = { delimiter: ",", score: 0 };
  for (const delimiter of candidates) {
    const { data }: { readonly data: readonly string[][] } = new Papa.Parser({ delimiter, newline }).parse(
      text,
      0,
      true,
    );
    // A sample of one line, without its end, has no complete row.
    const rows = data.length > 0 ? data : [text.split(newline)[0]?.split(delimiter) ?? []];
    const full = rows.filter((row) => row.length > 1 || (row[0] ?? "") !== "");
    const columns = full[0]?.length ?? 1;
    const alike = full.filter((row) => row.length === columns).length / Math.max(1, full.length);
    const score = columns < 2 ? 0 : alike * alike * (1 + Math.log(columns));
    if (score > best.score) best = { delimiter, score };
  }
  return best.delimiter;
}
