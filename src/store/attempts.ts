import type { Selectable } from "kysely";
import { fromOutcome, toOutcome } from "./call-record.ts";
import { cancelWaitingCall } from "./calls.ts";
import { isStopped, settleCampaign } from "./campaigns.ts";
import type { AttemptEnd, AttemptRow, SavedDialog } from "./rows.ts";
import type { Db, Tables } from "./schema.ts";
import { suppress } from "./suppressions.ts";

export interface AttemptKey {
  readonly callId: string;
  readonly n: number;
}

export async function listAttempts(db: Db, callId: string): Promise<readonly AttemptRow[]> {
  const rows = await db
    .selectFrom("attempts")
    .selectAll()
    .where("call_id", "=", callId)
    .orderBy("n")
    .execute();
  return rows.map(toAttempt);
}

/** claimed → dialing, if the attempt is still this owner's. False: do not dial. */
export async function startDial(
  db: Db,
  { callId, n }: AttemptKey,
  dial: {
    readonly owner: string;
    readonly sipCallId: string;
    readonly dialog: SavedDialog;
    readonly now: number;
  },
): Promise<boolean> {
  const { numUpdatedRows } = await db
    .updateTable("attempts")
    .set({
      state: "dialing",
      sip_call_id: dial.sipCallId,
      dialog: JSON.stringify(dial.dialog),
      started_at: dial.now,
    })
    .where("call_id", "=", callId)
    .where("n", "=", n)
    .where("owner", "=", dial.owner)
    .where("state", "=", "claimed")
    .executeTakeFirst();
  return numUpdatedRows === 1n;
}

/** An INVITE's only while the attempt is being dialled: an answered one has a dialog that a late INVITE must not replace. */
export async function saveDialog(db: Db, { callId, n }: AttemptKey, dialog: SavedDialog): Promise<void> {
  await db
    .updateTable("attempts")
    .set({ dialog: JSON.stringify(dialog) })
    .where("call_id", "=", callId)
    .where("n", "=", n)
    .where("state", "=", dialog.inviteBranch === null ? "answered" : "dialing")
    .execute();
}

/** The first ringing counts. Nothing happens once the attempt was answered or is over. */
export async function markRinging(db: Db, { callId, n }: AttemptKey, now: number): Promise<void> {
  const { numUpdatedRows } = await db
    .updateTable("attempts")
    .set({ ringing_at: now })
    .where("call_id", "=", callId)
    .where("n", "=", n)
    .where("state", "=", "dialing")
    .where("ringing_at", "is", null)
    .executeTakeFirst();
  if (numUpdatedRows === 1n) await setState(db, callId, "ringing");
}

export async function markAnswered(
  db: Db,
  { callId, n }: AttemptKey,
  dialog: SavedDialog,
  now: number,
): Promise<void> {
  const { numUpdatedRows } = await db
    .updateTable("attempts")
    .set({ state: "answered", answered_at: now, dialog: JSON.stringify(dialog) })
    .where("call_id", "=", callId)
    .where("n", "=", n)
    .where("state", "=", "dialing")
    .executeTakeFirst();
  if (numUpdatedRows === 1n) await setState(db, callId, "in-progress");
}

/** Ends the attempt and moves its call on, in one step. False: it had ended before, and nothing changes. */
export async function endAttempt(db: Db, end: AttemptEnd): Promise<boolean> {
  const { numUpdatedRows } = await db
    .updateTable("attempts")
    .set({
      state: "ended",
      ended_at: end.at,
      outcome: fromOutcome(end.outcome),
      recording: end.recording,
      evidence: JSON.stringify(end.evidence),
      dialog: null,
    })
    .where("call_id", "=", end.callId)
    .where("n", "=", end.n)
    .where("ended_at", "is", null)
    .executeTakeFirst();
  if (numUpdatedRows !== 1n) return false;
  const { campaign_id: campaignId, account_id: accountId } = await db
    .selectFrom("calls")
    .select(["campaign_id", "account_id"])
    .where("id", "=", end.callId)
    .executeTakeFirstOrThrow();
  const isLast = end.state !== "recall-scheduled" || (await isStopped(db, campaignId));
  await db
    .updateTable("calls")
    .set({
      // A recall of a campaign that was stopped meanwhile does not take place: the call ends as this attempt did.
      state: end.state === "recall-scheduled" && isLast ? end.outcome.state : end.state,
      due_at: isLast ? null : end.dueAt,
      outcome: fromOutcome(end.outcome),
      duration_s: end.durationS,
      success: end.success ? 1 : 0,
      summary: end.summary,
      output: JSON.stringify(end.output),
      turns: JSON.stringify(end.turns),
      recording: end.recording,
    })
    .where("id", "=", end.callId)
    .execute();
  if (end.suppress !== undefined) await suppress(db, { accountId, ...end.suppress, now: end.at });
  if (isLast && campaignId !== null) await settleCampaign(db, campaignId);
  return true;
}

/** What a lost attempt left behind; nothing happens to one that ended as it should. */
export async function keepRecording(
  db: Db,
  { callId, n }: AttemptKey,
  fileName: string,
  durationS: number,
): Promise<void> {
  const { numUpdatedRows } = await db
    .updateTable("attempts")
    .set({ recording: fileName })
    .where("call_id", "=", callId)
    .where("n", "=", n)
    .where("state", "=", "lost")
    .executeTakeFirst();
  if (numUpdatedRows !== 1n) return;
  await db
    .updateTable("calls")
    .set({ recording: fileName, duration_s: durationS })
    .where("id", "=", callId)
    .execute();
}

/** A claimed call waits again, its attempt forgotten. Nothing happens when it was dialled or is not claimed. */
export async function unclaimCall(db: Db, { callId, n }: AttemptKey, dueAt: number): Promise<void> {
  const { numDeletedRows } = await db
    .deleteFrom("attempts")
    .where("call_id", "=", callId)
    .where("n", "=", n)
    .where("state", "=", "claimed")
    .executeTakeFirst();
  if (numDeletedRows !== 1n) return;
  await db
    .updateTable("calls")
    .set({ state: n > 1 ? "recall-scheduled" : "queued", due_at: dueAt, attempts: n - 1 })
    .where("id", "=", callId)
    .execute();
  const { campaign_id: campaignId } = await db
    .selectFrom("calls")
    .select("campaign_id")
    .where("id", "=", callId)
    .executeTakeFirstOrThrow();
  if (await isStopped(db, campaignId)) {
    await cancelWaitingCall(db, callId, "The campaign was stopped before this call was dialled.");
  }
}

async function setState(db: Db, callId: string, state: "ringing" | "in-progress"): Promise<void> {
  await db.updateTable("calls").set({ state }).where("id", "=", callId).execute();
}

function toAttempt(row: Selectable<Tables["attempts"]>): AttemptRow {
  return {
    callId: row.call_id,
    n: row.n,
    state: row.state,
    sipCallId: row.sip_call_id,
    startedAt: row.started_at,
    ringingAt: row.ringing_at,
    answeredAt: row.answered_at,
    endedAt: row.ended_at,
    outcome: toOutcome(row.outcome),
    recording: row.recording,
    evidence: JSON.parse(row.evidence),
  };
}
