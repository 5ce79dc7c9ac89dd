import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { negotiation, startNegotiation, type NegotiationInput } from "../../src/sip/negotiation.ts";

/** Feeds the machine; what it does comes as `moment effect`. */
function feed(inputs: readonly (readonly [number, NegotiationInput["type"], number?])[], asking = false) {
  const done: string[] = [];
  let { state } = startNegotiation(asking);
  const step = (input: NegotiationInput | { readonly type: "tick" }, at: number) => {
    const next = negotiation.step(state, input, at);
    state = next.state;
    for (const effect of next.effects) {
      done.push(`${at} ${effect.type}${effect.type === "settle" ? ` ${effect.agreed}` : ""}`);
    }
  };
  for (const [at, type, pauseMs = 0] of inputs) {
    for (let due = negotiation.deadline(state); due <= at; due = negotiation.deadline(state)) {
      step({ type: "tick" }, due);
    }
    step(type === "collided" ? { type, pauseMs } : { type }, at);
  }
  for (let due = negotiation.deadline(state); due < Infinity; due = negotiation.deadline(state)) {
    step({ type: "tick" }, due);
  }
  return { done, over: negotiation.isOver(state) };
}

describe("asking the peer for another session", () => {
  it("happens at once, and what is wanted meanwhile is asked after the answer", () => {
    const { done } = feed([
      [0, "wanted"],
      [5, "wanted"],
      [6, "wanted"],
      [10, "agreed"],
      [20, "refused"],
    ]);
    expect(done).toEqual(["0 ask", "10 settle true", "10 ask", "20 settle false"]);
  });

  it("waits for the INVITE that began the call, and for one of the peer's", () => {
    expect(feed([[1, "wanted"]], true).done).toEqual([]);
    expect(
      feed(
        [
          [1, "wanted"],
          [9, "agreed"],
        ],
        true,
      ).done,
    ).toEqual(["9 settle true", "9 ask"]);
    expect(
      feed([
        [0, "peer-busy"],
        [1, "wanted"],
        [7, "peer-free"],
      ]).done,
    ).toEqual(["7 ask"]);
  });

  it("is done again after a collision when its time has come, and not while the peer asks", () => {
    expect(
      feed([
        [0, "wanted"],
        [3, "collided", 2500],
        [99, "wanted"],
      ]).done,
    ).toEqual(["0 ask", "2503 ask"]);
    const crossed = feed([
      [0, "wanted"],
      [3, "collided", 2500],
      [10, "peer-busy"],
      [4000, "peer-free"],
    ]);
    expect(crossed.done).toEqual(["0 ask", "4000 ask"]);
  });

  it("is given up after the seventh collision", () => {
    const inputs = Array.from({ length: 7 }, (_, index) => [index * 10 + 5, "collided", 1] as const);
    const { done } = feed([[0, "wanted"], ...inputs, [500, "tick" as "wanted"]]);
    expect(done.filter((effect) => effect.endsWith("ask"))).toHaveLength(7);
    expect(done.at(-1)).toBe("65 settle false");
  });

  it("stops with the call", () => {
    expect(
      feed([
        [0, "peer-busy"],
        [1, "wanted"],
        [2, "ended"],
        [3, "peer-free"],
        [4, "wanted"],
      ]),
    ).toEqual({
      done: [],
      over: true,
    });
  });

  it("never has two questions out, nor one while the peer asks, and settles each", () => {
    const input = fc.tuple(
      fc.integer({ min: 0, max: 3000 }),
      fc.constantFrom(...(["wanted", "agreed", "refused", "collided", "peer-busy", "peer-free"] as const)),
      fc.integer({ min: 0, max: 4000 }),
    );
    fc.assert(
      fc.property(fc.array(input, { maxLength: 40 }), (steps) => {
        let { state } = startNegotiation(false);
        let at = 0;
        let out = false;
        let busy = false;
        const step = (one: NegotiationInput | { readonly type: "tick" }) => {
          if (one.type === "peer-busy") busy = true;
          if (one.type === "peer-free") busy = false;
          if (one.type === "collided") out = false;
          const next = negotiation.step(state, one, at);
          state = next.state;
          for (const effect of next.effects) {
            if (effect.type === "settle") {
              expect(out).toBe(true);
              out = false;
            } else {
              expect(out).toBe(false);
              expect(busy).toBe(false);
              out = true;
            }
          }
        };
        for (const [pause, type, pauseMs] of steps) {
          at += pause;
          if (negotiation.deadline(state) <= at) step({ type: "tick" });
          // Answers come to a question that is out only.
          if (!out && (type === "agreed" || type === "refused" || type === "collided")) continue;
          step(type === "collided" ? { type, pauseMs } : { type });
        }
      }),
    );
  });
});
