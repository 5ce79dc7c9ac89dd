import type { PlaybookSettings } from "#domain";
import { sql } from "kysely";
import { toCall, visibleCalls } from "./call-record.ts";
import type { CallRow, ClaimedCall, ClaimRequest } from "./rows.ts";
import type { Db } from "./schema.ts";

interface Lane {
  readonly id: number;
  readonly campaignId: string;
  readonly firstDueAt: number;
  /** First call due after now; null when there is none. */
  readonly nextDueAt: number | null;
  /** Nothing of the lane may be dialled before. */
  readonly launchAt: number;
  readonly maxConcurrent: number | null;
  /** How many more of the campaign's calls may be under way. */
  readonly room: number;
}

interface Waiting {
  readonly id: string;
  readonly to_number: string;
  readonly due_at: number;
  readonly campaignId: string;
  readonly maxConcurrent: number | null;
}

// Candidates looked at in one lane before the rest of it is left for the next claim: about 10 ms.
const longestLook = 20_000;

/**
 * Takes the calls that have been due longest: their attempts are `claimed`, nobody else gets them. One call per
 * number, none to a number in a call. `nextDueAt` is when a claim like this one can next find something:
 * at or before `now` when there was more than `limit`.
 */
export async function claimDue(
  db: Db,
  request: ClaimRequest,
): Promise<{ readonly claimed: readonly ClaimedCall[]; readonly nextDueAt: number | null }> {
  const underWay = await openCalls(db);
  const lanes = await openLanes(db, request, underWay);
  const busy = new Set([...request.busyNumbers, ...underWay.map((call) => call.to_number)]);
  // One more than wanted: whether there is more decides when to come back.
  const found = await firstDue(db, lanes, busy, { now: request.now, limit: request.limit + 1 });
  const claimed: ClaimedCall[] = [];
  const settings = new Map<string, PlaybookSettings>();
  for (const waiting of found.slice(0, request.limit))
    claimed.push(await claim(db, waiting, request, settings));
  await startCampaigns(db, claimed);
  const later = lanes.flatMap((lane) =>
    lane.nextDueAt === null ? [] : [Math.max(lane.nextDueAt, lane.launchAt)],
  );
  const left = found.at(request.limit)?.due_at;
  return { claimed, nextDueAt: left ?? (later.length === 0 ? null : Math.min(...later)) };
}

/** Calls under way, by what the attempts say. */
function openCalls(db: Db) {
  return db
    .selectFrom("attempts")
    .innerJoin("calls", "calls.id", "attempts.call_id")
    .select(["calls.to_number", "calls.campaign_id"])
    .where("attempts.ended_at", "is", null)
    .execute();
}

/** Lanes with waiting calls that this request may take from: of running campaigns, of those to launch, and of single calls. */
async function openLanes(
  db: Db,
  request: ClaimRequest,
  underWay: readonly { readonly campaign_id: string | null }[],
): Promise<readonly Lane[]> {
  const rows = await db
    .selectFrom("lanes")
    .leftJoin("campaigns", "campaigns.id", "lanes.campaign_id")
    .select(["lanes.id", "lanes.account_id", "lanes.campaign_id", "lanes.trunk_id"])
    .select(["campaigns.launch_at", "campaigns.max_concurrent"])
    .select(firstDueAfter(-1).as("first_due_at"))
    .select(firstDueAfter(request.now).as("next_due_at"))
    .where(
      "lanes.campaign_id",
      "in",
      sql<string>`(select '' union all select id from campaigns where status in ('scheduled', 'running'))`,
    )
    .execute();
  const taken = new Map<string, number>();
  for (const { campaign_id: id } of underWay) taken.set(id ?? "", (taken.get(id ?? "") ?? 0) + 1);
  const lanes: Lane[] = [];
  for (const row of rows) {
    const room = (row.max_concurrent ?? Infinity) - (taken.get(row.campaign_id) ?? 0);
    const isExcluded =
      request.excludeCampaigns.includes(row.campaign_id) ||
      (row.trunk_id === ""
        ? request.excludeUnrouted.includes(row.account_id)
        : request.excludeTrunks.includes(row.trunk_id)) ||
      (request.excludeAccounts ?? []).includes(row.account_id);
    if (isExcluded || row.first_due_at === null || room <= 0) continue;
    const firstDueAt = Math.max(row.first_due_at, row.launch_at ?? 0);
    lanes.push({
      id: row.id,
      campaignId: row.campaign_id,
      firstDueAt,
      nextDueAt: firstDueAt > request.now ? firstDueAt : row.next_due_at,
      launchAt: row.launch_at ?? 0,
      maxConcurrent: row.max_concurrent,
      room,
    });
  }
  return lanes.sort((a, b) => a.firstDueAt - b.firstDueAt);
}

/** The calls due first in all lanes together, within each campaign's room; marks their numbers busy. */
async function firstDue(
  db: Db,
  lanes: readonly Lane[],
  busy: ReadonlySet<string>,
  { now, limit }: { readonly now: number; readonly limit: number },
): Promise<readonly Waiting[]> {
  const waiting: Waiting[] = [];
  let fit: readonly Waiting[] = [];
  for (const lane of lanes) {
    // Lanes come in the order of their first call: none of the rest has an earlier one.
    const last = fit[limit - 1];
    if (lane.firstDueAt > now || (last !== undefined && last.due_at <= lane.firstDueAt)) break;
    waiting.push(...(await firstOfLane(db, lane, busy, { now, limit: Math.min(limit, lane.room) })));
    fit = fitting(waiting.sort(byDue), lanes, limit);
  }
  return fit;
}

/** The first `limit` that keep one call per number and each campaign's room. */
function fitting(waiting: readonly Waiting[], lanes: readonly Lane[], limit: number): readonly Waiting[] {
  const numbers = new Set<string>();
  const room = new Map(lanes.map((lane) => [lane.campaignId, lane.room]));
  const fit: Waiting[] = [];
  for (const call of waiting) {
    const left = room.get(call.campaignId) ?? 0;
    if (fit.length === limit || left <= 0 || numbers.has(call.to_number)) continue;
    numbers.add(call.to_number);
    room.set(call.campaignId, left - 1);
    fit.push(call);
  }
  return fit;
}

async function firstOfLane(
  db: Db,
  lane: Lane,
  busy: ReadonlySet<string>,
  { now, limit }: { readonly now: number; readonly limit: number },
): Promise<readonly Waiting[]> {
  const found = new Map<string, Waiting>();
  let after = { due_at: -1, id: "" };
  let size = Math.max(32, limit * 2);
  for (let looked = 0; looked < longestLook && found.size < limit; looked += size, size *= 4) {
    const rows = await db
      .selectFrom("calls")
      .select(["id", "to_number", "due_at"])
      .where("lane_id", "=", lane.id)
      .where("due_at", "<=", now)
      .where(sql<boolean>`(due_at, id) > (${after.due_at}, ${after.id})`)
      .orderBy("due_at")
      .orderBy("id")
      .limit(size)
      .$narrowType<{ due_at: number }>()
      .execute();
    for (const row of rows) {
      if (found.size === limit) break;
      if (busy.has(row.to_number) || found.has(row.to_number)) continue;
      found.set(row.to_number, { ...row, campaignId: lane.campaignId, maxConcurrent: lane.maxConcurrent });
    }
    const last = rows.at(-1);
    if (last === undefined || rows.length < size) break;
    after = last;
  }
  return [...found.values()];
}

async function claim(
  db: Db,
  { id, maxConcurrent }: Waiting,
  { owner, now }: ClaimRequest,
  settings: Map<string, PlaybookSettings>,
): Promise<ClaimedCall> {
  await db
    .updateTable("calls")
    .set((is) => ({ state: "dialing", due_at: null, attempts: is("attempts", "+", 1) }))
    .where("id", "=", id)
    .execute();
  const call = toCall(await visibleCalls(db).where("calls.id", "=", id).executeTakeFirstOrThrow());
  await db
    .insertInto("attempts")
    .values({ call_id: id, n: call.attempts, state: "claimed", owner, started_at: now, evidence: "{}" })
    .execute();
  const version = call.versionId ?? call.playbookId;
  const known = settings.get(version) ?? (await settingsOf(db, call));
  settings.set(version, known);
  return { call, attempt: call.attempts, settings: known, campaignMaxConcurrent: maxConcurrent };
}

/** Of the version that the call is bound to, or else of the playbook as it is now. */
async function settingsOf(db: Db, call: CallRow): Promise<PlaybookSettings> {
  const row =
    call.versionId === null
      ? await db
          .selectFrom("playbooks")
          .select("settings")
          .where("id", "=", call.playbookId)
          .executeTakeFirstOrThrow()
      : await db
          .selectFrom("versions")
          .select("settings")
          .where("id", "=", call.versionId)
          .executeTakeFirstOrThrow();
  return JSON.parse(row.settings);
}

/** A scheduled campaign runs from its first call on. */
async function startCampaigns(db: Db, claimed: readonly ClaimedCall[]): Promise<void> {
  for (const id of new Set(claimed.map(({ call }) => call.campaignId))) {
    if (id === null) continue;
    await db
      .updateTable("campaigns")
      .set({ status: "running" })
      .where("id", "=", id)
      .where("status", "=", "scheduled")
      .execute();
  }
}

function firstDueAfter(now: number) {
  return sql<number | null>`(select min(due_at) from calls where lane_id = lanes.id and due_at > ${now})`;
}

function byDue(a: Waiting, b: Waiting): number {
  if (a.due_at !== b.due_at) return a.due_at - b.due_at;
  return a.id < b.id ? -1 : 1;
}
