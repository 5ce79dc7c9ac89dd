import type { Outcome } from "#domain";
import { sql } from "kysely";
import { fromOutcome } from "./call-record.ts";
import { settleCampaign } from "./campaigns.ts";
import { rememberAnswer } from "./idempotency.ts";
import type { CampaignRow, IdempotencyEntry } from "./rows.ts";
import type { Db } from "./schema.ts";

/*
 * A large campaign comes in pieces, so that dialling goes on meanwhile. Until `finishImport` it is `importing`:
 * nothing outside sees it, none of its calls is dialled, and the next start takes away what is not finished.
 */

/** Most calls or contacts written, or rows swept, in one go: about 20 ms of the store's time. */
export const importChunk = 500;

/** Opens the import, and holds its idempotency key against a second request. */
export async function beginImport(
  db: Db,
  campaign: Omit<CampaignRow, "counts">,
  idempotency: IdempotencyEntry | undefined,
): Promise<void> {
  if (idempotency !== undefined) await rememberAnswer(db, idempotency, campaign.id);
  await db
    .insertInto("campaigns")
    .values({
      id: campaign.id,
      account_id: campaign.accountId,
      playbook_id: campaign.playbookId,
      version_id: campaign.versionId,
      name: campaign.name,
      launch_at: campaign.launchAt,
      recall_min: JSON.stringify(campaign.recallMin),
      max_concurrent: campaign.maxConcurrent,
      trunk_id: campaign.trunkId,
      status: "importing",
      total: campaign.total,
      created_at: campaign.createdAt,
    })
    .execute();
}

/** Everything is in: from now on the campaign and its calls are there. */
export async function finishImport(db: Db, id: string, status: CampaignRow["status"]): Promise<void> {
  await db
    .updateTable("campaigns")
    .set({ status })
    .where("id", "=", id)
    .where("status", "=", "importing")
    .execute();
  await settleCampaign(db, id);
}

/** Takes one chunk of an unfinished import away; true while there is more. */
export async function dropImportChunk(db: Db, id: string): Promise<boolean> {
  const importing = await db
    .selectFrom("campaigns")
    .select("id")
    .where("id", "=", id)
    .where("status", "=", "importing")
    .executeTakeFirst();
  if (importing === undefined) return false;
  const { numDeletedRows } = await db
    .deleteFrom("calls")
    .where("id", "in", (from) =>
      from.selectFrom("calls").select("id").where("campaign_id", "=", id).limit(importChunk),
    )
    .executeTakeFirst();
  if (numDeletedRows > 0n) return true;
  for (const table of ["call_counts", "lanes", "idempotency"] as const) {
    await db.deleteFrom(table).where("campaign_id", "=", id).execute();
  }
  await db.deleteFrom("campaigns").where("id", "=", id).execute();
  return false;
}

/** Cancels one chunk of the waiting calls of a stopped campaign; true while there is more. */
export async function cancelStoppedChunk(db: Db, id: string): Promise<boolean> {
  const detail = "The campaign was stopped before this call was dialled.";
  const outcome: Outcome = { state: "cancelled", cause: "cancelled", detail };
  const { numUpdatedRows } = await db
    .updateTable("calls")
    .set({ state: "cancelled", due_at: null, outcome: fromOutcome(outcome) })
    .where("id", "in", (from) =>
      from
        .selectFrom("lanes")
        .innerJoin("calls", "calls.lane_id", "lanes.id")
        .select("calls.id")
        .where("lanes.campaign_id", "=", id)
        .where("calls.due_at", "is not", null)
        .limit(importChunk),
    )
    .executeTakeFirst();
  return numUpdatedRows > 0n;
}

/** Campaigns whose import or stop was broken off: what a start has to bring to an end. */
export async function unfinishedCampaigns(
  db: Db,
): Promise<{ readonly importing: readonly string[]; readonly stopped: readonly string[] }> {
  const importing = await db.selectFrom("campaigns").select("id").where("status", "=", "importing").execute();
  const stopped = await db
    .selectFrom("campaigns")
    .select("id")
    .where("status", "=", "stopped")
    .where((is) =>
      is.exists(
        is
          .selectFrom("lanes")
          .innerJoin("calls", "calls.lane_id", "lanes.id")
          .select(sql<number>`1`.as("one"))
          .whereRef("lanes.campaign_id", "=", "campaigns.id")
          .where("calls.due_at", "is not", null),
      ),
    )
    .execute();
  return { importing: importing.map((row) => row.id), stopped: stopped.map((row) => row.id) };
}
