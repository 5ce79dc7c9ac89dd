import type { Clock } from "#base";
import { nextHopOf } from "./dial-order.ts";
import type { ProbeResult, RegistrationState, SipTarget, TrunkRow } from "./ports.ts";
import type { TrunkFault, TrunkHealth } from "./trunk-health.ts";

/** One thing that was looked at. */
export interface TrunkCheck {
  readonly check: "name" | "options" | "tls" | "nat" | "registration" | "calls";
  readonly result: "ok" | "failed" | "unknown";
  /** What was found, in one sentence. */
  readonly detail: string;
  /** What to do about it. */
  readonly advice: string | null;
}

interface Parts {
  readonly probe: (target: SipTarget) => Promise<ProbeResult>;
  readonly resolve: (host: string) => Promise<readonly string[]>;
  readonly health: Pick<TrunkHealth, "registrationOf" | "faultOf" | "mended" | "watch">;
  readonly clock: Clock;
}

/** A registration under way gets this long. */
const registrationMs = 8_000;
const lookMs = 100;

/**
 * Asks the provider for a sign of life and looks at the registration. A trunk that was refused registers anew;
 * one found to work takes calls again.
 */
export async function testTrunk(
  trunk: TrunkRow,
  target: SipTarget,
  parts: Parts,
): Promise<readonly TrunkCheck[]> {
  const { health } = parts;
  const name = await nameCheck(nextHopOf(trunk), parts);
  if (name.result === "failed") return [name];
  if (health.registrationOf(trunk.id)?.type === "refused") health.watch(trunk);
  const probed = await parts.probe(target);
  const checks = [name, ...probeChecks(probed, target), ...(await registrationChecks(trunk, parts))];
  const failed = checks.some(({ result }) => result === "failed");
  if (!failed) health.mended(trunk.id);
  const fault = health.faultOf(trunk.id);
  return [...checks, callsCheck(fault, failed)];
}

function callsCheck(fault: TrunkFault | undefined, failed: boolean): TrunkCheck {
  const check = "calls";
  if (fault !== undefined) {
    // What failed above says by itself what to do.
    const advice = failed ? null : adviceOnCalls(fault.why);
    return { check, result: "failed", detail: `Calls wait: ${fault.why}`, advice };
  }
  if (!failed) return { check, result: "ok", detail: "The trunk takes calls.", advice: null };
  const detail = "Calls are not held back, but may fail as this test did.";
  return { check, result: "unknown", detail, advice: null };
}

async function nameCheck(host: string, { resolve }: Parts): Promise<TrunkCheck> {
  const check = "name";
  try {
    const addresses = await resolve(host);
    const found =
      addresses.length === 1 && addresses[0] === host ? host : `${host} is ${addresses.join(", ")}`;
    return { check, result: "ok", detail: `${found}.`, advice: null };
  } catch {
    return {
      check,
      result: "failed",
      detail: `The name ${host} has no address.`,
      advice: "Check how the provider spells it, and that this machine has DNS.",
    };
  }
}

function probeChecks(probed: ProbeResult, { transport = "udp" }: SipTarget): readonly TrunkCheck[] {
  if ("failure" in probed) return [failedProbe(probed, transport)];
  const { status, ms, server, received } = probed;
  const where = `${server.address}:${server.port} over ${server.transport ?? "udp"}`;
  const checks: TrunkCheck[] = [
    {
      check: "options",
      result: "ok",
      detail: `${where} answered ${status} in ${Math.round(ms)} ms.`,
      // Any answer is a sign of life; a 403 says that calls may be refused as well.
      advice: status === 403 ? forbiddenAdvice : null,
    },
  ];
  if (transport === "tls") {
    const detail = `The certificate is valid for ${server.domain ?? server.address}.`;
    checks.push({ check: "tls", result: "ok", detail, advice: null });
  }
  const seen = received === undefined ? undefined : `${received.address}:${received.port}`;
  checks.push({
    check: "nat",
    result: seen === undefined ? "unknown" : "ok",
    detail:
      seen === undefined ? "The provider does not say where it sees us." : `The provider sees us at ${seen}.`,
    advice: null,
  });
  return checks;
}

function failedProbe(
  { failure, problem }: Extract<ProbeResult, { readonly failure: string }>,
  transport: string,
): TrunkCheck {
  const certificate = /certificate/i.test(problem ?? "");
  return {
    check: certificate ? "tls" : "options",
    result: "failed",
    detail: problem ?? (failure === "timeout" ? "There was no answer." : "The provider cannot be reached."),
    advice: certificate
      ? "Set --domain to the name in the certificate, or --ca-file to the authority that signed it."
      : `Check host, port and --transport (${transport} now), the firewall, and whether the provider knows our address.`,
  };
}

async function registrationChecks(trunk: TrunkRow, { health, clock }: Parts): Promise<readonly TrunkCheck[]> {
  if (!trunk.sip.register) return [];
  const limit = clock.now() + registrationMs;
  let state = health.registrationOf(trunk.id);
  while (state?.type === "registering" && clock.now() < limit) {
    const { promise, resolve } = Promise.withResolvers<void>();
    clock.alarm(clock.now() + lookMs, resolve);
    await promise;
    state = health.registrationOf(trunk.id);
  }
  return [registrationCheck(state, trunk)];
}

function registrationCheck(state: RegistrationState | undefined, { username }: TrunkRow): TrunkCheck {
  const check = "registration";
  switch (state?.type) {
    case "registered": {
      const until = new Date(state.expiresAt).toISOString();
      return { check, result: "ok", detail: `${username ?? ""} is registered until ${until}.`, advice: null };
    }
    case "refused":
      return {
        check,
        result: "failed",
        detail: `The registration was refused: ${`${state.status} ${state.reason}`.trim()}.`,
        advice: state.advice,
      };
    case "waiting":
      return { check, result: "failed", detail: state.reason, advice: null };
    case "registering":
    case undefined:
      return {
        check,
        result: "failed",
        detail: "There was no answer to the registration yet.",
        advice: null,
      };
  }
}

const forbiddenAdvice =
  "403: check user name and password, the caller id, and whether the provider allows calls from our address.";

function adviceOnCalls(why: string): string | null {
  return /\b403\b/.test(why) ? forbiddenAdvice : null;
}
