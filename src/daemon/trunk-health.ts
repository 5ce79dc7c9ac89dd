import { drive, type AccountId, type Clock, type Driver, type TrunkId } from "#base";
import { blamesTrunk, type Outcome } from "#domain";
import { describeError, type Log } from "#host";
import {
  breaker,
  breakerFault,
  startBreaker,
  type BreakerEffect,
  type BreakerInput,
  type BreakerState,
} from "./breaker.ts";
import type { Registration, RegistrationState, SipTarget, Telephony, TrunkRow } from "./ports.ts";

/** Why a trunk takes no calls now. */
export interface TrunkFault {
  /** In words for a person. */
  readonly why: string;
  /** When it is tried again by itself; null: unknown. */
  readonly until: number | null;
  /** Nothing helps but a change: of its settings, or at the provider. */
  readonly held: boolean;
}

export interface HealthParts {
  readonly telephony: Pick<Telephony, "register">;
  readonly clock: Clock;
  readonly log: Log;
  readonly target: (trunk: TrunkRow) => SipTarget;
  /** Trusts a certificate authority from now on, PEM. */
  readonly trust: (certificate: string) => void;
  /** Tells the readers of events. */
  readonly publish: (accountId: AccountId, type: string, data: Readonly<Record<string, unknown>>) => void;
  /** A trunk may take calls again. */
  readonly wake: () => void;
}

export interface TrunkHealth {
  /** Registers where that is wanted, and forgets what was known: it is new, or its settings are. */
  watch(trunk: TrunkRow): void;
  /** Takes the registration back; resolves when that is done. */
  forget(id: TrunkId): Promise<void>;
  /** Undefined: it takes calls. */
  faultOf(id: TrunkId): TrunkFault | undefined;
  /** Undefined: it is not registered anywhere. */
  registrationOf(id: TrunkId): RegistrationState | undefined;
  callStarted(id: TrunkId): void;
  /** A call is getting through. */
  callWent(id: TrunkId): void;
  /** Undefined: it ended before anything was sent. */
  callEnded(id: TrunkId, outcome: Outcome | undefined): void;
  /** It was tried and found to work. */
  mended(id: TrunkId): void;
  /** Takes all registrations back. */
  close(): Promise<void>;
}

interface Watched {
  readonly registers: boolean;
  readonly driver: Driver<BreakerInput>;
  breaker: BreakerState;
  registration: Registration | undefined;
  /** A registration that could not even be asked for. */
  broken: string | undefined;
}

/** What is known of the trunks, from their registrations and from how their calls end. In memory only. */
export function createTrunkHealth(parts: HealthParts): TrunkHealth {
  const watched = new Map<TrunkId, Watched>();
  const feed = (id: TrunkId, input: BreakerInput): void => watched.get(id)?.driver.feed(input);

  return {
    watch,
    forget,
    faultOf: (id) => faultOf(watched.get(id)),
    registrationOf: (id) => registrationOf(watched.get(id)),
    callStarted: (id) => feed(id, { type: "call-started" }),
    callWent: (id) => feed(id, { type: "call-went" }),
    callEnded: (id, outcome) =>
      feed(id, { type: "call-ended", how: verdictOn(outcome), detail: detailOf(outcome) }),
    mended: (id) => feed(id, { type: "mended" }),
    close: async () => {
      await Promise.all([...watched.keys()].map(forget));
    },
  };

  function watch(trunk: TrunkRow): void {
    const left = forget(trunk.id);
    const first = startBreaker();
    const entry: Watched = {
      registers: trunk.sip.register,
      breaker: first.state,
      registration: undefined,
      broken: undefined,
      driver: drive(
        {
          ...breaker,
          step: (state, input, now) => {
            const next = breaker.step(state, input, now);
            entry.breaker = next.state;
            return next;
          },
        },
        first,
        parts.clock,
        (effect) => perform(trunk, effect),
      ),
    };
    watched.set(trunk.id, entry);
    if (trunk.sip.caCertificate !== null) parts.trust(trunk.sip.caCertificate);
    // In this order: taking the old one back would also take the new one's address away.
    if (entry.registers) void left.then(() => register(trunk, entry));
    parts.wake();
  }

  function register(trunk: TrunkRow, entry: Watched): void {
    if (watched.get(trunk.id) !== entry) return;
    try {
      entry.registration = parts.telephony.register({
        target: parts.target(trunk),
        expiresS: trunk.sip.registerExpiresS,
        onChange: (state) => told(trunk, entry, state),
      });
    } catch (error) {
      parts.log.error("a trunk cannot be registered", { trunk: trunk.name, error: describeError(error) });
      entry.broken = "Its user name or its domain cannot stand in a SIP address.";
    }
  }

  function told(trunk: TrunkRow, entry: Watched, state: RegistrationState): void {
    if (watched.get(trunk.id) !== entry || state.type === "registering") return;
    const why = registrationFault(state)?.why;
    const data = { trunk: trunk.name, ...(why === undefined ? {} : { why }) };
    const type = state.type === "waiting" ? "trunk-unregistered" : `trunk-${state.type}`;
    parts.log[state.type === "registered" ? "info" : "warn"](type, data);
    parts.publish(trunk.accountId, type, data);
    if (state.type === "registered") parts.wake();
  }

  function perform(trunk: TrunkRow, effect: BreakerEffect): void {
    const data = { trunk: trunk.name, ...effect, type: undefined };
    const type = effects[effect.type];
    parts.log[effect.type === "resume" ? "info" : "warn"](type, data);
    parts.publish(trunk.accountId, type, data);
    if (effect.type === "resume") parts.wake();
  }

  async function forget(id: TrunkId): Promise<void> {
    const entry = watched.get(id);
    watched.delete(id);
    entry?.driver[Symbol.dispose]();
    await entry?.registration?.close();
  }
}

const effects = { pause: "trunk-paused", hold: "trunk-held", resume: "trunk-resumed" } as const;

function faultOf(entry: Watched | undefined): TrunkFault | undefined {
  if (entry === undefined) return undefined;
  if (entry.broken !== undefined) return { why: entry.broken, until: null, held: true };
  const registration = registrationOf(entry);
  const unregistered = registration && registrationFault(registration);
  return unregistered ?? breakerFault(entry.breaker);
}

function registrationOf(entry: Watched | undefined): RegistrationState | undefined {
  if (entry?.registers !== true || entry.broken !== undefined) return undefined;
  return entry.registration?.state ?? { type: "registering" };
}

function registrationFault(state: RegistrationState): TrunkFault | undefined {
  switch (state.type) {
    case "registered":
      return undefined;
    case "registering":
      return { why: "It is being registered.", until: null, held: false };
    case "waiting":
      return { why: `It is not registered: ${state.reason}`, until: state.until, held: false };
    case "refused": {
      const answer = `${state.status} ${state.reason}`.trim();
      return { why: `The registration was refused: ${answer}. ${state.advice}`, until: null, held: true };
    }
  }
}

function verdictOn(outcome: Outcome | undefined): Extract<BreakerInput, { type: "call-ended" }>["how"] {
  if (outcome === undefined || unsaid.has(outcome.cause)) return "unsaid";
  if (!blamesTrunk(outcome)) return "ok";
  if (outcome.cause === "auth-failed" || outcome.cause === "trunk-payment") return "refused";
  return outcome.cause === "trunk-forbidden" || outcome.cause === "identity-refused" ? "forbidden" : "failed";
}

/** Ends of our own doing, which tell nothing of the trunk. */
const unsaid: ReadonlySet<string> = new Set(["cancelled", "interrupted", "line-lost", "suppressed"]);

function detailOf(outcome: Outcome | undefined): string {
  if (outcome === undefined) return "";
  const { detail = outcome.cause, sipStatus, sipReason = "" } = outcome;
  const answer = sipStatus === undefined ? "" : ` (${`${sipStatus} ${sipReason}`.trim()})`;
  return `${detail.replace(/\.$/, "")}${answer}.`;
}
