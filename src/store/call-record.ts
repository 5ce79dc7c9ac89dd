import type { CallState, Outcome } from "#domain";
import { sql, type Insertable, type Selectable, type SelectQueryBuilder } from "kysely";
import type { CallRow, NewCall } from "./rows.ts";
import type { Db, Tables } from "./schema.ts";

/** A call that is not over: it waits for a dial or is under way. */
export const openStates = [
  "scheduled",
  "queued",
  "dialing",
  "ringing",
  "in-progress",
  "wrapping",
  "recall-scheduled",
] as const satisfies readonly CallState[];

export type CallRecord = Selectable<Tables["calls"]> & { readonly playbook_name: string };

export type CallQuery = SelectQueryBuilder<Tables, "calls", CallRecord>;

/** All calls that may be seen: not those of a campaign whose import is not complete. */
export function visibleCalls(db: Db): CallQuery {
  return db
    .selectFrom("calls")
    .selectAll("calls")
    .select(
      sql<string>`(select name from playbooks where playbooks.id = calls.playbook_id)`.as("playbook_name"),
    )
    .where((is) =>
      is.or([
        is("calls.campaign_id", "is", null),
        is("calls.campaign_id", "not in", (from) =>
          from.selectFrom("campaigns").select("campaigns.id").where("campaigns.status", "=", "importing"),
        ),
      ]),
    );
}

export function toCall(record: CallRecord): CallRow {
  return {
    id: record.id,
    accountId: record.account_id,
    playbookId: record.playbook_id,
    playbookName: record.playbook_name,
    versionId: record.version_id,
    campaignId: record.campaign_id,
    contactId: record.contact_id,
    trunkId: record.trunk_id,
    to: record.to_number,
    from: record.from_number,
    state: record.state,
    outcome: toOutcome(record.outcome),
    params: JSON.parse(record.params),
    options: JSON.parse(record.options),
    recallMin: JSON.parse(record.recall_min),
    timezone: record.timezone,
    recallFrom: record.recall_from,
    dueAt: record.due_at,
    attempts: record.attempts,
    durationS: record.duration_s,
    success: record.success === 1,
    summary: record.summary,
    output: JSON.parse(record.output),
    turns: JSON.parse(record.turns),
    recording: record.recording,
    createdAt: record.created_at,
  };
}

export function toRecord(call: NewCall, laneId: number): Insertable<Tables["calls"]> {
  return {
    id: call.id,
    account_id: call.accountId,
    playbook_id: call.playbookId,
    version_id: call.versionId,
    campaign_id: call.campaignId,
    contact_id: call.contactId,
    trunk_id: call.trunkId,
    lane_id: laneId,
    to_number: call.to,
    from_number: call.from,
    state: call.state,
    outcome: fromOutcome(call.outcome ?? null),
    params: JSON.stringify(call.params),
    options: JSON.stringify(call.options),
    recall_min: JSON.stringify(call.recallMin),
    timezone: call.timezone,
    recall_from: call.recallFrom,
    due_at: call.dueAt,
    attempts: 0,
    duration_s: 0,
    success: 0,
    summary: "",
    output: "{}",
    turns: "[]",
    recording: null,
    created_at: call.createdAt,
  };
}

export function toOutcome(text: string | null): Outcome | null {
  return text === null ? null : JSON.parse(text);
}

export function fromOutcome(outcome: Outcome | null): string | null {
  return outcome === null ? null : JSON.stringify(outcome);
}
