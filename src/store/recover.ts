import type { Outcome } from "#domain";
import { unclaimCall } from "./attempts.ts";
import { fromOutcome } from "./call-record.ts";
import { settleCampaign } from "./campaigns.ts";
import type { Store } from "./contract.ts";
import type { Db } from "./schema.ts";

type Recovery = Awaited<ReturnType<Store["recover"]>>;

/**
 * After a crash. A file has one daemon at a time, so every attempt still open is of one that died, whatever it
 * called itself: what was only claimed never rang and waits again; what was dialled is lost, and a person decides.
 */
export async function recover(db: Db, now: number): Promise<Recovery> {
  const open = await db
    .selectFrom("attempts")
    .innerJoin("calls", "calls.id", "attempts.call_id")
    .select(["attempts.call_id", "attempts.n", "attempts.state", "attempts.dialog", "attempts.started_at"])
    .select(["calls.campaign_id", "calls.trunk_id"])
    .where("attempts.ended_at", "is", null)
    .orderBy("attempts.started_at")
    .execute();
  const claimed = open.filter((attempt) => attempt.state === "claimed");
  const dialled = open.filter((attempt) => attempt.state !== "claimed");
  for (const attempt of claimed) {
    // Due since it was claimed: it keeps its place before what became due later.
    await unclaimCall(db, { callId: attempt.call_id, n: attempt.n }, attempt.started_at);
  }
  for (const attempt of dialled) await loseAttempt(db, attempt, now);
  for (const id of new Set(open.map((attempt) => attempt.campaign_id)))
    if (id !== null) await settleCampaign(db, id);
  return {
    requeued: claimed.length,
    lost: dialled.map((attempt) => ({
      callId: attempt.call_id,
      n: attempt.n,
      trunkId: attempt.trunk_id,
      dialog: attempt.dialog === null ? null : JSON.parse(attempt.dialog),
      answered: attempt.state === "answered",
    })),
  };
}

async function loseAttempt(
  db: Db,
  attempt: { readonly call_id: string; readonly n: number; readonly state: string },
  now: number,
): Promise<void> {
  const outcome = fromOutcome({
    state: "manual",
    cause: "interrupted",
    detail:
      attempt.state === "answered"
        ? "The daemon stopped during the conversation."
        : "The daemon stopped while this call was being dialled; the phone may have rung.",
  } satisfies Outcome);
  await db
    .updateTable("attempts")
    .set({ state: "lost", ended_at: now, outcome })
    .where("call_id", "=", attempt.call_id)
    .where("n", "=", attempt.n)
    .execute();
  await db
    .updateTable("calls")
    .set({ state: "manual", due_at: null, outcome })
    .where("id", "=", attempt.call_id)
    .execute();
}
