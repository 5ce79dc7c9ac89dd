/** A stretch of a longer text; `offset` is where it starts in it (UTF-16 units). */
export interface Piece {
  readonly text: string;
  readonly offset: number;
}

/** Text made safe for an SSML parser, and the way back. */
export interface EscapedText {
  readonly text: string;
  /** For every code point of `text`, the index in the original (UTF-16 units) it stands for; one more for the end. */
  readonly origins: readonly number[];
}

/** Longest stretch given to an engine at once: eSpeak cannot be interrupted inside one, and takes 0.05 ms a character. */
const longestPiece = 240;

/** Better places first: the end of a sentence, of a clause, of a word. */
const breaks = [/[.!?…。！？]["'»”)\]]*\s/gu, /[,;:–—]\s/gu, /\s/gu];

/** Cuts a text into pieces of at most 240 UTF-16 units, after a sentence where possible; blank pieces are left out. */
export function cutText(text: string, limit: number = longestPiece): readonly Piece[] {
  const pieces: Piece[] = [];
  let offset = 0;
  while (offset < text.length) {
    const end = offset + pieceLength(text.slice(offset, offset + limit + 1), limit);
    const piece = text.slice(offset, end);
    if (piece.trim() !== "") pieces.push({ text: piece, offset });
    offset = end;
  }
  return pieces;
}

/** Escapes markup (`<`, `&`) and phoneme brackets (`[[`), and blanks control characters, which end a C string. */
export function escapeForSsml(text: string): EscapedText {
  let escaped = "";
  const origins: number[] = [];
  let index = 0;
  let previous = "";
  for (const point of text.toWellFormed()) {
    const written = previous === "[" && point === "[" ? " [" : entityOf(point);
    for (const _ of written) origins.push(index);
    escaped += written;
    index += point.length;
    previous = point;
  }
  origins.push(index);
  return { text: escaped, origins };
}

function entityOf(point: string): string {
  if (point === "&") return "&amp;";
  if (point === "<") return "&lt;";
  if (point === ">") return "&gt;";
  return /(?![\n\t])\p{Cc}/u.test(point) ? " " : point;
}

function pieceLength(window: string, limit: number): number {
  if (window.length <= limit) return window.length;
  for (const pattern of breaks) {
    const last = [...window.matchAll(pattern)].at(-1);
    // A break in the first third would leave a stump of a sentence alone with its pause.
    if (last !== undefined && last.index + last[0].length > limit / 3)
      return Math.min(limit, last.index + last[0].length);
  }
  return splitsPair(window, limit) ? limit - 1 : limit;
}

function splitsPair(text: string, at: number): boolean {
  const before = text.charCodeAt(at - 1);
  return before >= 0xd800 && before <= 0xdbff;
}
