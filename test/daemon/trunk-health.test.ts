import { outcomeOf, type CauseName } from "#domain";
import { silentLog } from "#host";
import { describe, expect, test } from "vitest";
import type { RegistrationState } from "../../src/daemon/ports.ts";
import { createTrunkHealth } from "../../src/daemon/trunk-health.ts";
import { VirtualClock } from "../support/virtual-clock.ts";
import { trunkRow } from "./trunk-rows.ts";

const account = trunkRow({ kind: "register" }, { register: true, registerExpiresS: 300 });

/** A registrar's side: what was asked, and a way to answer. */
function rig(options: { refusesNames?: boolean } = {}) {
  const clock = new VirtualClock();
  const events: string[] = [];
  const asked: { expiresS: number; say: (state: RegistrationState) => void }[] = [];
  const acts: string[] = [];
  const trusted: string[] = [];
  let woken = 0;
  const health = createTrunkHealth({
    telephony: {
      register: ({ expiresS, onChange }) => {
        if (options.refusesNames === true) throw new Error("no plain SIP user");
        let state: RegistrationState = { type: "registering" };
        acts.push("register");
        asked.push({ expiresS, say: (next) => onChange((state = next)) });
        return {
          get state() {
            return state;
          },
          close: async () => {
            await Promise.resolve();
            acts.push("unregister");
          },
        };
      },
    },
    clock,
    log: silentLog,
    target: ({ host, port }) => ({ host, port }),
    trust: (certificate) => trusted.push(certificate),
    publish: (accountId, type, data) => events.push(`${accountId} ${type} ${String(data["trunk"])}`),
    wake: () => woken++,
  });
  return { clock, events, asked, acts, trusted, health, woken: () => woken };
}

const settled = () => new Promise((resolve) => setImmediate(resolve));

describe("a trunk that registers", () => {
  test("takes calls from the moment it is registered", async () => {
    const { asked, events, health, woken } = rig();
    health.watch(account);
    expect(health.faultOf("t1")).toMatchObject({ held: false });
    await settled();
    expect(asked[0]?.expiresS).toBe(300);
    const before = woken();
    asked[0]?.say({ type: "registered", expiresAt: 300_000 });
    expect(health.faultOf("t1")).toBeUndefined();
    expect(woken()).toBeGreaterThan(before);
    expect(events).toEqual(["a trunk-registered main"]);
  });

  test("is held when it is refused, and says what the registrar said", async () => {
    const { asked, events, health } = rig();
    health.watch(account);
    await settled();
    asked[0]?.say({ type: "refused", status: 403, reason: "Forbidden", advice: "Check the password." });
    expect(health.faultOf("t1")).toEqual({
      why: "The registration was refused: 403 Forbidden. Check the password.",
      until: null,
      held: true,
    });
    expect(events).toEqual(["a trunk-refused main"]);
  });

  test("waits while the registrar is away", async () => {
    const { asked, health } = rig();
    health.watch(account);
    await settled();
    asked[0]?.say({ type: "waiting", until: 30_000, reason: "The registrar does not answer." });
    expect(health.faultOf("t1")).toMatchObject({ until: 30_000, held: false });
    expect(health.registrationOf("t1")).toMatchObject({ type: "waiting" });
  });

  test("is taken back before it registers with other settings, and at the end", async () => {
    const { acts, health, asked, events } = rig();
    health.watch(account);
    await settled();
    health.watch({ ...account, username: "other" });
    expect(health.registrationOf("t1")).toEqual({ type: "registering" });
    await settled();
    expect(acts).toEqual(["register", "unregister", "register"]);
    asked[0]?.say({ type: "refused", status: 403, reason: "", advice: "" });
    expect(events).toEqual([]); // The old one's word counts no more.
    await health.close();
    expect(acts).toEqual(["register", "unregister", "register", "unregister"]);
    expect(health.faultOf("t1")).toBeUndefined();
  });

  test("whose name cannot be sent is held, and the daemon goes on", async () => {
    const { health } = rig({ refusesNames: true });
    health.watch(account);
    await settled();
    expect(health.faultOf("t1")).toMatchObject({ held: true });
  });
});

describe("what calls tell of their trunk", () => {
  const outcomes = (health: ReturnType<typeof rig>["health"], causes: readonly CauseName[]): void => {
    for (const cause of causes) {
      health.callStarted("t1");
      health.callEnded("t1", outcomeOf(cause, { sipStatus: 503, sipReason: "Busy here" }));
    }
  };

  test("busy, silent and cancelled phones are not its fault", () => {
    const { health } = rig();
    health.watch(trunkRow());
    outcomes(health, ["busy", "ring-timeout", "unallocated", "cancelled", "interrupted", "declined"]);
    outcomes(health, ["line-lost", "line-lost", "line-lost", "line-lost", "line-lost"]);
    expect(health.faultOf("t1")).toBeUndefined();
  });

  test("congestion pauses it for a minute, and says why", () => {
    const { clock, events, health, woken } = rig();
    health.watch(trunkRow());
    outcomes(health, ["congestion", "congestion", "trunk-timeout", "congestion"]);
    expect(health.faultOf("t1")).toEqual({
      why: "4 of 4 calls in two minutes failed: The trunk has no free channel now (503 Busy here).",
      until: 60_000,
      held: false,
    });
    const before = woken();
    clock.advance(60_000);
    expect(health.faultOf("t1")).toBeUndefined();
    expect(woken()).toBe(before + 1);
    expect(events).toEqual(["a trunk-paused main", "a trunk-resumed main"]);
  });

  test.each([
    ["auth-failed", 1],
    ["trunk-payment", 1],
    ["trunk-forbidden", 3],
    ["identity-refused", 3],
  ] as const)("%s, %i times, holds it until somebody looked after it", (cause, times) => {
    const { clock, health } = rig();
    health.watch(trunkRow());
    for (let n = 0; n < times; n++) {
      expect(health.faultOf("t1")).toBeUndefined();
      outcomes(health, [cause]);
    }
    clock.advance(86_400_000);
    expect(health.faultOf("t1")?.held).toBe(true);
    health.mended("t1");
    expect(health.faultOf("t1")).toBeUndefined();
  });
});

test("a trunk's certificate authority is trusted from then on", () => {
  const { health, trusted } = rig();
  health.watch(trunkRow({}, { caCertificate: "PEM" }));
  expect(trusted).toEqual(["PEM"]);
});
