import { usageError } from "./command-error.ts";
import type { Row } from "./fields.ts";
import { objectOf } from "./json.ts";

/**
 * Words people use for the published statuses of the list (the published spelling of the third is as it is
 * in the API). Each maps to the filter value, and where that is wider, to the exact state as well.
 */
const aliases: Readonly<Record<string, { readonly status: string; readonly state?: string }>> = {
  open: { status: "open" },
  "in-progress": { status: "open", state: "in-progress" },
  queued: { status: "open", state: "queued" },
  scheduled: { status: "open", state: "scheduled" },
  ringing: { status: "open", state: "ringing" },
  closed: { status: "closed" },
  done: { status: "closed" },
  "no-answer": { status: "rong-phone-forno-answer", state: "no-answer" },
  "wrong-number": { status: "rong-phone-forno-answer", state: "wrong-number" },
  busy: { status: "rong-phone-forno-answer", state: "busy" },
  "rong-phone-forno-answer": { status: "rong-phone-forno-answer" },
  voicemail: { status: "voicemail" },
  manual: { status: "wmat" },
  wmat: { status: "wmat" },
  recall: { status: "recall-scheduled" },
  "recall-scheduled": { status: "recall-scheduled" },
  failed: { status: "failed" },
  cancelled: { status: "failed", state: "cancelled" },
};

/** Every word `--status` takes. */
export const statusWords: readonly string[] = Object.keys(aliases);

/** The list filter's value for a word, and the exact state when the word means less than the filter value. */
export function statusFilter(word: string): { readonly status: string; readonly state?: string } {
  const found = Object.hasOwn(aliases, word) ? aliases[word] : undefined;
  if (found === undefined)
    throw usageError(`there is no status "${word}"`, `use one of ${statusWords.join(", ")}`);
  return found;
}

/** Whether a call in this exact state is what a word of `--status` means. */
export function isStatus(state: string, word: string): boolean {
  const wanted = statusFilter(word);
  if (wanted.state !== undefined) return state === wanted.state;
  const own = Object.hasOwn(aliases, state) ? aliases[state] : undefined;
  return (own?.status ?? "open") === wanted.status; // Dialing and wrapping up have no word of their own.
}

/** The exact state of a call record, in plain words, from its `outcome` when there is one. */
export function statusLabel(row: Row): string {
  const state = objectOf(row["outcome"])["state"];
  if (typeof state === "string") return state;
  const status = typeof row["status"] === "string" ? row["status"] : "";
  if (status === "rong-phone-forno-answer") return "no-answer";
  if (status === "wrong-phone-format") return "wrong-number";
  return status === "wmat" ? "manual" : status;
}

/** A call record with `status_label` beside the published `status`. */
export function labelled(row: Row): Row {
  return { ...row, status_label: statusLabel(row) };
}

/** Whether a call in this published status needs no more waiting. */
export function isSettled(status: string): boolean {
  return status !== "open" && status !== "ringing";
}

/** The exact cause in a call record's outcome, when there is one. */
export function causeOf(row: Row): string | undefined {
  const cause = objectOf(row["outcome"])["cause"];
  return typeof cause === "string" ? cause : undefined;
}
