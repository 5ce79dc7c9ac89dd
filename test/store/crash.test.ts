import { DatabaseSync } from "node:sqlite";
import { describe, expect, it } from "vitest";
import { accountId } from "./sample-rows.ts";
import { forAWhile, startChild, type Child } from "./child.ts";
import { openHere, temporaryDirectory } from "./temporary-store.ts";

const rounds = 10;

interface Acknowledged {
  readonly calls: Set<string>;
  readonly ended: Set<string>;
  readonly campaigns: Map<string, number>;
}

function note(lines: readonly string[], into: Acknowledged): void {
  for (const [what, which = "", count] of lines.map((line) => line.split(" "))) {
    if (what === "call") into.calls.add(which);
    if (what === "ended") into.ended.add(which);
    if (what === "campaign") into.campaigns.set(which, Number(count));
  }
}

async function untilEnded(child: Child, into: Acknowledged): Promise<void> {
  for (;;) {
    const line = await child.line();
    if (line === undefined) throw new Error("the child has ended by itself");
    note([line], into);
    if (line.startsWith("ended ")) return;
  }
}

/** Opens the file as the next daemon would, then as a stranger would, and looks for what was promised. */
async function check(file: string, promised: Acknowledged): Promise<void> {
  const store = await openHere({ file });
  await store.recover("d1", Date.now());
  const campaigns = await store.listCampaigns(accountId);
  expect(campaigns.map((row) => row.id)).toEqual(expect.arrayContaining([...promised.campaigns.keys()]));
  for (const row of campaigns) expect(row.counts).toEqual({ queued: row.total });
  await store.close();
  const plain = new DatabaseSync(file);
  const values = (sql: string): unknown[] =>
    plain
      .prepare(sql)
      .all()
      .map((row) => Object.values(row)[0]);
  expect(values("pragma integrity_check")).toEqual(["ok"]);
  expect(values("pragma foreign_key_check")).toEqual([]);
  const stored = new Set(values("select id from calls where campaign_id is null"));
  expect([...promised.calls].filter((call) => !stored.has(call))).toEqual([]);
  const over = new Set(values("select id from calls where state = 'no-answer' and length(summary) = 2000"));
  expect([...promised.ended].filter((call) => !over.has(call))).toEqual([]);
  // An attempt and its call are over together or not at all.
  const torn = `select calls.id from calls left join attempts on call_id = calls.id and n = calls.attempts
    where calls.attempts > 0 and (n is null or (calls.state = 'no-answer') <> (attempts.state = 'ended'))`;
  expect(values(torn)).toEqual([]);
  expect(values("select coalesce(sum(n), 0) from call_counts")).toEqual(values("select count(*) from calls"));
  plain.close();
}

describe("a process that is killed while it writes", () => {
  it.concurrent.each([1, 2])(
    "loses nothing that it has acknowledged, and leaves nothing half done (%i)",
    async () => {
      using directory = temporaryDirectory();
      const file = directory.file("a.db");
      const promised: Acknowledged = { calls: new Set(), ended: new Set(), campaigns: new Map() };
      for (let round = 0; round < rounds; round++) {
        const child = startChild(new URL("writing-child.ts", import.meta.url), [file]);
        expect(await child.line()).toBe("ready");
        // Every other one dies in its first moments, the others when all of their loops are under way.
        if (round % 2 === 1) await untilEnded(child, promised);
        await forAWhile(0, 150);
        note(await child.kill(), promised);
        await check(file, promised);
      }
      expect(promised.calls.size).toBeGreaterThan(rounds);
      expect(promised.ended.size).toBeGreaterThanOrEqual(rounds / 2);
    },
    60_000,
  );
});
