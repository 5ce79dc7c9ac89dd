import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { outcomeOf } from "../../src/domain/outcome.ts";
import { nextRecallAt, parseRecall } from "../../src/domain/recall.ts";

describe("recall delays", () => {
  test.each([
    [
      [30, 120],
      [30, 120],
    ],
    [
      [120, 30],
      [30, 120],
    ],
    [[0], [0]],
    [[], []],
    ["[30,120]", [30, 120]],
    ["[ 120 , 30 ]", [30, 120]],
    ["[]", []],
    [" [43200] ", [43_200]],
  ])("%j is read as %j", (input, delays) => {
    expect(parseRecall(input)).toEqual({ ok: true, value: delays });
  });

  test.each([
    [[-1]],
    [[1.5]],
    [["30"]],
    [[null]],
    [[43_201]],
    [[Number.NaN]],
    [Array.from({ length: 21 }, () => 1)],
    ["30,120"],
    ["[30,]"],
    ["[30 120]"],
    ["[30;120]"],
    ["[-1]"],
    ["[1e3]"],
    ["[[1]]"],
    [`[${"1,".repeat(600)}1]`],
    [""],
    [30],
    [null],
    [{}],
  ])("%j is refused with what is accepted", (input) => {
    const read = parseRecall(input);
    expect(read.ok ? read.value : read.problem.message).toMatch(
      /at most 20 whole numbers of minutes from 0 to 43200/,
    );
  });

  test("both forms of a list mean the same, sorted, with nothing lost", () => {
    const lists = fc.array(fc.integer({ min: 0, max: 43_200 }), { maxLength: 20 });
    fc.assert(
      fc.property(lists, (list) => {
        const sorted = { ok: true, value: list.toSorted((a, b) => a - b) };
        expect(parseRecall(list)).toEqual(sorted);
        expect(parseRecall(JSON.stringify(list))).toEqual(sorted);
      }),
    );
  });

  test("any input is read or refused, never thrown at", () => {
    fc.assert(
      fc.property(fc.anything(), (input) => {
        expect(parseRecall(input).ok).toBeTypeOf("boolean");
      }),
    );
  });
});

describe("the next recall", () => {
  const plan = {
    recallMin: [30, 120],
    recallFrom: 1_000,
    attempts: 1,
    outcome: outcomeOf("no-answer"),
    endedAt: 61_000,
  };

  test("comes the first delay after the call's own start, however long the attempt took", () => {
    expect(nextRecallAt(plan)).toBe(1_000 + 30 * 60_000);
  });

  test("counts the second delay from the same start, not from the attempt before", () => {
    expect(nextRecallAt({ ...plan, attempts: 2, endedAt: 31 * 60_000 })).toBe(1_000 + 120 * 60_000);
  });

  test("is at once when the delay is past", () => {
    const endedAt = 50 * 60_000;
    expect(nextRecallAt({ ...plan, endedAt })).toBe(endedAt);
  });

  test("is none when the delays are used up or there never were any", () => {
    expect(nextRecallAt({ ...plan, attempts: 3 })).toBeUndefined();
    expect(nextRecallAt({ ...plan, recallMin: [] })).toBeUndefined();
  });

  test.each([
    "completed",
    "hung-up",
    "declined",
    "opted-out",
    "unallocated",
    "cancelled",
    "unwanted",
    "interrupted",
  ] as const)("is none after %s", (cause) => {
    expect(nextRecallAt({ ...plan, outcome: outcomeOf(cause) })).toBeUndefined();
  });

  test.each(["busy", "voicemail", "unreachable", "congestion", "trunk-timeout"] as const)(
    "follows %s",
    (cause) => {
      expect(nextRecallAt({ ...plan, outcome: outcomeOf(cause) })).toBe(1_801_000);
    },
  );

  test("is never before the attempt's end, and there are never more attempts than delays and one", () => {
    const delays = fc.array(fc.integer({ min: 0, max: 43_200 }), { maxLength: 20 });
    fc.assert(
      fc.property(delays, fc.nat(10_000_000), (recallMin, lasted) => {
        let attempts = 1;
        let endedAt = lasted;
        for (;;) {
          const at = nextRecallAt({ ...plan, recallMin, attempts, endedAt });
          if (at === undefined) break;
          expect(at).toBeGreaterThanOrEqual(endedAt);
          attempts++;
          endedAt = at + lasted;
        }
        expect(attempts).toBe(recallMin.length + 1);
      }),
    );
  });
});
