import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { Kysely } from "kysely";
import { callPage } from "../../src/store/call-list.ts";
import { StoreDialect } from "../../src/store/dialect.ts";
import { migrate } from "../../src/store/migrate.ts";
import { nodeDatabase } from "../../src/store/node-database.ts";
import type { CallFilter } from "../../src/store/rows.ts";
import type { Tables } from "../../src/store/schema.ts";
import { accountId, call, campaign, id, noon, playbook, playbookId } from "./sample-rows.ts";
import { temporaryDirectory, temporaryStore } from "./temporary-store.ts";

const states = ["queued", "closed", "voicemail", "failed"] as const;
const list = campaign(1);

/** 60 calls, several of them created in the same millisecond. */
const calls = Array.from({ length: 60 }, (_, n) =>
  call(n, {
    createdAt: noon + Math.floor(n / 4) * 1000,
    state: states[n % 3] ?? "queued",
    dueAt: null,
    playbookId: n % 5 === 0 ? id(7) : playbookId,
    campaignId: n % 2 === 0 ? list.id : null,
    to: `+3460000000${n % 7}`,
  }),
);

function matches(given: (typeof calls)[number], filter: CallFilter): boolean {
  return (
    given.createdAt >= (filter.from ?? 0) &&
    given.createdAt <= (filter.to ?? Infinity) &&
    (filter.states ?? states).some((state) => state === given.state) &&
    (filter.playbookId ?? given.playbookId) === given.playbookId &&
    (filter.campaignId ?? given.campaignId) === given.campaignId &&
    (filter.phone ?? given.to) === given.to
  );
}

const filters = fc.record(
  {
    from: fc.integer({ min: noon, max: noon + 15_000 }),
    to: fc.integer({ min: noon, max: noon + 15_000 }),
    states: fc.uniqueArray(fc.constantFrom(...states), { minLength: 1 }),
    playbookId: fc.constantFrom(playbookId, id(7)),
    campaignId: fc.constant(list.id),
    phone: fc.integer({ min: 0, max: 7 }).map((n) => `+3460000000${n}`),
  },
  { requiredKeys: [] },
);

describe("a list of calls", () => {
  it("paged in any size holds exactly the matching calls, newest first", async () => {
    await using here = await temporaryStore();
    await here.store.applyPlaybook(playbook({ id: id(7), name: "other" }), undefined);
    await here.store.insertCampaign(
      list,
      [],
      calls.filter((given) => given.campaignId !== null),
    );
    for (const given of calls) if (given.campaignId === null) await here.store.insertCall(given);
    await fc.assert(
      fc.asyncProperty(filters, fc.integer({ min: 1, max: 40 }), async (chosen, limit) => {
        const filter: CallFilter = { accountId, limit, ...chosen };
        const listed: string[] = [];
        for (let before: CallFilter["before"]; ;) {
          const page = await here.store.listCalls(before === undefined ? filter : { ...filter, before });
          listed.push(...page.map((row) => row.id));
          const last = page.at(-1);
          if (last === undefined || page.length < limit) break;
          before = { createdAt: last.createdAt, id: last.id };
        }
        const expected = calls.filter((given) => matches(given, filter)).map((given) => given.id);
        expect(listed).toEqual(expected.toReversed());
      }),
      { numRuns: 60 },
    );
    expect(await here.store.listCalls({ accountId: id(99), limit: 9 })).toEqual([]);
  });

  it.each<[string, Partial<CallFilter>, string | undefined]>([
    ["all", {}, undefined],
    ["a time", { from: noon, to: noon + 1 }, undefined],
    ["a later page", { from: noon, before: { createdAt: noon, id: id(1) } }, undefined],
    ["a state", {}, "closed"],
    [
      "a later page of a state",
      { from: noon, to: noon + 1, before: { createdAt: noon, id: id(1) } },
      "closed",
    ],
    ["a playbook", { playbookId }, undefined],
    ["a playbook and a state", { playbookId }, "closed"],
    ["a campaign", { campaignId: list.id }, undefined],
    ["a campaign and a state", { campaignId: list.id }, "closed"],
    ["a phone", { phone: "+34600000001" }, undefined],
  ])("of %s walks an index in order, without sorting", async (_name, chosen, state) => {
    using directory = temporaryDirectory();
    const file = directory.file("plan.db");
    const database = nodeDatabase(file);
    const db = new Kysely<Tables>({ dialect: new StoreDialect(database) });
    await migrate(db, file);
    const { sql, parameters } = callPage(db, { accountId, limit: 50, ...chosen }, state).compile();
    const plan = JSON.stringify(database.prepare(`explain query plan ${sql}`).all(parameters));
    database.close();
    expect(plan).toContain("SEARCH calls USING INDEX calls_");
    expect(plan).not.toContain("TEMP B-TREE");
  });
});
