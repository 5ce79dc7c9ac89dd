import type { Outcome } from "#domain";
import { fromOutcome, toCall, toOutcome, toRecord, visibleCalls } from "./call-record.ts";
import { settleCampaign } from "./campaigns.ts";
import { contactIds } from "./contacts.ts";
import { onlyMatch, prefixEnd } from "./find-by-prefix.ts";
import { rememberAnswer } from "./idempotency.ts";
import type { CallRow, IdempotencyEntry, NewCall } from "./rows.ts";
import type { Db } from "./schema.ts";

/** Stores a call, and with it the answer of the request that asked for it. */
export async function insertCall(
  db: Db,
  call: NewCall,
  idempotency: IdempotencyEntry | undefined,
): Promise<void> {
  if (idempotency !== undefined) await rememberAnswer(db, idempotency);
  await insertCalls(db, [call]);
}

/**
 * Stores calls of one account in their lanes. A call without a contact belongs to the account's contact
 * of its number, if there is one.
 */
export async function insertCalls(db: Db, calls: readonly NewCall[]): Promise<void> {
  const [first] = calls;
  if (first === undefined) return;
  const phones = calls.map((call) => call.to);
  const contacts = await contactIds(db, first.accountId, phones);
  const lanes = new Map<string, number>();
  for (const call of calls) {
    const lane = `${call.campaignId ?? ""} ${call.trunkId ?? ""}`;
    const laneId = lanes.get(lane) ?? (await findOrMakeLane(db, call));
    lanes.set(lane, laneId);
    const contactId = call.contactId ?? contacts.get(call.to) ?? null;
    await db
      .insertInto("calls")
      .values(toRecord({ ...call, contactId }, laneId))
      .execute();
  }
}

export async function findCall(db: Db, accountId: string, idOrPrefix: string): Promise<CallRow | undefined> {
  const prefix = idOrPrefix.toLowerCase();
  if (prefix === "") return undefined;
  const records = await visibleCalls(db)
    .where("calls.account_id", "=", accountId)
    .where("calls.id", ">=", prefix)
    .where("calls.id", "<", prefixEnd(prefix))
    .limit(2)
    .execute();
  const record = onlyMatch(records, "calls", prefix);
  return record && toCall(record);
}

/** manual → the given state, with what the person found out. False when the call is not manual. */
export async function resolveCall(
  db: Db,
  call: { readonly accountId: string; readonly id: string },
  to: "closed" | "failed",
  note: string,
): Promise<boolean> {
  const found = await db
    .selectFrom("calls")
    .select("outcome")
    .where("id", "=", call.id)
    .where("account_id", "=", call.accountId)
    .where("state", "=", "manual")
    .executeTakeFirst();
  if (found === undefined) return false;
  const detail = note === "" ? {} : { detail: note };
  const outcome: Outcome = { ...toOutcome(found.outcome), state: to, cause: "resolved", ...detail };
  await db
    .updateTable("calls")
    .set({ state: to, outcome: fromOutcome(outcome) })
    .where("id", "=", call.id)
    .execute();
  return true;
}

/** A waiting call → cancelled. False when it is under way or over. */
export async function cancelCall(db: Db, accountId: string, id: string): Promise<boolean> {
  const [call] = await visibleCalls(db)
    .where("calls.account_id", "=", accountId)
    .where("calls.id", "=", id)
    .where("calls.due_at", "is not", null)
    .execute();
  if (call === undefined) return false;
  await cancelWaitingCall(db, id, "Cancelled before it was dialled.");
  if (call.campaign_id !== null) await settleCampaign(db, call.campaign_id);
  return true;
}

/** Ends a call that waits, whatever campaign it is of. */
export async function cancelWaitingCall(db: Db, id: string, detail: string): Promise<void> {
  const outcome: Outcome = { state: "cancelled", cause: "cancelled", detail };
  await db
    .updateTable("calls")
    .set({ state: "cancelled", due_at: null, outcome: fromOutcome(outcome) })
    .where("id", "=", id)
    .execute();
}

async function findOrMakeLane(db: Db, call: NewCall): Promise<number> {
  const key = {
    account_id: call.accountId,
    campaign_id: call.campaignId ?? "",
    trunk_id: call.trunkId ?? "",
  };
  const found = await db
    .selectFrom("lanes")
    .select("id")
    .where("campaign_id", "=", key.campaign_id)
    .where("account_id", "=", key.account_id)
    .where("trunk_id", "=", key.trunk_id)
    .executeTakeFirst();
  if (found !== undefined) return found.id;
  const made = await db.insertInto("lanes").values(key).returning("id").executeTakeFirstOrThrow();
  return made.id;
}
