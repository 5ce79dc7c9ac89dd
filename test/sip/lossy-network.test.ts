import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { IncomingCallEvent, LegEvent, LineMedia, LocalMedia, OutgoingCall, ReceivedCall } from "#sip";
import type { Direction } from "../../src/sip/sdp-media.ts";
import {
  attachAgent,
  seededChance,
  SimulatedNetwork,
  type NetworkConditions,
  type NetworkedAgent,
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

interface Life {
  readonly leg: LegEvent[];
  readonly received: IncomingCallEvent[];
}

/**
 * Makes `count` calls of four minutes over such a network: each is refreshed every 45 s, by the caller or by the callee,
 * held and taken back twice by its caller and once by its callee, partly at the same moments, and then hung up.
 */
function liveOver(conditions: NetworkConditions, seed: number, count: number) {
  const clock = new VirtualClock();
  const network = new SimulatedNetwork(clock, seed, conditions);
  const chance = seededChance(seed + 1);
  const lives = new Map<string, Life>();
  const later = (party: NetworkedAgent, ms: number, act: () => void) =>
    clock.alarm(clock.now() + ms, () => party.order(act));
  const caller: NetworkedAgent = attachAgent(
    network,
    clock,
    { address: "10.0.0.1", port: 5060 },
    {
      seed: seed + 2,
      perform(output) {
        if (output.type !== "leg-event") return;
        const { call, event } = output;
        lives.get(call.callId)!.leg.push(event);
        if (event.type !== "leg-answered") return;
        for (const at of [20_000, 120_000]) {
          later(caller, at, () => call.hold());
          later(caller, at + 40_000, () => call.resume());
        }
        later(caller, 240_000, () => call.hangUp());
      },
    },
  );
  const callee: NetworkedAgent = attachAgent(
    network,
    clock,
    { address: "10.0.0.2", port: 5060 },
    {
      seed: seed + 3,
      perform(output) {
        if (output.type === "call-event") lives.get(output.call.callId)!.received.push(output.event);
        if (output.type !== "call-received") return;
        const { call } = output;
        later(callee, 200, () => call.ring());
        later(callee, 2000, () => call.answer(media("10.0.0.2")));
        const at = 22_000 + chance() * 200; // As the caller holds: many offers cross.
        later(callee, at, () => call.hold());
        later(callee, at + 150_000, () => call.resume());
      },
    },
  );
  for (let n = 0; n < count; n++) {
    const callId = `life-${n}@test`;
    lives.set(callId, { leg: [], received: [] });
    clock.advance(chance() * 100);
    caller.order((agent) => {
      const refresher = n % 2 === 0 ? ("us" as const) : ("them" as const);
      const call = agent.prepare({
        host: "10.0.0.2",
        port: 5060,
        number: `+3460000${1000 + n}`,
        callerId: "+34911222333",
        callId,
        media: media("10.0.0.1"),
        ringTimeoutMs: 60_000,
        sessionTimer: { expiresS: 90, minimumS: 90, refresher },
      });
      agent.send(call, callee.address);
    });
  }
  clock.advance(400_000);
  return { lives: [...lives.values()], caller, callee, sent: network.sent };
}

describe("long calls over a network that loses 5 %, doubles 2 % and reorders 3 %", () => {
  const { lives, caller, callee, sent } = liveOver(bad, 42, 500);
  const count = (start: string) => sent.filter(({ text }) => text.startsWith(start)).length;

  it("live until their caller hangs up, through all refreshes, holds and collisions", () => {
    for (const { leg, received } of lives) {
      expect(last(leg)).toMatchObject({
        type: "leg-ended",
        end: { by: "us", ourAct: "hang-up", answered: true },
      });
      expect(last(received)).toEqual({ type: "ended", by: "them" });
    }
  });

  it("settle every wish of both sides as agreed, and end with audio both ways", () => {
    for (const { leg, received } of lives) {
      const ours = leg.flatMap((event) => (event.type === "leg-offer-settled" ? [event.agreed] : []));
      const theirs = received.flatMap((event) => (event.type === "offer-settled" ? [event.agreed] : []));
      expect(ours).toEqual([true, true, true, true]);
      expect(theirs).toEqual([true, true]);
      const seen = leg.flatMap((event) => (event.type === "leg-media-changed" ? [event.media] : []));
      expect(last(seen).audio.direction).toBe("sendrecv");
      const heard = received.flatMap((event) => (event.type === "media-changed" ? [event.media] : []));
      expect(last(heard).audio.direction).toBe("sendrecv");
    }
  });

  it("were refreshed by both sides, and their offers did cross", () => {
    const refreshes = sent.filter(({ text }) => text.startsWith("UPDATE "));
    for (const { address } of [caller.address, callee.address]) {
      expect(refreshes.filter(({ from }) => from.address === address).length).toBeGreaterThan(500);
    }
    expect(count("SIP/2.0 491")).toBeGreaterThan(20);
    expect(count("SIP/2.0 481")).toBe(0);
  });

  it("nothing is kept of them in the end", () => {
    expect([caller.agent.size, callee.agent.size]).toEqual([0, 0]);
    expect([caller.agent.deadline(), callee.agent.deadline()]).toEqual([Infinity, Infinity]);
  });
});

describe("two sides that change a session at random", () => {
  const mirrored: Readonly<Record<Direction, Direction>> = {
    sendrecv: "sendrecv",
    sendonly: "recvonly",
    recvonly: "sendonly",
    inactive: "inactive",
  };
  const wish = fc.record({
    at: fc.integer({ min: 0, max: 12_000 }),
    by: fc.constantFrom("caller" as const, "callee" as const),
    act: fc.constantFrom("hold" as const, "resume" as const, "offer" as const),
    port: fc.integer({ min: 2000, max: 3000 }),
  });

  it("agree in the end on who sends what to where", () => {
    fc.assert(
      fc.property(fc.nat(), fc.array(wish, { minLength: 1, maxLength: 12 }), (seed, wishes) => {
        const clock = new VirtualClock();
        const network = new SimulatedNetwork(clock, seed, { ...bad, loss: 0.1 });
        const now: { ours?: LineMedia; theirs?: LineMedia } = {};
        let theirs: ReceivedCall | undefined;
        const ends: string[] = [];
        const caller = attachAgent(
          network,
          clock,
          { address: "10.0.0.1", port: 5060 },
          {
            seed,
            perform(output) {
              if (output.type !== "leg-event") return;
              if ("media" in output.event) now.ours = output.event.media;
              if (output.event.type === "leg-ended") ends.push(output.event.type);
            },
          },
        );
        const callee: NetworkedAgent = attachAgent(
          network,
          clock,
          { address: "10.0.0.2", port: 5060 },
          {
            seed: seed + 1,
            perform(output) {
              if (output.type === "call-received") {
                theirs = output.call;
                const agreed = callee.order(() => output.call.answer(media("10.0.0.2")));
                if (agreed !== undefined) now.theirs = agreed;
              }
              if (output.type === "call-event" && output.event.type === "media-changed") {
                now.theirs = output.event.media;
              }
            },
          },
        );
        const ours = caller.order((agent) => {
          const identity = {
            host: "10.0.0.2",
            port: 5060,
            number: "1",
            callerId: "2",
            callId: `random-${seed}`,
          };
          const call = agent.prepare({ ...identity, media: media("10.0.0.1"), ringTimeoutMs: 60_000 });
          agent.send(call, callee.address);
          return call;
        });
        clock.advance(60_000);
        for (const { at, by, act, port } of wishes) {
          const local = { ...media(by === "caller" ? "10.0.0.1" : "10.0.0.2"), audioPort: port };
          const party = by === "caller" ? caller : callee;
          clock.alarm(clock.now() + at, () =>
            party.order(() => {
              const call = by === "caller" ? ours : theirs;
              if (act === "offer") call?.offer(local);
              else call?.[act]();
            }),
          );
        }
        clock.advance(100_000);
        expect(ends).toEqual([]);
        expect(now.theirs?.audio.direction).toBe(mirrored[now.ours!.audio.direction]);
        const latest = (by: "caller" | "callee") =>
          wishes
            .filter((one) => one.by === by && one.act === "offer")
            .toSorted((a, b) => a.at - b.at)
            .at(-1)?.port;
        expect(now.theirs!.audio.remote.port).toBe(latest("caller") ?? 4000);
        expect(now.ours!.audio.remote.port).toBe(latest("callee") ?? 4000);
      }),
      { numRuns: 60 },
    );
  });
});
