import type { Machine, Step, Tick } from "#base";

/** How a registration stands. All moments in ms on the machine's clock. */
export type RegistrationState =
  | { readonly type: "registering" }
  /** Known to the registrar until then, unless renewed before. */
  | { readonly type: "registered"; readonly expiresAt: number }
  /** Not tried again: a person has to change something, as `advice` says. */
  | { readonly type: "refused"; readonly status: number; readonly reason: string; readonly advice: string }
  /** Failed for now; tried again at `until`. `reason` is a sentence. */
  | { readonly type: "waiting"; readonly until: number; readonly reason: string };

/** The REGISTER machine's own state (RFC 3261 10.2). Deadlines live in the states that need them. */
export type RegistrationPhase =
  /** A REGISTER is under way; with `boundUntil` it renews one that holds till then. */
  | { readonly type: "asking"; readonly boundUntil: number; readonly plan: Plan }
  | {
      readonly type: "registered";
      readonly refreshAt: number;
      readonly boundUntil: number;
      readonly plan: Plan;
    }
  | { readonly type: "waiting"; readonly until: number; readonly boundUntil: number; readonly plan: Plan }
  | { readonly type: "refused" }
  /** Takes the binding back, after the answer to a REGISTER under way; awaits the answers till then. */
  | { readonly type: "leaving"; readonly giveUpAt: number; readonly asked: boolean }
  | { readonly type: "closed" };

interface Plan {
  /** Seconds to ask for. */
  readonly expiresS: number;
  /** Failures in a row. */
  readonly failures: number;
  /** How often the registrar found the time too brief, since it last agreed. */
  readonly tooBrief: number;
  /** The address to register changed while a REGISTER was under way. */
  readonly again: boolean;
}

/** `chance` is a number in [0, 1): moments are spread by it, so that many agents do not come at once. */
export type RegistrationInput =
  | { readonly type: "granted"; readonly expiresS: number; readonly chance: number }
  /** A final response other than 2xx; a challenge only when it cannot be answered. */
  | {
      readonly type: "rejected";
      readonly status: number;
      readonly reason: string;
      /** Min-Expires of a 423, seconds. */
      readonly minExpiresS?: number;
      readonly retryAfterS?: number;
      readonly chance: number;
    }
  /** No registrar could be reached, or none answered; `reason` is a sentence. */
  | { readonly type: "failed"; readonly reason: string; readonly chance: number }
  /** The connection the registration went by is gone: nothing can reach us (RFC 5626 4.4). */
  | { readonly type: "flow-lost"; readonly chance: number }
  /** The registrar sees us at another address than the one registered. */
  | { readonly type: "address-changed" }
  | { readonly type: "close" };

export type RegistrationEffect =
  /** Sends REGISTER; 0 seconds take the binding back. */
  | { readonly type: "register"; readonly expiresS: number }
  | { readonly type: "report"; readonly state: RegistrationState };

type RegistrationStep = Step<RegistrationPhase, RegistrationEffect>;

/** RFC 5626 4.5, base time without another flow and maximum, ms. */
const shortestWaitMs = 30_000;
const longestWaitMs = 1_800_000;
/** The longest time a registrar may make us ask for, s. */
const longestExpiresS = 7 * 86_400;
const farewellMs = 4_000;

/** Registers, renews at 80 to 90 % of the time granted, backs off from what passes and stops at what does not. */
export const registration = {
  step,
  deadline,
  isOver: (phase) => phase.type === "closed",
} satisfies Machine<RegistrationPhase, RegistrationInput, RegistrationEffect>;

/** Asks for `expiresS` seconds at once. */
export function startRegistration(expiresS: number): RegistrationStep {
  const plan: Plan = { expiresS, failures: 0, tooBrief: 0, again: false };
  return to(
    { type: "asking", boundUntil: -Infinity, plan },
    { type: "report", state: { type: "registering" } },
    { type: "register", expiresS },
  );
}

function step(phase: RegistrationPhase, input: RegistrationInput | Tick, now: number): RegistrationStep {
  if (phase.type === "closed") return to(phase);
  if (phase.type === "leaving") return leave(phase, input, now);
  switch (input.type) {
    case "tick":
      return now < deadline(phase) ? to(phase) : ask(phase);
    case "granted":
      return phase.type === "asking" ? granted(phase.plan, input, now) : to(phase);
    case "rejected":
      return phase.type === "asking" ? rejected(phase, input, now) : to(phase);
    case "failed":
      return phase.type === "asking" ? wait(phase, input, now) : to(phase);
    case "flow-lost": // A REGISTER under way fails by itself.
      if (phase.type !== "registered") return to(phase);
      return wait(
        { ...phase, boundUntil: -Infinity },
        { reason: "The connection to the registrar was lost.", chance: input.chance, soon: true },
        now,
      );
    case "address-changed":
      if (phase.type === "asking") return to({ ...phase, plan: { ...phase.plan, again: true } });
      return phase.type === "registered" ? ask(phase) : to(phase);
    case "close":
      return close(phase, now);
  }
}

function ask(phase: RegistrationPhase): RegistrationStep {
  if (phase.type !== "registered" && phase.type !== "waiting") return to(phase);
  const { boundUntil, plan } = phase;
  return to(
    { type: "asking", boundUntil, plan },
    // While an older registration holds, renewing it is nobody's concern.
    ...(phase.type === "waiting"
      ? ([{ type: "report", state: { type: "registering" } }] as const)
      : ([] as const)),
    { type: "register", expiresS: plan.expiresS },
  );
}

function granted(
  plan: Plan,
  answer: { readonly expiresS: number; readonly chance: number },
  now: number,
): RegistrationStep {
  const grantedMs = Math.max(1, answer.expiresS) * 1_000;
  const boundUntil = now + grantedMs;
  const refreshAt = now + grantedMs * (0.8 + 0.1 * answer.chance);
  const fresh: Plan = { ...plan, failures: 0, tooBrief: 0, again: false };
  const report = { type: "report", state: { type: "registered", expiresAt: boundUntil } } as const;
  if (!plan.again) return to({ type: "registered", refreshAt, boundUntil, plan: fresh }, report);
  return to({ type: "asking", boundUntil, plan: fresh }, report, {
    type: "register",
    expiresS: plan.expiresS,
  });
}

function rejected(
  phase: RegistrationPhase & { readonly type: "asking" },
  answer: Extract<RegistrationInput, { type: "rejected" }>,
  now: number,
): RegistrationStep {
  const { plan } = phase;
  const { status, reason, minExpiresS } = answer;
  const longer = status === 423 && minExpiresS !== undefined && minExpiresS > plan.expiresS;
  if (longer && minExpiresS <= longestExpiresS && plan.tooBrief < 2) {
    const patient: Plan = { ...plan, expiresS: minExpiresS, tooBrief: plan.tooBrief + 1 };
    return to({ ...phase, plan: patient }, { type: "register", expiresS: minExpiresS });
  }
  if (passes(status)) {
    const sentence = `The registrar answered ${status} ${reason}.`;
    return wait(phase, { ...answer, reason: sentence }, now);
  }
  const state: RegistrationState = { type: "refused", status, reason, advice: adviceOn(status) };
  return to({ type: "refused" }, { type: "report", state });
}

/** Whether the same REGISTER may succeed later without anybody's doing. */
function passes(status: number): boolean {
  return (
    [408, 429, 430, 480, 491, 494].includes(status) ||
    (status >= 500 && status < 600 && !hopeless.has(status))
  );
}

/** Not implemented, version not supported, message too large. */
const hopeless: ReadonlySet<number> = new Set([501, 505, 513]);

function wait(
  phase: { readonly boundUntil: number; readonly plan: Plan },
  why: {
    readonly reason: string;
    readonly chance: number;
    readonly retryAfterS?: number;
    /** The first time: within seconds. */
    readonly soon?: boolean;
  },
  now: number,
): RegistrationStep {
  const failures = phase.plan.failures + 1;
  const longest = Math.min(longestWaitMs, shortestWaitMs * 2 ** (failures - 1));
  const backOff = why.soon === true ? 2_000 * why.chance : longest * (0.5 + 0.5 * why.chance);
  const asked = Math.min((why.retryAfterS ?? 0) * 1_000, 2 * longestWaitMs);
  const until = now + Math.max(backOff, asked);
  const plan: Plan = { ...phase.plan, failures: why.soon === true ? 0 : failures, again: false };
  return to(
    { type: "waiting", until, boundUntil: phase.boundUntil, plan },
    { type: "report", state: { type: "waiting", until, reason: why.reason } },
  );
}

function close(phase: RegistrationPhase, now: number): RegistrationStep {
  const giveUpAt = now + farewellMs;
  // A second REGISTER must not overtake the first (RFC 3261 10.2).
  if (phase.type === "asking") return to({ type: "leaving", giveUpAt, asked: false });
  const bound = "boundUntil" in phase && phase.boundUntil > now;
  if (!bound) return to({ type: "closed" });
  return to({ type: "leaving", giveUpAt, asked: true }, { type: "register", expiresS: 0 });
}

function leave(
  phase: RegistrationPhase & { readonly type: "leaving" },
  input: RegistrationInput | Tick,
  now: number,
): RegistrationStep {
  switch (input.type) {
    case "tick":
      return to(now < phase.giveUpAt ? phase : { type: "closed" });
    case "granted":
      if (phase.asked) return to({ type: "closed" });
      return to({ ...phase, asked: true }, { type: "register", expiresS: 0 });
    case "rejected":
    case "failed":
    case "flow-lost":
      return to({ type: "closed" });
    case "address-changed":
    case "close":
      return to(phase);
  }
}

function deadline(phase: RegistrationPhase): number {
  switch (phase.type) {
    case "registered":
      return phase.refreshAt;
    case "waiting":
      return phase.until;
    case "leaving":
      return phase.giveUpAt;
    case "asking":
    case "refused":
    case "closed":
      return Infinity;
  }
}

function adviceOn(status: number): string {
  if (status >= 300 && status < 400)
    return "The registrar sends us to another server: set the trunk's host to it.";
  switch (status) {
    case 401:
    case 407:
      return "The provider does not accept the user name or the password: check both.";
    case 403:
      return "The provider forbids it: check user name and password, and whether the account may register from this address.";
    case 404:
      return "The provider does not know this user: check the user name and the domain.";
    case 405:
    case 501:
      return "This server takes no registrations: the trunk may be one that knows you by your address, without registering.";
    case 423:
      return "The registrar wants a registration to last longer than we can ask for: ask the provider for its limits.";
    default:
      return "Ask the provider what it means.";
  }
}

function to(state: RegistrationPhase, ...effects: RegistrationEffect[]): RegistrationStep {
  return { state, effects };
}
