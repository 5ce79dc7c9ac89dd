import type { Turn } from "./call.ts";

export interface Speakers {
  readonly agent: string;
  readonly callee: string;
}

/** Labels of a transcript unless the playbook sets its own. */
export const defaultSpeakers: Speakers = { agent: "Assistant", callee: "Customer" };

/** HTML in the published form: `<b>[Speaker]</b> text`, turns separated by `<br><br>`; everything else is escaped. */
export function transcriptHtml(turns: readonly Turn[], speakers: Speakers = defaultSpeakers): string {
  return turns
    .map((turn) => `<b>[${escape(clean(speakers[turn.speaker]))}]</b> ${escape(spoken(turn))}`)
    .join("<br><br>");
}

/** One line a turn, `Speaker: text`; safe to print on a terminal. */
export function transcriptText(turns: readonly Turn[], speakers: Speakers = defaultSpeakers): string {
  return turns.map((turn) => `${clean(speakers[turn.speaker])}: ${spoken(turn)}`).join("\n");
}

function spoken(turn: Turn): string {
  const text = clean(turn.text);
  return text === "" && turn.via === "none" ? "(not transcribed)" : text;
}

/** One line without C0 and C1 controls: neither a terminal nor the turn structure can be tricked. */
function clean(text: string): string {
  // oxlint-disable-next-line no-control-regex -- control characters are what this removes
  return text.replace(/[\u0000-\u001f\u007f-\u009f\u2028\u2029]+/g, " ").trim();
}

const entities: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};

function escape(text: string): string {
  return text.replace(/[&<>"']/g, (sign) => entities[sign] ?? sign);
}
