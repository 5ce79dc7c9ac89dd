import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { callStates } from "../../src/domain/call.ts";
import {
  asksForSuppression,
  blamesTrunk,
  mayRecall,
  outcomeOf,
  outcomeOfLegEnd,
  type EndOfLeg,
} from "../../src/domain/outcome.ts";
import { isFinal } from "../../src/domain/status.ts";

const failed: EndOfLeg = { by: "them", answered: false, ringing: false };
const answered: EndOfLeg = { by: "them", answered: true, ringing: true };

type Row = readonly [string, Partial<EndOfLeg>, string, string, "again" | "settled", "contact" | "trunk"];

/** Each row of the failure table: SIP status, Q.850 cause and words → state, cause, recall, whose fault. */
const table: readonly Row[] = [
  ["486", { status: 486 }, "busy", "busy", "again", "contact"],
  ["600", { status: 600, q850: 17 }, "busy", "busy", "again", "contact"],
  ["480 after 180", { status: 480, ringing: true }, "no-answer", "no-answer", "again", "contact"],
  ["480 with cause 19", { status: 480, q850: 19 }, "no-answer", "no-answer", "again", "contact"],
  ["480 with cause 18", { status: 480, q850: 18 }, "no-answer", "no-answer", "again", "contact"],
  ["480 without 18x", { status: 480 }, "no-answer", "unreachable", "again", "contact"],
  [
    "480 with cause 20",
    { status: 480, q850: 20, ringing: true },
    "no-answer",
    "unreachable",
    "again",
    "contact",
  ],
  ["480 with cause 31", { status: 480, q850: 31 }, "no-answer", "unreachable", "again", "contact"],
  ["408 after 18x", { status: 408, ringing: true, q850: 102 }, "no-answer", "no-answer", "again", "contact"],
  ["408 without 18x", { status: 408 }, "failed", "trunk-timeout", "again", "trunk"],
  ["timer B", { by: "nobody", failure: "timeout" }, "failed", "trunk-timeout", "again", "trunk"],
  ["no connection", { by: "nobody", failure: "transport" }, "failed", "trunk-unreachable", "again", "trunk"],
  [
    "silence after ringing",
    { by: "nobody", failure: "timeout", ringing: true },
    "no-answer",
    "no-answer",
    "again",
    "contact",
  ],
  ["404", { status: 404 }, "wrong-number", "unallocated", "settled", "contact"],
  ["404 with cause 1", { status: 404, q850: 1 }, "wrong-number", "unallocated", "settled", "contact"],
  ["604", { status: 604 }, "wrong-number", "unallocated", "settled", "contact"],
  ["404 with cause 3", { status: 404, q850: 3 }, "failed", "no-route", "settled", "trunk"],
  ["404 with cause 2", { status: 404, q850: 2 }, "failed", "no-route", "settled", "trunk"],
  [
    "404 No route",
    { status: 404, reason: "No route to destination" },
    "failed",
    "no-route",
    "settled",
    "trunk",
  ],
  ["404 D40", { status: 404, reason: "Not found D40" }, "failed", "no-route", "settled", "trunk"],
  ["404 D18", { status: 404, reason: "Account D18" }, "failed", "no-route", "settled", "trunk"],
  ["410", { status: 410, q850: 22 }, "wrong-number", "number-changed", "settled", "contact"],
  ["301", { status: 301 }, "wrong-number", "number-changed", "settled", "contact"],
  ["484", { status: 484, q850: 28 }, "wrong-number", "incomplete-number", "settled", "contact"],
  ["485", { status: 485 }, "wrong-number", "ambiguous-number", "settled", "contact"],
  ["416", { status: 416 }, "wrong-number", "ambiguous-number", "settled", "contact"],
  [
    "400 invalid phone number",
    { status: 400, reason: "Invalid phone number" },
    "wrong-number",
    "invalid-number",
    "settled",
    "contact",
  ],
  [
    "403 D11",
    { status: 403, reason: "Forbidden D11" },
    "wrong-number",
    "invalid-number",
    "settled",
    "contact",
  ],
  ["400", { status: 400, q850: 127 }, "failed", "protocol-error", "settled", "contact"],
  ...[405, 414, 420, 421, 422, 481, 482, 483, 491, 505, 513].map((status): Row => [
    String(status),
    { status },
    "failed",
    "protocol-error",
    "settled",
    "contact",
  ]),
  ["401 after a retry", { status: 401, q850: 21 }, "failed", "auth-failed", "settled", "trunk"],
  ["407 after a retry", { status: 407 }, "failed", "auth-failed", "settled", "trunk"],
  [
    "credentials that fit nothing",
    { by: "nobody", failure: "auth" },
    "failed",
    "auth-failed",
    "settled",
    "trunk",
  ],
  ["402", { status: 402 }, "failed", "trunk-payment", "settled", "trunk"],
  [
    "403 D35",
    { status: 403, q850: 21, reason: "Caller ID D35" },
    "failed",
    "trunk-forbidden",
    "settled",
    "trunk",
  ],
  ["403 with cause 57", { status: 403, q850: 57 }, "failed", "trunk-forbidden", "settled", "trunk"],
  ["403 D1", { status: 403, reason: "D1 channels" }, "failed", "congestion", "again", "trunk"],
  ["403 D22", { status: 403, reason: "D22" }, "failed", "congestion", "again", "trunk"],
  [
    "403 channel limit",
    { status: 403, reason: "Channel limit exceeded" },
    "failed",
    "congestion",
    "again",
    "trunk",
  ],
  ...[500, 502, 503, 504, 580].map((status): Row => [
    String(status),
    { status },
    "failed",
    "congestion",
    "again",
    "trunk",
  ]),
  ...[34, 38, 41, 42, 44, 47].map((q850): Row => [
    `503 with cause ${q850}`,
    { status: 503, q850 },
    "failed",
    "congestion",
    "again",
    "trunk",
  ]),
  ["503 with cause 17", { status: 503, q850: 17 }, "busy", "busy", "again", "contact"],
  ...[428, 436, 437, 438].map((status): Row => [
    String(status),
    { status },
    "failed",
    "identity-refused",
    "settled",
    "trunk",
  ]),
  ...[488, 606, 415].map((status): Row => [
    String(status),
    { status },
    "failed",
    "no-codec",
    "settled",
    "contact",
  ]),
  ["cause 88", { status: 500, q850: 88 }, "failed", "no-codec", "settled", "contact"],
  [
    "487 that we did not ask for",
    { status: 487, q850: 16 },
    "no-answer",
    "cancelled-remotely",
    "again",
    "contact",
  ],
  ["603", { status: 603, q850: 21 }, "busy", "declined", "settled", "contact"],
  ["486 with cause 21", { status: 486, q850: 21 }, "busy", "declined", "settled", "contact"],
  [
    "603 Network Blocked",
    { status: 603, reason: "Network Blocked", q850: 21 },
    "failed",
    "blocked-as-spam",
    "settled",
    "contact",
  ],
  ["608", { status: 608, q850: 21 }, "failed", "blocked-as-spam", "settled", "contact"],
  ["607", { status: 607 }, "failed", "unwanted", "settled", "contact"],
  ["302", { status: 302 }, "failed", "redirected", "settled", "contact"],
  ["no common codec", { by: "nobody", failure: "media" }, "failed", "no-codec", "settled", "contact"],
];

describe("an attempt that was not answered", () => {
  test.each(table)("%s", (_, end, state, cause, recall, fault) => {
    const outcome = outcomeOfLegEnd({ ...failed, ...end });
    expect([outcome.state, outcome.cause]).toEqual([state, cause]);
    expect(mayRecall(outcome)).toBe(recall === "again");
    expect(blamesTrunk(outcome)).toBe(fault === "trunk");
  });

  test("our own act comes before whatever the network says", () => {
    const crossing = { ...failed, by: "us", ringing: true, status: 486, q850: 17 } as const;
    expect(outcomeOfLegEnd({ ...crossing, ourAct: "ring-timeout" })).toMatchObject({
      state: "no-answer",
      cause: "ring-timeout",
    });
    expect(outcomeOfLegEnd({ ...crossing, ourAct: "cancel" })).toMatchObject({
      state: "cancelled",
      hungUpBy: "operator",
    });
  });

  test("the evidence is kept", () => {
    expect(outcomeOfLegEnd({ ...failed, status: 486, reason: "Busy Here", q850: 17 })).toMatchObject({
      sipStatus: 486,
      sipReason: "Busy Here",
      q850: 17,
    });
  });
});

describe("an attempt that was answered", () => {
  test("ends closed by whoever hung up, and is never recalled", () => {
    const ends = [
      outcomeOfLegEnd(answered),
      outcomeOfLegEnd({ ...answered, by: "us", ourAct: "hang-up" }),
      outcomeOfLegEnd({ ...answered, by: "us", ourAct: "cancel" }),
    ];
    expect(ends.map(({ state, hungUpBy }) => [state, hungUpBy])).toEqual([
      ["closed", "callee"],
      ["closed", "agent"],
      ["closed", "operator"],
    ]);
    expect(ends.map(mayRecall)).toEqual([false, false, false]);
  });

  test.each([38, 41, 127])(
    "a BYE with cause %i is a drop: failed when short, closed after a conversation",
    (q850) => {
      expect(outcomeOfLegEnd({ ...answered, q850 }, 2_000)).toMatchObject({
        state: "failed",
        cause: "dropped",
      });
      expect(outcomeOfLegEnd({ ...answered, q850 }, 60_000)).toMatchObject({
        state: "closed",
        cause: "dropped",
      });
    },
  );

  test("no sound is the trunk's fault and may be tried again", () => {
    const outcome = outcomeOfLegEnd({ ...answered, by: "nobody", failure: "media" });
    expect([outcome.state, mayRecall(outcome), blamesTrunk(outcome)]).toEqual(["failed", true, true]);
  });
});

describe("outcomes by name", () => {
  test.each([
    ["voicemail", "voicemail", true],
    ["fax", "wrong-number", false],
    ["completed", "closed", false],
    ["opted-out", "closed", false],
    ["follow-up", "manual", false],
    ["interrupted", "manual", false],
  ] as const)("%s is %s", (cause, state, recall) => {
    const outcome = outcomeOf(cause, { hungUpBy: "agent" });
    expect([outcome.state, outcome.hungUpBy, mayRecall(outcome)]).toEqual([state, "agent", recall]);
  });

  test("only an opt-out and 607 put the number on the do-not-call list", () => {
    expect(asksForSuppression(outcomeOf("opted-out"))).toBe(true);
    expect(asksForSuppression(outcomeOfLegEnd({ ...failed, status: 607 }))).toBe(true);
    expect(asksForSuppression(outcomeOf("declined"))).toBe(false);
  });

  test("a cause that nobody knows is neither recalled nor blamed on a trunk", () => {
    const odd = { state: "failed", cause: "constructor" } as const;
    expect([mayRecall(odd), blamesTrunk(odd)]).toEqual([false, false]);
  });
});

test("whatever a peer sends, an attempt ends in one final state with a cause and a sentence", () => {
  const ends = fc.record(
    {
      by: fc.constantFrom("us", "them", "nobody"),
      answered: fc.boolean(),
      ringing: fc.boolean(),
      ourAct: fc.constantFrom("hang-up", "ring-timeout", "cancel"),
      status: fc.integer({ min: 100, max: 699 }),
      reason: fc.string(),
      q850: fc.integer({ min: -5, max: 200 }),
      failure: fc.constantFrom("timeout", "transport", "auth", "media"),
    },
    { requiredKeys: ["by", "answered", "ringing"] },
  );
  fc.assert(
    fc.property(ends, fc.nat(), (end, talkedMs) => {
      const outcome = outcomeOfLegEnd(end, talkedMs);
      expect(callStates).toContain(outcome.state);
      expect(isFinal(outcome.state)).toBe(true);
      expect(outcome.cause).toMatch(/^[a-z]+(-[a-z]+)*$/);
      expect(outcome.detail).toMatch(/\.$/);
      if (end.answered && outcome.cause !== "no-media") expect(mayRecall(outcome)).toBe(false);
    }),
  );
});
