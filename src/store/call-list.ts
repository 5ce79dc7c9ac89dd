import { sql } from "kysely";
import { toCall, visibleCalls, type CallQuery } from "./call-record.ts";
import type { CallFilter, CallRow } from "./rows.ts";
import type { Db } from "./schema.ts";

/** One page of calls, newest first. Every kind of filter walks an index in order and stops when the page is full. */
export async function listCalls(db: Db, filter: CallFilter): Promise<readonly CallRow[]> {
  const { states } = filter;
  if (states === undefined || states.length === 1) return page(db, filter, states?.[0]);
  // No index is in the order of several states at once: take a page of each and keep the newest.
  const pages: CallRow[] = [];
  for (const state of new Set(states)) pages.push(...(await page(db, filter, state)));
  return pages.sort(newestFirst).slice(0, filter.limit);
}

/** The statement behind `listCalls`, for one state or all. */
export function callPage(db: Db, filter: CallFilter, state: string | undefined): CallQuery {
  let query = visibleCalls(db)
    .where("calls.account_id", "=", filter.accountId)
    .orderBy("calls.created_at", "desc")
    .orderBy("calls.id", "desc")
    .limit(filter.limit);
  if (filter.from !== undefined) query = query.where("calls.created_at", ">=", filter.from);
  if (filter.to !== undefined) query = query.where("calls.created_at", "<=", filter.to);
  if (filter.before !== undefined) {
    const { createdAt, id } = filter.before;
    query = query.where(sql<boolean>`(calls.created_at, calls.id) < (${createdAt}, ${id})`);
  }
  if (state !== undefined) query = query.where(sql<boolean>`calls.state = ${state}`);
  if (filter.playbookId !== undefined) query = query.where("calls.playbook_id", "=", filter.playbookId);
  if (filter.campaignId !== undefined) query = query.where("calls.campaign_id", "=", filter.campaignId);
  if (filter.phone !== undefined) query = query.where("calls.to_number", "=", filter.phone);
  return query;
}

async function page(db: Db, filter: CallFilter, state: string | undefined): Promise<CallRow[]> {
  return (await callPage(db, filter, state).execute()).map(toCall);
}

function newestFirst(a: CallRow, b: CallRow): number {
  if (a.createdAt !== b.createdAt) return b.createdAt - a.createdAt;
  return a.id < b.id ? 1 : -1;
}
