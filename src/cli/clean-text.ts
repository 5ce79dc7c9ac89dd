/**
 * Makes text that came from outside (a callee, a file, a server) safe for a terminal: no escape
 * sequences, no control characters, no direction overrides; line breaks and tabs become blanks.
 */
export function cleanText(text: string): string {
  return text
    .replace(ansiSequence, "")
    .replace(/[\t\n\r\u2028\u2029]+/g, " ")
    .replace(control, "");
}

/** Like `cleanText`, but keeps line breaks. */
export function cleanLines(text: string): string {
  return text
    .split(/\r\n|[\n\r\u2028\u2029]/)
    .map(cleanText)
    .join("\n");
}

// CSI, OSC (to BEL or ST) and two-character escapes; ECMA-48.
// oxlint-disable-next-line no-control-regex -- control characters are what is looked for
const ansiSequence = /\u001b(?:\[[0-?]*[ -/]*[@-~]|\][^\u0007\u001b]*(?:\u0007|\u001b\\)?|[@-Z\\-_])/g;
// C0 and C1 controls, and the bidirectional overrides and isolates that reorder what is read.
// oxlint-disable-next-line no-control-regex -- control characters are what is looked for
const control = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;

/** How many terminal cells `text` takes: wide East Asian and emoji characters count two, marks none. */
export function textWidth(text: string): number {
  if (/^[\u0020-\u007e]*$/.test(text)) return text.length;
  let width = 0;
  for (const char of text) {
    if (/\p{Mark}|\u200d|\ufe0f/u.test(char)) continue;
    width += wide.test(char) ? 2 : 1;
  }
  return width;
}

const wide =
  /[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\u{1f300}-\u{1faff}\u{20000}-\u{3fffd}]/u;

/** Cuts `text` to at most `cells` terminal cells, the last one an ellipsis when something was cut. */
export function truncate(text: string, cells: number): string {
  if (textWidth(text) <= cells) return text;
  let width = 0;
  let kept = "";
  for (const char of text) {
    const next = width + textWidth(char);
    if (next > cells - 1) break;
    kept += char;
    width = next;
  }
  return kept + "…";
}

/** Pads with blanks to `cells` terminal cells. */
export function pad(text: string, cells: number, align: "left" | "right" = "left"): string {
  const gap = " ".repeat(Math.max(0, cells - textWidth(text)));
  return align === "left" ? text + gap : gap + text;
}
