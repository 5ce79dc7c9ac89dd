import { callStates, type CallState } from "./call.ts";

/** Published vocabulary of `GET /calls`, as field and as filter. The misspelling is the contract's. */
export const listStatuses = [
  "open",
  "closed",
  "rong-phone-forno-answer",
  "wmat",
  "failed",
  "recall-scheduled",
  "voicemail",
] as const;
export type ListStatus = (typeof listStatuses)[number];

/** Published vocabulary of `GET /call/{callId}`; `wmat` and `failed` complete the contract's open list. */
export type CallStatus =
  | "open"
  | "ringing"
  | "closed"
  | "no-answer"
  | "busy"
  | "wrong-phone-format"
  | "voicemail"
  | "recall-scheduled"
  | "wmat"
  | "failed";

const published: Readonly<Record<CallState, { readonly list: ListStatus; readonly get: CallStatus }>> = {
  scheduled: { list: "open", get: "open" },
  queued: { list: "open", get: "open" },
  dialing: { list: "open", get: "open" },
  ringing: { list: "open", get: "ringing" },
  "in-progress": { list: "open", get: "open" },
  wrapping: { list: "open", get: "open" },
  closed: { list: "closed", get: "closed" },
  "no-answer": { list: "rong-phone-forno-answer", get: "no-answer" },
  busy: { list: "rong-phone-forno-answer", get: "busy" },
  "wrong-number": { list: "rong-phone-forno-answer", get: "wrong-phone-format" },
  voicemail: { list: "voicemail", get: "voicemail" },
  "recall-scheduled": { list: "recall-scheduled", get: "recall-scheduled" },
  manual: { list: "wmat", get: "wmat" },
  failed: { list: "failed", get: "failed" },
  cancelled: { list: "failed", get: "failed" },
};

/** The status a call shows in a list. */
export function listStatus(state: CallState): ListStatus {
  return published[state].list;
}

/** The status a call shows when it is read by itself. */
export function callStatus(state: CallState): CallStatus {
  return published[state].get;
}

/** The states a list filter stands for, or undefined when it is no filter value. */
export function statesOfListStatus(status: string): readonly CallState[] | undefined {
  if (!listStatuses.some((known) => known === status)) return undefined;
  return callStates.filter((state) => published[state].list === status);
}

const finalStates: ReadonlySet<CallState> = new Set([
  "closed",
  "no-answer",
  "busy",
  "wrong-number",
  "voicemail",
  "manual",
  "failed",
  "cancelled",
]);

/** Whether nothing more happens to the call by itself. */
export function isFinal(state: CallState): boolean {
  return finalStates.has(state);
}
