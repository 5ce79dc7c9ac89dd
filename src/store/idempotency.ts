import { OutdialError } from "#base";
import type { IdempotencyEntry } from "./rows.ts";
import type { Db } from "./schema.ts";

const keptMs = 24 * 60 * 60 * 1000;

/**
 * Stores the answer of a request, together with what the request does. Rejects `idempotency-key-used`
 * (retryable: then the first answer is to be found) when another request of the last 24 h holds the key.
 */
export async function rememberAnswer(db: Db, entry: IdempotencyEntry, campaignId = ""): Promise<void> {
  await db
    .deleteFrom("idempotency")
    .where("created_at", "<=", entry.createdAt - keptMs)
    .execute();
  const inserted = await db
    .insertInto("idempotency")
    .values({
      account_id: entry.accountId,
      key: entry.key,
      body_hash: entry.bodyHash,
      status: entry.status,
      answer: entry.answer,
      campaign_id: campaignId,
      created_at: entry.createdAt,
    })
    .onConflict((conflict) => conflict.doNothing())
    .executeTakeFirst();
  if (inserted.numInsertedOrUpdatedRows === 0n) {
    throw new OutdialError("idempotency-key-used", "Another request with this idempotency key came first.", {
      retryable: true,
    });
  }
}

/** The answer stored under this key in the last 24 h; not that of a campaign whose import is not complete. */
export async function findIdempotent(
  db: Db,
  accountId: string,
  key: string,
  now: number,
): Promise<IdempotencyEntry | undefined> {
  const row = await db
    .selectFrom("idempotency")
    .selectAll()
    .where("account_id", "=", accountId)
    .where("key", "=", key)
    .where("created_at", ">", now - keptMs)
    .where("campaign_id", "not in", (from) =>
      from.selectFrom("campaigns").select("id").where("status", "=", "importing"),
    )
    .executeTakeFirst();
  if (row === undefined) return undefined;
  return {
    accountId: row.account_id,
    key: row.key,
    bodyHash: row.body_hash,
    status: row.status,
    answer: row.answer,
    createdAt: row.created_at,
  };
}
