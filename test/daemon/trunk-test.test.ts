import { describe, expect, test } from "vitest";
import type { ProbeResult, RegistrationState } from "../../src/daemon/ports.ts";
import { targetOf } from "../../src/daemon/dial-order.ts";
import type { TrunkFault } from "../../src/daemon/trunk-health.ts";
import { testTrunk } from "../../src/daemon/trunk-test.ts";
import { VirtualClock } from "../support/virtual-clock.ts";
import { trunkRow } from "./trunk-rows.ts";

const server = { address: "192.0.2.1", port: 5060 };
const alive: ProbeResult = {
  status: 200,
  ms: 3.4,
  server,
  received: { address: "198.51.100.7", port: 40_000 },
};

interface World {
  readonly probe?: ProbeResult;
  readonly addresses?: readonly string[];
  /** One for each look, the last for all that follow. */
  readonly registration?: readonly RegistrationState[];
  readonly fault?: TrunkFault;
}

async function look(trunk: ReturnType<typeof trunkRow>, world: World) {
  const clock = new VirtualClock();
  const acts: string[] = [];
  const states = [...(world.registration ?? [])];
  let fault = world.fault;
  const running = testTrunk(trunk, targetOf(trunk, undefined), {
    probe: async () => world.probe ?? alive,
    resolve: async (host) => {
      acts.push(`resolve ${host}`);
      if (world.addresses === undefined) throw new Error("ENOTFOUND");
      return world.addresses;
    },
    health: {
      registrationOf: () => (states.length > 1 ? states.shift() : states[0]),
      faultOf: () => fault,
      mended: () => {
        acts.push("mended");
        fault = undefined;
      },
      watch: () => void acts.push("watch"),
    },
    clock,
  });
  let done = false;
  void running.then(() => (done = true));
  for (let turn = 0; turn < 500 && !done; turn++) {
    await new Promise((resolve) => setImmediate(resolve));
    clock.advance(100);
  }
  const checks = await running;
  return {
    acts,
    elapsed: clock.now(),
    checks,
    results: checks.map(({ check, result }) => `${check} ${result}`),
    of: (name: string) => checks.find(({ check }) => check === name),
  };
}

describe("a test of a trunk", () => {
  test("tells the address, the answer, where we are seen, and that calls are taken", async () => {
    const { checks, acts } = await look(trunkRow(), { addresses: ["192.0.2.1", "192.0.2.2"] });
    expect(checks).toEqual([
      { check: "name", result: "ok", detail: "sip.example.com is 192.0.2.1, 192.0.2.2.", advice: null },
      {
        check: "options",
        result: "ok",
        detail: "192.0.2.1:5060 over udp answered 200 in 3 ms.",
        advice: null,
      },
      { check: "nat", result: "ok", detail: "The provider sees us at 198.51.100.7:40000.", advice: null },
      { check: "calls", result: "ok", detail: "The trunk takes calls.", advice: null },
    ]);
    expect(acts).toEqual(["resolve sip.example.com", "mended"]);
  });

  test("of a name that nobody knows ends there", async () => {
    const { results } = await look(trunkRow(), {});
    expect(results).toEqual(["name failed"]);
  });

  test("looks for the proxy, when everything goes through one", async () => {
    const trunk = trunkRow({}, { outboundProxy: "edge.example.com:5062" });
    expect((await look(trunk, { addresses: ["192.0.2.9"] })).acts[0]).toBe("resolve edge.example.com");
  });

  test("over TLS tells the name in the certificate, or what is wrong with it", async () => {
    const trunk = trunkRow({}, { transport: "tls" });
    const tls = { ...server, transport: "tls", domain: "sip.example.com" } as const;
    const good = await look(trunk, { addresses: ["192.0.2.1"], probe: { ...alive, server: tls } });
    expect(good.of("tls")?.detail).toBe("The certificate is valid for sip.example.com.");
    const problem = "192.0.2.1:5061 has a certificate for other.example.com.";
    const bad = await look(trunk, { addresses: ["192.0.2.1"], probe: { failure: "transport", problem } });
    expect(bad.of("tls")).toMatchObject({ result: "failed", detail: problem });
    expect(bad.of("tls")?.advice).toContain("--ca-file");
  });

  test("without an answer says what to look at; a 403 to OPTIONS is an answer with advice", async () => {
    const none = await look(trunkRow(), { addresses: ["192.0.2.1"], probe: { failure: "timeout" } });
    expect(none.of("options")).toMatchObject({ result: "failed", detail: "There was no answer." });
    expect(none.acts).not.toContain("mended");
    expect(none.of("calls")?.result).toBe("unknown");
    const { of } = await look(trunkRow(), { addresses: ["192.0.2.1"], probe: { ...alive, status: 403 } });
    expect(of("options")).toMatchObject({ result: "ok", advice: expect.stringContaining("403") });
  });

  test("of a held trunk that works lets calls go again; of one that does not tells why they wait", async () => {
    const fault = { why: "The trunk refused our credentials (403 Forbidden).", until: null, held: true };
    const mended = await look(trunkRow(), { addresses: ["192.0.2.1"], fault });
    expect(mended.of("calls")?.result).toBe("ok");
    const world = { addresses: ["192.0.2.1"], fault, probe: { failure: "timeout" } as const };
    const { of } = await look(trunkRow(), world);
    expect(of("calls")).toMatchObject({ result: "failed", detail: `Calls wait: ${fault.why}` });
    expect(of("calls")?.advice).toBeNull();
  });
});

describe("a test of a trunk that registers", () => {
  const trunk = trunkRow({ kind: "register" }, { register: true });

  test("waits for the registration, but not for ever", async () => {
    const done = await look(trunk, {
      addresses: ["192.0.2.1"],
      registration: [
        { type: "registering" },
        { type: "registering" },
        { type: "registering" },
        { type: "registered", expiresAt: Date.parse("2026-11-21T10:00:00Z") },
      ],
    });
    expect(done.of("registration")?.detail).toBe("ana is registered until 2026-11-21T10:00:00.000Z.");
    const never = await look(trunk, { addresses: ["192.0.2.1"], registration: [{ type: "registering" }] });
    expect(never.of("registration")?.result).toBe("failed");
    expect(never.elapsed).toBeLessThan(10_000);
  });

  test("registers anew when it was refused, and passes the registrar's advice on", async () => {
    const refused = {
      type: "refused",
      status: 403,
      reason: "Forbidden",
      advice: "Check the password.",
    } as const;
    const { acts, of } = await look(trunk, { addresses: ["192.0.2.1"], registration: [refused] });
    expect(acts).toContain("watch");
    expect(of("registration")).toEqual({
      check: "registration",
      result: "failed",
      detail: "The registration was refused: 403 Forbidden.",
      advice: "Check the password.",
    });
  });
});
