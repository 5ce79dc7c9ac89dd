import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Machine, Step } from "#base";
import { acceptance, startAcceptance } from "../../src/sip/acceptance.ts";
import { inviteClient, resumeInviteClient, startInviteClient } from "../../src/sip/invite-client.ts";
import { inviteServer, startInviteServer } from "../../src/sip/invite-server.ts";
import { requestClient, startRequestClient } from "../../src/sip/request-client.ts";
import { requestServer, startRequestServer } from "../../src/sip/request-server.ts";

interface Done {
  readonly at: number;
  readonly effect: string;
}

/** Runs a machine from 0 in virtual time: inputs at their moments, ticks at its deadlines; what it did and when it was over. */
function run<State, Input, Effect extends { readonly type: string }>(
  machine: Machine<State, Input, Effect>,
  first: Step<State, Effect>,
  inputs: readonly { readonly at: number; readonly input: Input }[] = [],
): { readonly done: readonly Done[]; readonly overAt: number } {
  const done: Done[] = first.effects.map((effect) => ({ at: 0, effect: nameOf(effect) }));
  const queue = [...inputs].sort((a, b) => a.at - b.at);
  let state = first.state;
  let now = 0;
  for (let guard = 0; guard < 10_000 && !machine.isOver(state); guard++) {
    const next = queue[0];
    const deadline = machine.deadline(state);
    if (next === undefined && deadline === Infinity) break;
    const byInput = next !== undefined && next.at <= deadline;
    now = byInput ? next.at : deadline;
    const step = machine.step(state, byInput ? queue.shift()!.input : { type: "tick" }, now);
    state = step.state;
    done.push(...step.effects.map((effect) => ({ at: now, effect: nameOf(effect) })));
  }
  return { done, overAt: machine.isOver(state) ? now : Infinity };
}

function nameOf(effect: { readonly type: string; readonly reason?: string }): string {
  return effect.reason === undefined ? effect.type : `${effect.type} ${effect.reason}`;
}

const times = (done: readonly Done[], effect: string) =>
  done.filter((one) => one.effect === effect).map((one) => one.at);
const response = (at: number, status: number) => ({ at, input: { type: "response", status } as const });

describe("the INVITE client transaction", () => {
  it("sends an unanswered INVITE seven times, doubling from 500 ms, and gives up after 32 s", () => {
    const { done, overAt } = run(inviteClient, startInviteClient(0));
    expect(times(done, "send-invite")).toEqual([0, 500, 1500, 3500, 7500, 15_500, 31_500]);
    expect(done.at(-1)).toEqual({ at: 32_000, effect: "fail timeout" });
    expect(overAt).toBe(32_000);
  });

  it("stops repeating at the first provisional response and then waits as long as it rings", () => {
    const { done, overAt } = run(inviteClient, startInviteClient(0), [
      response(700, 100),
      response(900, 180),
      response(170_000, 486),
    ]);
    expect(times(done, "send-invite")).toEqual([0, 500]);
    expect(times(done, "pass-up")).toEqual([700, 900, 170_000]);
    expect(times(done, "send-ack")).toEqual([170_000]);
    expect(overAt).toBe(202_000);
  });

  it("acknowledges every copy of a refusal for 32 s and passes it up once", () => {
    const { done, overAt } = run(inviteClient, startInviteClient(0), [
      response(100, 486),
      response(600, 486),
      response(1600, 486),
      response(32_099, 486),
    ]);
    expect(times(done, "send-ack")).toEqual([100, 600, 1600, 32_099]);
    expect(times(done, "pass-up")).toEqual([100]);
    expect(overAt).toBe(32_100);
  });

  it("passes up every 2xx for 32 s and never acknowledges one itself", () => {
    const { done, overAt } = run(inviteClient, startInviteClient(0), [
      response(100, 200),
      response(600, 200),
      response(31_000, 200),
      response(31_001, 486),
    ]);
    expect(times(done, "pass-up")).toEqual([100, 600, 31_000]);
    expect(times(done, "send-ack")).toEqual([]);
    expect(overAt).toBe(32_100);
  });

  it("gives up 32 s after a CANCEL that brings no final response", () => {
    const { done, overAt } = run(inviteClient, startInviteClient(0), [
      response(100, 180),
      { at: 20_000, input: { type: "cancelled" } },
      response(21_000, 180),
    ]);
    expect(done.at(-1)).toEqual({ at: 52_000, effect: "fail timeout" });
    expect(overAt).toBe(52_000);
  });

  it("takes up an INVITE of another process without sending it", () => {
    const { done, overAt } = run(inviteClient, resumeInviteClient(0), [response(400, 487)]);
    expect(done).toEqual([
      { at: 400, effect: "send-ack" },
      { at: 400, effect: "pass-up" },
    ]);
    expect(overAt).toBe(32_400);
  });

  it("fails at once when the INVITE cannot leave, but not once somebody has answered", () => {
    const failed = { at: 501, input: { type: "transport-failed" } as const };
    expect(run(inviteClient, startInviteClient(0), [failed]).done.at(-1)).toEqual({
      at: 501,
      effect: "fail transport",
    });
    const { done } = run(inviteClient, startInviteClient(0), [
      response(100, 180),
      failed,
      response(900, 200),
    ]);
    expect(times(done, "fail transport")).toEqual([]);
    expect(times(done, "pass-up")).toEqual([100, 900]);
  });
});

describe("the client transaction of other requests", () => {
  it("repeats at 500 ms, doubling up to 4 s, and gives up after 32 s", () => {
    const { done, overAt } = run(requestClient, startRequestClient(0));
    expect(times(done, "send-request")).toEqual([
      0, 500, 1500, 3500, 7500, 11_500, 15_500, 19_500, 23_500, 27_500, 31_500,
    ]);
    expect(done.at(-1)).toEqual({ at: 32_000, effect: "fail timeout" });
    expect(overAt).toBe(32_000);
  });

  it("goes on every 4 s after a provisional response", () => {
    const { done } = run(requestClient, startRequestClient(0), [response(600, 100)]);
    expect(times(done, "send-request")).toEqual([
      0, 500, 1500, 5500, 9500, 13_500, 17_500, 21_500, 25_500, 29_500,
    ]);
    expect(done.at(-1)).toEqual({ at: 32_000, effect: "fail timeout" });
  });

  it("absorbs copies of the final response for 5 s", () => {
    const { done, overAt } = run(requestClient, startRequestClient(0), [
      response(200, 200),
      response(900, 200),
    ]);
    expect(times(done, "pass-up")).toEqual([200]);
    expect(overAt).toBe(5200);
  });
});

describe("the INVITE server transaction", () => {
  const answer = (at: number, status: number) => ({ at, input: { type: "respond", status } as const });
  const again = (at: number) => ({ at, input: { type: "request" } as const });
  const ack = (at: number) => ({ at, input: { type: "ack" } as const });

  it("answers 100 at once and a repeated INVITE with the latest response", () => {
    const { done } = run(inviteServer, startInviteServer(), [again(500), answer(600, 180), again(1500)]);
    expect(times(done, "send-response")).toEqual([0, 500, 600, 1500]);
  });

  it("repeats a refusal at 500 ms, doubling up to 4 s, until it gives up after 32 s", () => {
    const { done, overAt } = run(inviteServer, startInviteServer(), [answer(0, 486)]);
    expect(times(done, "send-response")).toEqual([
      0, 0, 500, 1500, 3500, 7500, 11_500, 15_500, 19_500, 23_500, 27_500, 31_500,
    ]);
    expect(done.at(-1)).toEqual({ at: 32_000, effect: "fail timeout" });
    expect(overAt).toBe(32_000);
  });

  it("is silent after the ACK of a refusal and forgets it 5 s later", () => {
    const { done, overAt } = run(inviteServer, startInviteServer(), [
      answer(0, 486),
      again(100),
      ack(200),
      again(300),
      ack(400),
    ]);
    expect(times(done, "send-response")).toEqual([0, 0, 100]);
    expect(overAt).toBe(5200);
  });

  it("absorbs copies of an accepted INVITE for 32 s, sends the 2xx only when told, and passes its ACK on", () => {
    const { done, overAt } = run(inviteServer, startInviteServer(), [
      answer(1000, 200),
      again(1200),
      answer(1500, 200),
      ack(1600),
    ]);
    expect(times(done, "send-response")).toEqual([0, 1000, 1500]);
    expect(times(done, "pass-ack")).toEqual([1600]);
    expect(overAt).toBe(33_000);
  });
});

describe("the server transaction of other requests", () => {
  it("is silent until answered, then answers every copy the same for 32 s", () => {
    const { done, overAt } = run(requestServer, startRequestServer(0), [
      { at: 100, input: { type: "request" } },
      { at: 200, input: { type: "respond", status: 200 } },
      { at: 700, input: { type: "request" } },
      { at: 31_000, input: { type: "request" } },
    ]);
    expect(times(done, "send-response")).toEqual([200, 700, 31_000]);
    expect(overAt).toBe(32_200);
  });
});

describe("the acceptance of an INVITE", () => {
  it("repeats the 2xx at 500 ms, doubling up to 4 s, and gives up after 32 s without ACK", () => {
    const { done, overAt } = run(acceptance, startAcceptance(0));
    expect(times(done, "send-response")).toEqual([
      0, 500, 1500, 3500, 7500, 11_500, 15_500, 19_500, 23_500, 27_500, 31_500,
    ]);
    expect(done.at(-1)).toEqual({ at: 32_000, effect: "give-up" });
    expect(overAt).toBe(32_000);
  });

  it("stops at the ACK", () => {
    const { done } = run(acceptance, startAcceptance(0), [{ at: 600, input: { type: "settled" } }]);
    expect(times(done, "send-response")).toEqual([0, 500]);
  });
});

describe("whatever comes in", () => {
  const at = fc.nat(100_000);
  const status = fc.integer({ min: 100, max: 699 });
  const timed = <Input>(input: fc.Arbitrary<Input>) => fc.array(fc.record({ at, input }), { maxLength: 30 });
  const answered = fc.record({ type: fc.constant("response" as const), status });
  const failed = fc.constant({ type: "transport-failed" as const });

  it("an INVITE client transaction ends, once it was answered finally or cancelled or never answered", () => {
    const input = fc.oneof(answered, failed, fc.constant({ type: "cancelled" as const }));
    fc.assert(
      fc.property(timed(input), (inputs) => {
        const final = { at: 100_001, input: { type: "response", status: 486 } as const };
        const { done, overAt } = run(inviteClient, startInviteClient(0), [...inputs, final]);
        expect(overAt).toBeLessThanOrEqual(100_001 + 32_000);
        expect(done.filter((one) => one.effect.startsWith("fail")).length).toBeLessThanOrEqual(1);
        expect(times(done, "send-invite").length).toBeLessThanOrEqual(7);
      }),
    );
  });

  it("another client transaction ends within 37 s and reports at most one end", () => {
    fc.assert(
      fc.property(timed(fc.oneof(answered, failed)), (inputs) => {
        const { done, overAt } = run(requestClient, startRequestClient(0), inputs);
        expect(overAt).toBeLessThanOrEqual(37_000);
        expect(done.filter((one) => one.effect.startsWith("fail")).length).toBeLessThanOrEqual(1);
      }),
    );
  });

  it("an INVITE server transaction ends within 32 s of its final answer, a refusal's ACK included 37 s", () => {
    const input = fc.oneof(
      fc.constant({ type: "request" as const }),
      fc.constant({ type: "ack" as const }),
      fc.record({ type: fc.constant("respond" as const), status }),
    );
    fc.assert(
      fc.property(timed(input), (inputs) => {
        const final = { at: 100_001, input: { type: "respond", status: 480 } as const };
        const { overAt } = run(inviteServer, startInviteServer(), [...inputs, final]);
        expect(overAt).toBeLessThanOrEqual(100_001 + 37_000);
      }),
    );
  });

  it("a server transaction of another request ends within 32 s of its answer, or unanswered after 32 s", () => {
    const input = fc.oneof(
      fc.constant({ type: "request" as const }),
      fc.record({ type: fc.constant("respond" as const), status }),
    );
    fc.assert(
      fc.property(timed(input), (inputs) => {
        const { overAt } = run(requestServer, startRequestServer(0), inputs);
        expect(overAt).toBeLessThanOrEqual(64_000);
      }),
    );
  });
});
