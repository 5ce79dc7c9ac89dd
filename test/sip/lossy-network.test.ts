import { describe, expect, it } from "vitest";
import type { IncomingCallEvent, LegEvent, LocalMedia, OutgoingCall } from "#sip";
import {
  attachAgent,
  seededChance,
  SimulatedNetwork,
  type NetworkConditions,
} from "../support/simulated-network.ts";
import { VirtualClock } from "../support/virtual-clock.ts";

const media = (address: string): LocalMedia => ({ address, audioPort: 4000, codecs: ["PCMA", "PCMU"] });
const bad: NetworkConditions = {
  loss: 0.05,
  duplication: 0.02,
  reordering: 0.03,
  delayMs: 30,
  jitterMs: 20,
};

type Plan = "caller ends" | "callee ends" | "refused" | "cancelled";

interface Fate {
  readonly plan: Plan;
  readonly leg: LegEvent[];
  readonly received: IncomingCallEvent[];
  arrivals: number;
}

/** Makes `count` calls over such a network in virtual time, until nothing moves any more. */
function callOver(conditions: NetworkConditions, seed: number, count: number) {
  const clock = new VirtualClock();
  const network = new SimulatedNetwork(clock, seed, conditions);
  const chance = seededChance(seed + 1);
  const fates = new Map<string, Fate>();
  const legs = new Map<OutgoingCall, Fate>();
  const caller = attachAgent(
    network,
    clock,
    { address: "10.0.0.1", port: 5060 },
    {
      seed: seed + 2,
      perform(output) {
        if (output.type !== "leg-event") return;
        const fate = legs.get(output.call)!;
        fate.leg.push(output.event);
        const { call } = output;
        if (output.event.type === "leg-answered" && fate.plan === "caller ends") {
          clock.alarm(clock.now() + 5000, () => caller.order(() => call.hangUp()));
        }
      },
    },
  );
  const callee = attachAgent(
    network,
    clock,
    { address: "10.0.0.2", port: 5060 },
    {
      seed: seed + 3,
      perform(output) {
        if (output.type === "call-received") {
          const { call } = output;
          const fate = fates.get(call.callId)!;
          fate.arrivals += 1;
          const later = (ms: number, act: () => void) =>
            clock.alarm(clock.now() + ms, () => callee.order(act));
          later(200, () => call.ring());
          if (fate.plan === "refused") later(2000, () => call.reject(486));
          else if (fate.plan !== "cancelled") later(2000, () => call.answer(media("10.0.0.2")));
          if (fate.plan === "callee ends") later(40_000, () => call.hangUp());
        }
        if (output.type === "call-event") fates.get(output.call.callId)!.received.push(output.event);
      },
    },
  );
  const plans: readonly Plan[] = ["caller ends", "callee ends", "refused", "cancelled"];
  for (let n = 0; n < count; n++) {
    const callId = `call-${n}@test`;
    const fate: Fate = { plan: plans[n % 4]!, leg: [], received: [], arrivals: 0 };
    fates.set(callId, fate);
    clock.advance(chance() * 100);
    caller.order((agent) => {
      const call = agent.prepare({
        host: "10.0.0.2",
        port: 5060,
        number: `+3460000${1000 + n}`,
        callerId: "+34911222333",
        callId,
        media: media("10.0.0.1"),
        ringTimeoutMs: fate.plan === "cancelled" ? 8000 : 60_000,
      });
      legs.set(call, fate);
      agent.send(call, callee.address);
    });
  }
  clock.advance(300_000);
  return { fates: [...fates.values()], caller, callee };
}

const last = <T>(list: readonly T[]): T => list.at(-1)!;

describe("over a network that loses 5 %, doubles 2 % and reorders 3 %", () => {
  const { fates, caller, callee } = callOver(bad, 20_261_121, 500);

  it("every INVITE makes exactly one call", () => {
    expect(fates.map((fate) => fate.arrivals)).toEqual(fates.map(() => 1));
  });

  it("every call that is to be answered is answered, and ends as planned on both sides", () => {
    for (const fate of fates.filter(({ plan }) => plan.endsWith("ends"))) {
      const types = fate.leg.map((event) => event.type);
      expect(types.filter((type) => type === "leg-answered")).toHaveLength(1);
      const end = last(fate.leg);
      expect(end).toMatchObject({
        type: "leg-ended",
        end: { answered: true, by: fate.plan === "caller ends" ? "us" : "them" },
      });
      expect(last(fate.received)).toEqual({
        type: "ended",
        by: fate.plan === "caller ends" ? "them" : "us",
      });
    }
  });

  it("every refusal arrives as such, and every ring timeout as ours", () => {
    for (const fate of fates.filter(({ plan }) => plan === "refused")) {
      expect(last(fate.leg)).toMatchObject({ type: "leg-ended", end: { by: "them", status: 486 } });
      expect(fate.received).toEqual([{ type: "ended", by: "us" }]);
    }
    for (const fate of fates.filter(({ plan }) => plan === "cancelled")) {
      expect(last(fate.leg)).toMatchObject({
        type: "leg-ended",
        end: { by: "us", ourAct: "ring-timeout", status: 487, answered: false },
      });
      expect(fate.received).toEqual([{ type: "cancelled" }]);
    }
  });

  it("every call tells its end exactly once, last", () => {
    for (const fate of fates) {
      expect(fate.leg.filter((event) => event.type === "leg-ended")).toHaveLength(1);
      expect(last(fate.leg).type).toBe("leg-ended");
      const ends = fate.received.filter(({ type }) => type === "ended" || type === "cancelled");
      expect(ends).toHaveLength(1);
    }
  });

  it("nothing is kept of them in the end", () => {
    expect([caller.agent.size, callee.agent.size]).toEqual([0, 0]);
    expect([caller.agent.deadline(), callee.agent.deadline()]).toEqual([Infinity, Infinity]);
  });
});

describe("over a network that loses every fifth datagram", () => {
  const { fates, caller, callee } = callOver({ ...bad, loss: 0.2 }, 7, 800);

  it("at least 99.5 % of the calls that are to be answered are", () => {
    const wanted = fates.filter(({ plan }) => plan.endsWith("ends"));
    const answered = wanted.filter(({ leg }) => leg.some((event) => event.type === "leg-answered"));
    expect(answered.length / wanted.length).toBeGreaterThanOrEqual(0.995);
  });

  it("no INVITE makes two calls, and no call stays behind", () => {
    for (const fate of fates) {
      expect(fate.arrivals).toBeLessThanOrEqual(1);
      expect(fate.leg.filter((event) => event.type === "leg-ended")).toHaveLength(1);
    }
    expect([caller.agent.size, callee.agent.size]).toEqual([0, 0]);
  });
});
