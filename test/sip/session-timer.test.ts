import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { agreedInterval, grantInterval, longerInterval } from "../../src/sip/session-expires.ts";
import { sessionTimer, startSessionTimer, type SessionTimerInput } from "../../src/sip/session-timer.ts";
import { request, responseTo } from "../../src/sip/compose.ts";

/** Runs the machine from 0: inputs at their moments, ticks at its deadlines, until nothing is left to do. */
function run(inputs: readonly { readonly at: number; readonly input: SessionTimerInput }[]) {
  const queue = [...inputs];
  const done: { at: number; effect: string }[] = [];
  let { state } = startSessionTimer();
  for (let guard = 0; guard < 1000; guard++) {
    const next = queue[0];
    const deadline = sessionTimer.deadline(state);
    if (next === undefined && deadline === Infinity) break;
    const byInput = next !== undefined && next.at <= deadline;
    const now = byInput ? next.at : deadline;
    const step = sessionTimer.step(state, byInput ? queue.shift()!.input : { type: "tick" }, now);
    state = step.state;
    done.push(...step.effects.map((effect) => ({ at: now, effect: effect.type })));
  }
  return { done, over: sessionTimer.isOver(state) };
}

const agreed = (at: number, intervalS: number, byUs: boolean) => ({
  at,
  input: { type: "agreed", intervalMs: intervalS * 1000, byUs } as const,
});

describe("a session timer", () => {
  it("of ours refreshes at half the interval and ends the session 32 s before its end", () => {
    expect(run([agreed(0, 1800, true)])).toEqual({
      done: [
        { at: 900_000, effect: "refresh" },
        { at: 1_768_000, effect: "expire" },
      ],
      over: true,
    });
  });

  it("of a short interval ends the session when two thirds of it are over", () => {
    expect(run([agreed(0, 90, true)]).done).toEqual([
      { at: 45_000, effect: "refresh" },
      { at: 60_000, effect: "expire" },
    ]);
  });

  it("of the peer only expires, and not before 60 s whatever the peer promised", () => {
    expect(run([agreed(0, 1800, false)]).done).toEqual([{ at: 1_768_000, effect: "expire" }]);
    expect(run([agreed(0, 3, false)]).done).toEqual([{ at: 60_000, effect: "expire" }]);
  });

  it("starts again with every agreement, and stops without one", () => {
    expect(run([agreed(0, 90, true), agreed(45_001, 90, false)]).done).toEqual([
      { at: 45_000, effect: "refresh" },
      { at: 105_001, effect: "expire" },
    ]);
    expect(run([agreed(0, 90, true), { at: 10, input: { type: "dropped" } }])).toEqual({
      done: [],
      over: false,
    });
    expect(run([agreed(0, 90, false), { at: 10, input: { type: "ended" } }])).toEqual({
      done: [],
      over: true,
    });
  });

  it("tries a refresh again that failed, at half of what is left, but not within 5 s", () => {
    const failed = (at: number) => ({ at, input: { type: "refresh-failed" } as const });
    const { done } = run([agreed(0, 90, true), failed(46_000), failed(53_100)]);
    expect(done.map(({ at, effect }) => `${effect} ${at}`)).toEqual([
      "refresh 45000",
      "refresh 53000",
      "refresh 58100",
      "expire 60000",
    ]);
  });

  it("never refreshes more often than every 5 s, and always ends in time, whatever happens", () => {
    const input = fc.oneof(
      fc.record({
        type: fc.constant("agreed" as const),
        intervalMs: fc.integer({ min: 0, max: 200_000 }),
        byUs: fc.boolean(),
      }),
      fc.record({ type: fc.constantFrom("refresh-failed" as const, "dropped" as const) }),
    );
    fc.assert(
      fc.property(
        fc.array(fc.tuple(fc.integer({ min: 0, max: 60_000 }), input), { maxLength: 30 }),
        (steps) => {
          let at = 0;
          const inputs = steps.map(([pause, one]) => ({ at: (at += pause), input: one }));
          const { done, over } = run(inputs);
          const agreements = inputs.filter(
            ({ input: one }) => one.type === "agreed" || one.type === "dropped",
          );
          if (agreements.at(-1)?.input.type === "agreed") expect(over).toBe(true);
          expect(done.filter(({ effect }) => effect === "expire").length).toBeLessThanOrEqual(1);
          const refreshes = done.filter(({ effect }) => effect === "refresh").map((one) => one.at);
          for (const [index, moment] of refreshes.entries()) {
            const before = refreshes[index - 1];
            if (before !== undefined) expect(moment - before).toBeGreaterThanOrEqual(5_000);
          }
        },
      ),
    );
  });
});

describe("the interval of a session", () => {
  const policy = { expiresS: 1800, minimumS: 90 };
  const invite = (headers: Readonly<Record<string, string>>) =>
    request(
      "INVITE",
      "sip:a@b",
      Object.entries(headers).map(([name, value]) => ({ name, value })),
    );
  const value = (granted: ReturnType<typeof grantInterval>) =>
    granted.headers.map((line) => `${line.name}: ${line.value}`);
  const ok = (expires?: string) =>
    responseTo(invite({}), 200, {
      headers: expires === undefined ? [] : [{ name: "Session-Expires", value: expires }],
    });

  it.each([
    ["as asked", { Supported: "timer", "Session-Expires": "300;refresher=uac" }, "300;refresher=uac"],
    ["as asked of us", { Supported: "timer", "Session-Expires": "300 ; refresher=uas" }, "300;refresher=uas"],
    [
      "refreshed by us when nobody is named",
      { Supported: "timer", "Session-Expires": "300" },
      "300;refresher=uas",
    ],
    ["ours when none is asked for", { Supported: "timer" }, "1800;refresher=uas"],
    ["at least the peer's minimum", { Supported: "timer", "Min-SE": "3600" }, "3600;refresher=uas"],
  ])("is granted %s", (_, headers, expires) => {
    expect(value(grantInterval(invite(headers), policy, "new"))).toEqual([
      "Require: timer",
      `Session-Expires: ${expires}`,
    ]);
  });

  it("of a peer that knows no timers is ours to refresh, and none at all when nobody asks", () => {
    const asked = grantInterval(invite({ "Session-Expires": "300;refresher=uac" }), policy, "new");
    expect(value(asked)).toEqual(["Session-Expires: 300;refresher=uas"]);
    expect(grantInterval(invite({}), policy, "new")).toEqual({ headers: [] });
  });

  it("stays as it is, with its refresher, when a request in the call names none", () => {
    const inForce = { intervalS: 400, byUs: false };
    const granted = grantInterval(invite({ Supported: "timer" }), policy, inForce);
    expect(granted.interval).toEqual(inForce);
    expect(grantInterval(invite({ Supported: "timer" }), policy, undefined)).toEqual({ headers: [] });
  });

  it("of a 2xx is ours to refresh unless it says that the other side does", () => {
    expect(agreedInterval(ok("300;refresher=uac"))).toEqual({ intervalS: 300, byUs: true });
    expect(agreedInterval(ok("300;refresher=uas"))).toEqual({ intervalS: 300, byUs: false });
    expect(agreedInterval(ok("300"))).toEqual({ intervalS: 300, byUs: true });
    expect(agreedInterval(ok("99999999999;refresher=uas"))).toEqual({ intervalS: 1_000_000, byUs: false });
    for (const nothing of [undefined, "", "x", "-5", "1.5"])
      expect(agreedInterval(ok(nothing))).toBeUndefined();
  });

  it("is raised by a 422 that names a longer one only", () => {
    const refusal = (status: number, minimum: string) =>
      responseTo(invite({}), status, { headers: [{ name: "Min-SE", value: minimum }] });
    expect(longerInterval(refusal(422, "3600"), 1800)).toBe(3600);
    expect(longerInterval(refusal(422, "1800"), 1800)).toBeUndefined();
    expect(longerInterval(refusal(486, "3600"), 1800)).toBeUndefined();
    expect(longerInterval(refusal(422, "never"), 1800)).toBeUndefined();
  });
});
