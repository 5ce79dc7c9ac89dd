/** One turn of a published transcript. */
export interface TranscriptTurn {
  readonly speaker: string;
  readonly text: string;
}

const entities: Readonly<Record<string, string>> = {
  amp: "&",
  lt: "<",
  gt: ">",
  quot: '"',
  apos: "'",
  nbsp: " ",
};

/** The turns of the API's HTML: `<b>[Speaker]</b> text`, separated by `<br><br>`; entities are resolved. */
export function transcriptTurns(html: string): readonly TranscriptTurn[] {
  return html
    .split(/(?:<br\s*\/?>\s*){2}/i)
    .filter((part) => part.trim() !== "")
    .map((part) => {
      const [, speaker = "", rest = part] = /^\s*<b>\[(.*?)\]<\/b>:?\s*([\s\S]*)$/i.exec(part) ?? [];
      return { speaker: plain(speaker), text: plain(rest) };
    });
}

/** The same as lines `Speaker: text`. */
export function transcriptText(html: string): string {
  return transcriptTurns(html)
    .map(({ speaker, text }) => (speaker === "" ? text : `${speaker}: ${text}`))
    .join("\n");
}

function plain(html: string): string {
  return html
    .replace(/<br\s*\/?>/gi, " ")
    .replace(/<\/?[a-z][^>]*>/gi, "")
    .replace(
      /&(?:#(\d+)|#x([0-9a-f]+)|([a-z]+));/gi,
      (whole, decimal?: string, hex?: string, name?: string) => {
        const code = decimal === undefined ? Number.parseInt(hex ?? "", 16) : Number(decimal);
        if (name !== undefined) return entities[name.toLowerCase()] ?? whole;
        return code > 0 && code <= 0x10ffff ? String.fromCodePoint(code) : whole;
      },
    )
    .trim();
}
