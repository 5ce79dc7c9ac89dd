import { sql } from "kysely";
import { openStates } from "./call-record.ts";
import type { Db } from "./schema.ts";

/** Calls in all, calls not over, and calls that could be dialled now if there were room. */
export async function stats(
  db: Db,
  now: number,
): Promise<{ readonly open: number; readonly dueNow: number; readonly calls: number }> {
  const states = await db
    .selectFrom("call_counts")
    .select("state")
    .select(sql<number>`sum(n)`.as("n"))
    .where("campaign_id", "not in", (from) =>
      from.selectFrom("campaigns").select("id").where("status", "=", "importing"),
    )
    .groupBy("state")
    .execute();
  const { due } = await db
    .selectFrom("lanes")
    .innerJoin("calls", "calls.lane_id", "lanes.id")
    .leftJoin("campaigns", "campaigns.id", "lanes.campaign_id")
    .select((is) => is.fn.countAll<number>().as("due"))
    .where("calls.due_at", "<=", now)
    .where((is) => is.or([is("campaigns.launch_at", "is", null), is("campaigns.launch_at", "<=", now)]))
    .where(
      "lanes.campaign_id",
      "in",
      sql<string>`(select '' union all select id from campaigns where status in ('scheduled', 'running'))`,
    )
    .executeTakeFirstOrThrow();
  const sum = (rows: readonly { readonly n: number }[]): number =>
    rows.reduce((total, row) => total + row.n, 0);
  const isOpen = (state: string): boolean => (openStates as readonly string[]).includes(state);
  return { open: sum(states.filter((row) => isOpen(row.state))), dueNow: due, calls: sum(states) };
}
