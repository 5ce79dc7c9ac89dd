import type { FinalState, Outcome } from "./call.ts";

/** How the signalling of one attempt ended, as far as the business cares. */
export interface EndOfLeg {
  /** `us`: hung up, cancelled or gave up ringing; `them`: a BYE or a final failure; `nobody`: timeout, transport or protocol failure. */
  readonly by: "us" | "them" | "nobody";
  readonly answered: boolean;
  /** A 180 or 183 was seen. */
  readonly ringing: boolean;
  readonly ourAct?: "hang-up" | "ring-timeout" | "cancel";
  /** Final SIP status. */
  readonly status?: number;
  readonly reason?: string;
  /** Q.850 cause of the Reason header (RFC 3326). */
  readonly q850?: number;
  readonly q850Text?: string;
  readonly failure?: "timeout" | "transport" | "auth" | "media";
}

interface Cause {
  readonly state: FinalState;
  /** The contact may be called again by its recall delays. */
  readonly recall: boolean;
  /** The trunk is at fault, not the contact: failover, breaker, alert. */
  readonly trunk: boolean;
  readonly detail: string;
}

const again = { recall: true, trunk: false } as const;
const settled = { recall: false, trunk: false } as const;
const trunkAgain = { recall: true, trunk: true } as const;
const trunkHeld = { recall: false, trunk: true } as const;

/** Every cause an outcome can name. */
const causes = {
  // The conversation took place.
  completed: { state: "closed", ...settled, detail: "The conversation ended." },
  "hung-up": { state: "closed", ...settled, detail: "The called person hung up." },
  "operator-ended": { state: "closed", ...settled, detail: "The operator ended the call." },
  "opted-out": { state: "closed", ...settled, detail: "The called person asked not to be called again." },
  "follow-up": { state: "manual", ...settled, detail: "The playbook asks for a person to follow up." },
  // Somebody or something else answered.
  voicemail: { state: "voicemail", ...again, detail: "A voicemail or answering machine answered." },
  fax: { state: "wrong-number", ...settled, detail: "A fax machine answered." },
  // Nobody answered.
  busy: { state: "busy", ...again, detail: "The line was busy." },
  declined: { state: "busy", ...settled, detail: "The called person declined the call." },
  "no-answer": { state: "no-answer", ...again, detail: "It rang, but nobody answered." },
  "ring-timeout": { state: "no-answer", ...again, detail: "Nobody answered while it was let ring." },
  unreachable: { state: "no-answer", ...again, detail: "The phone is off or out of reach." },
  "cancelled-remotely": { state: "no-answer", ...again, detail: "The network took the call back." },
  // The number is wrong.
  unallocated: { state: "wrong-number", ...settled, detail: "Nobody has this number." },
  "number-changed": { state: "wrong-number", ...settled, detail: "The number has changed." },
  "incomplete-number": { state: "wrong-number", ...settled, detail: "The number is incomplete." },
  "ambiguous-number": { state: "wrong-number", ...settled, detail: "The number is ambiguous." },
  "invalid-number": { state: "wrong-number", ...settled, detail: "This is not a phone number." },
  // The call could not be made.
  "no-route": { state: "failed", ...trunkHeld, detail: "The trunk has no route to this number." },
  "protocol-error": { state: "failed", ...settled, detail: "The trunk did not understand the call." },
  "auth-failed": { state: "failed", ...trunkHeld, detail: "The trunk refused our credentials." },
  "trunk-payment": { state: "failed", ...trunkHeld, detail: "The trunk wants to be paid first." },
  "trunk-forbidden": { state: "failed", ...trunkHeld, detail: "The trunk does not allow this call." },
  "identity-refused": {
    state: "failed",
    ...trunkHeld,
    detail: "The trunk did not accept the caller identity.",
  },
  congestion: { state: "failed", ...trunkAgain, detail: "The trunk has no free channel now." },
  "trunk-timeout": { state: "failed", ...trunkAgain, detail: "The trunk did not answer." },
  "trunk-unreachable": { state: "failed", ...trunkAgain, detail: "The trunk could not be reached." },
  "no-codec": { state: "failed", ...settled, detail: "No audio format suits both sides." },
  "no-media": { state: "failed", ...trunkAgain, detail: "The call was answered, but no sound arrived." },
  dropped: { state: "failed", ...settled, detail: "The network dropped the call." },
  redirected: {
    state: "failed",
    ...settled,
    detail: "The trunk redirected the call; redirects are not followed.",
  },
  "blocked-as-spam": { state: "failed", ...settled, detail: "The network blocked the call as unwanted." },
  unwanted: { state: "failed", ...settled, detail: "The called person wants no calls from this number." },
  // We ended it ourselves, or cannot know.
  cancelled: { state: "cancelled", ...settled, detail: "The call was cancelled." },
  suppressed: { state: "cancelled", ...settled, detail: "The number is on the do-not-call list." },
  "line-lost": { state: "failed", ...settled, detail: "Our audio side failed during the call." },
  interrupted: {
    state: "manual",
    ...settled,
    detail: "outdial stopped while dialling; whether the phone rang is unknown.",
  },
} as const satisfies Readonly<Record<string, Cause>>;

const byName: ReadonlyMap<string, Cause> = new Map(Object.entries(causes));

export type CauseName = keyof typeof causes;

/** An outcome by its cause, with its state and sentence; `extra` adds the evidence. */
export function outcomeOf(cause: CauseName, extra: Partial<Outcome> = {}): Outcome {
  const { state, detail } = causes[cause];
  return { state, cause, detail, ...extra };
}

/**
 * How an attempt ended, from its signalling. Precedence: our own act, Q.850 cause, the provider's words,
 * SIP status and whether it rang. `talkedMs` tells whether a drop in mid-call came after a conversation.
 */
export function outcomeOfLegEnd(end: EndOfLeg, talkedMs = 0): Outcome {
  const cause = end.answered ? afterAnswer(end, talkedMs) : beforeAnswer(end);
  return outcomeOf(cause.name, { ...cause.extra, ...evidence(end) });
}

/** Whether recall delays may ring this contact again. Never for a person who was reached, declined or opted out. */
export function mayRecall(outcome: Outcome): boolean {
  return byName.get(outcome.cause)?.recall ?? false;
}

/** Whether the trunk is to blame and not the contact. */
export function blamesTrunk(outcome: Outcome): boolean {
  return byName.get(outcome.cause)?.trunk ?? false;
}

/** Whether the number must go on the do-not-call list. */
export function asksForSuppression(outcome: Outcome): boolean {
  return outcome.cause === "opted-out" || outcome.cause === "unwanted";
}

interface Named {
  readonly name: CauseName;
  readonly extra?: Partial<Outcome>;
}

/** A conversation of this length counts as one, even if the network ended it. */
const conversationMs = 10_000;

function afterAnswer(end: EndOfLeg, talkedMs: number): Named {
  if (end.failure === "media") return { name: "no-media", extra: { hungUpBy: "trunk" } };
  if (end.by === "us") {
    if (end.ourAct === "cancel") return { name: "operator-ended", extra: { hungUpBy: "operator" } };
    return { name: "completed", extra: { hungUpBy: "agent" } };
  }
  if (end.by === "nobody" || end.q850 === 38 || end.q850 === 41 || end.q850 === 127) {
    const closed = talkedMs >= conversationMs ? ({ state: "closed" } as const) : {};
    return { name: "dropped", extra: { ...closed, hungUpBy: "trunk" } };
  }
  return { name: "hung-up", extra: { hungUpBy: "callee" } };
}

function beforeAnswer(end: EndOfLeg): Named {
  if (end.by === "us") {
    if (end.ourAct === "ring-timeout") return { name: "ring-timeout", extra: { hungUpBy: "agent" } };
    return { name: "cancelled", extra: { hungUpBy: "operator" } };
  }
  const name = ofQ850(end) ?? ofWords(end) ?? ofStatus(end) ?? ofFailure(end);
  return { name };
}

/** Q.850 causes that say more than the SIP status. Absent ones (16, 31, 102, 127 …) mean nothing without it. */
const byQ850: Readonly<Record<number, CauseName>> = {
  1: "unallocated",
  2: "no-route",
  3: "no-route",
  17: "busy",
  18: "no-answer",
  19: "no-answer",
  20: "unreachable",
  22: "number-changed",
  23: "redirected",
  25: "protocol-error",
  27: "unreachable",
  28: "incomplete-number",
  34: "congestion",
  38: "congestion",
  41: "congestion",
  42: "congestion",
  44: "congestion",
  47: "congestion",
  57: "trunk-forbidden",
  65: "no-codec",
  79: "no-codec",
  88: "no-codec",
  95: "protocol-error",
};

function ofQ850(end: EndOfLeg): CauseName | undefined {
  return end.q850 === 21 ? rejected(end.status) : byQ850[end.q850 ?? 0];
}

/** Q.850 21 "call rejected": by the person, unless the status says that the trunk or its filter did it. */
function rejected(status: number | undefined): CauseName | undefined {
  const saysMore = [401, 402, 403, 407, 603, 607, 608].includes(status ?? 0);
  const serverFailed = status !== undefined && status >= 500 && status < 600;
  return saysMore || serverFailed ? undefined : "declined";
}

/** What providers write into the reason phrase. The D codes are Telnyx's. */
function ofWords(end: EndOfLeg): CauseName | undefined {
  const words = `${end.reason ?? ""} ${end.q850Text ?? ""}`;
  const code = /\bD(\d{1,3})\b/.exec(words)?.[1] ?? "";
  const wrong = /invalid\s+(phone\s+)?number/i.test(words);
  if (end.status === 400 && wrong) return "invalid-number";
  if (end.status === 403 && (wrong || code === "11")) return "invalid-number";
  if (end.status === 403 && (["1", "2", "3", "22"].includes(code) || /channel limit/i.test(words))) {
    return "congestion";
  }
  if (end.status === 404 && (["18", "19", "40"].includes(code) || /no route/i.test(words))) return "no-route";
  if (end.status === 603 && /network blocked/i.test(words)) return "blocked-as-spam";
  return undefined;
}

const byStatus: Readonly<Record<number, CauseName>> = {
  301: "number-changed",
  400: "protocol-error",
  401: "auth-failed",
  402: "trunk-payment",
  403: "trunk-forbidden",
  404: "unallocated",
  407: "auth-failed",
  410: "number-changed",
  415: "no-codec",
  416: "ambiguous-number",
  428: "identity-refused",
  436: "identity-refused",
  437: "identity-refused",
  438: "identity-refused",
  484: "incomplete-number",
  485: "ambiguous-number",
  486: "busy",
  487: "cancelled-remotely",
  488: "no-codec",
  500: "congestion",
  502: "congestion",
  503: "congestion",
  504: "congestion",
  505: "protocol-error",
  513: "protocol-error",
  580: "congestion",
  600: "busy",
  603: "declined",
  604: "unallocated",
  606: "no-codec",
  607: "unwanted",
  608: "blocked-as-spam",
};

function ofStatus(end: EndOfLeg): CauseName | undefined {
  const { status, ringing } = end;
  if (status === undefined || status < 300) return undefined;
  if (status === 408) return ringing ? "no-answer" : "trunk-timeout";
  if (status === 480) return ringing ? "no-answer" : "unreachable";
  const known = byStatus[status];
  if (known) return known;
  if (status < 400) return "redirected";
  if (status < 500) return "protocol-error";
  return status < 600 ? "congestion" : "declined";
}

function ofFailure(end: EndOfLeg): CauseName {
  if (end.failure === "auth") return "auth-failed";
  if (end.failure === "media") return "no-codec";
  if (end.ringing) return "no-answer";
  if (end.failure === "transport") return "trunk-unreachable";
  return end.failure === "timeout" ? "trunk-timeout" : "protocol-error";
}

function evidence(end: EndOfLeg): Partial<Outcome> {
  return {
    ...(end.status === undefined ? {} : { sipStatus: end.status }),
    ...(end.reason === undefined ? {} : { sipReason: end.reason }),
    ...(end.q850 === undefined ? {} : { q850: end.q850 }),
  };
}
