import type { Db } from "./schema.ts";

export interface Suppression {
  readonly accountId: string;
  readonly phone: string;
  readonly reason: string;
  readonly now: number;
}

export async function isSuppressed(db: Db, accountId: string, phone: string): Promise<boolean> {
  const row = await db
    .selectFrom("suppressions")
    .select("phone")
    .where("account_id", "=", accountId)
    .where("phone", "=", phone)
    .executeTakeFirst();
  return row !== undefined;
}

/** A number suppressed before keeps its first reason and date. */
export async function suppress(db: Db, { accountId, phone, reason, now }: Suppression): Promise<void> {
  await db
    .insertInto("suppressions")
    .values({ account_id: accountId, phone, reason, created_at: now })
    .onConflict((conflict) => conflict.doNothing())
    .execute();
}
