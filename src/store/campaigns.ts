import type { CallState } from "#domain";
import { sql, type Selectable } from "kysely";
import { openStates } from "./call-record.ts";
import { onlyMatch, prefixEnd } from "./find-by-prefix.ts";
import type { CampaignRow } from "./rows.ts";
import type { Db, Tables } from "./schema.ts";

/** Newest first. */
export async function listCampaigns(db: Db, accountId: string): Promise<readonly CampaignRow[]> {
  const rows = await visibleCampaigns(db)
    .where("account_id", "=", accountId)
    .orderBy("created_at", "desc")
    .orderBy("id", "desc")
    .execute();
  return withCounts(db, rows);
}

export async function findCampaign(
  db: Db,
  accountId: string,
  idOrPrefix: string,
): Promise<CampaignRow | undefined> {
  const prefix = idOrPrefix.toLowerCase();
  if (prefix === "") return undefined;
  const rows = await visibleCampaigns(db)
    .where("account_id", "=", accountId)
    .where("id", ">=", prefix)
    .where("id", "<", prefixEnd(prefix))
    .limit(2)
    .execute();
  return onlyMatch(await withCounts(db, rows), "campaigns", prefix);
}

export async function getCampaign(db: Db, id: string): Promise<CampaignRow | undefined> {
  const rows = await visibleCampaigns(db).where("id", "=", id).execute();
  return (await withCounts(db, rows))[0];
}

/**
 * Pauses, resumes or stops; no call is rewritten here. A campaign resumed before its launch time is scheduled again.
 * Undefined when the step is not allowed from where the campaign is.
 */
export async function stepCampaign(
  db: Db,
  id: string,
  to: "running" | "paused" | "stopped",
  now: number,
): Promise<CampaignRow | undefined> {
  const campaign = await visibleCampaigns(db).where("id", "=", id).executeTakeFirst();
  if (campaign === undefined || !stepsFrom[campaign.status].includes(to)) return undefined;
  const status = to === "running" && campaign.launch_at > now ? "scheduled" : to;
  if (status === campaign.status) return undefined;
  await db.updateTable("campaigns").set({ status }).where("id", "=", id).execute();
  return getCampaign(db, id);
}

/** A campaign with no call left that waits or is under way is done; a stopped one stays stopped. */
export async function settleCampaign(db: Db, id: string): Promise<void> {
  await db
    .updateTable("campaigns")
    .set({ status: "done" })
    .where("id", "=", id)
    .where("status", "in", ["scheduled", "running", "paused"])
    .where((is) =>
      is.not(
        is.exists(
          is
            .selectFrom("call_counts")
            .select("n")
            .where("campaign_id", "=", id)
            .where("state", "in", openStates)
            .where("n", ">", 0),
        ),
      ),
    )
    .execute();
}

/** Whether a person has stopped the campaign of a call, so that it must not wait for another dial. */
export async function isStopped(db: Db, campaignId: string | null): Promise<boolean> {
  if (campaignId === null) return false;
  const row = await db
    .selectFrom("campaigns")
    .select("id")
    .where("id", "=", campaignId)
    .where("status", "=", "stopped")
    .executeTakeFirst();
  return row !== undefined;
}

const stepsFrom: Readonly<Record<CampaignRow["status"] | "importing", readonly string[]>> = {
  importing: [],
  scheduled: ["running", "paused", "stopped"],
  running: ["paused", "stopped"],
  paused: ["running", "stopped"],
  stopped: [],
  done: [],
};

type VisibleCampaign = Selectable<Tables["campaigns"]> & { readonly status: CampaignRow["status"] };

function visibleCampaigns(db: Db) {
  return db
    .selectFrom("campaigns")
    .selectAll()
    .where("status", "<>", "importing")
    .$narrowType<{ status: CampaignRow["status"] }>();
}

async function withCounts(db: Db, rows: readonly VisibleCampaign[]): Promise<readonly CampaignRow[]> {
  if (rows.length === 0) return [];
  const ids = JSON.stringify(rows.map((row) => row.id));
  const counted = await db
    .selectFrom("call_counts")
    .selectAll()
    .where("campaign_id", "in", sql<string>`(select value from json_each(${ids}))`)
    .where("n", ">", 0)
    .execute();
  const counts = new Map<string, Partial<Record<CallState, number>>>();
  for (const { campaign_id: id, state, n } of counted) counts.set(id, { ...counts.get(id), [state]: n });
  return rows.map((row) => toCampaign(row, counts.get(row.id) ?? {}));
}

function toCampaign(row: VisibleCampaign, counts: CampaignRow["counts"]): CampaignRow {
  return {
    id: row.id,
    accountId: row.account_id,
    playbookId: row.playbook_id,
    versionId: row.version_id,
    name: row.name,
    launchAt: row.launch_at,
    recallMin: JSON.parse(row.recall_min),
    maxConcurrent: row.max_concurrent,
    trunkId: row.trunk_id,
    status: row.status,
    total: row.total,
    createdAt: row.created_at,
    counts,
  };
}
