import { isUuid } from "#base";
import { listStatuses, normalizePhone, parseDateRange, statesOfListStatus } from "#domain";
import type { Log } from "#host";
import { Readable } from "node:stream";
import { badRequest, orRefuse } from "./failure.ts";
import type { Answer } from "./http.ts";
import { listRecord, type RecordingUrl } from "./records.ts";
import type { Account, Call, CallQuery, Service } from "./service.ts";

type Query = Readonly<Record<string, unknown>>;

const maxLimit = 1000;

/** Reads the query of a list; dates are read in the account's zone. `owner` lifts the date limits. */
export function readCallQuery(query: Query, account: Account, now: number, owner = false): CallQuery {
  const status = text(query, "status");
  const states = status === undefined ? undefined : statesOfListStatus(status);
  if (status !== undefined && !states)
    throw badRequest(`status must be one of ${listStatuses.join(", ")}`, "status");
  const playbookId = owner ? text(query, "playbook_id") : uuid(query, "playbook_id");
  const campaignId = owner ? text(query, "campaign_id") : uuid(query, "campaign_id");
  const phone = text(query, "phone");
  const cursor = text(query, "cursor");
  const limit = readLimit(text(query, "limit"));
  return {
    accountId: account.id,
    ...readDates(query, account, now, owner),
    ...(states && { states }),
    ...(playbookId !== undefined && { playbookId }),
    ...(campaignId !== undefined && { campaignId }),
    ...(phone !== undefined && { phone: searchedPhone(phone) }),
    ...(cursor !== undefined && { before: readCursor(cursor) }),
    ...(limit !== undefined && { limit }),
  };
}

interface ListPlace {
  readonly service: Pick<Service, "listCalls">;
  readonly recordingUrl: RecordingUrl;
  /** Path and query of the request, for the link to the next page. */
  readonly url: string;
  readonly log: Log;
}

/** The list as a bare JSON array: one page when the query has a limit, else every match as a stream. */
export async function answerCallList(query: CallQuery, place: ListPlace): Promise<Answer> {
  if (query.limit !== undefined) return answerPage(query, query.limit, place);
  const pages = place.service.listCalls(query)[Symbol.asyncIterator]();
  const first = await pages.next(); // Before the headers leave: until here a failure still has a status.
  const stream = Readable.from(jsonArray(first, pages, place), { highWaterMark: 1 });
  return { type: "stream", stream, contentType: "application/json; charset=utf-8" };
}

async function answerPage(query: CallQuery, limit: number, place: ListPlace): Promise<Answer> {
  const rows: Call[] = [];
  for await (const page of place.service.listCalls({ ...query, limit: limit + 1 })) rows.push(...page);
  const shown = rows.slice(0, limit);
  const last = rows.length > limit ? shown.at(-1) : undefined;
  const body = shown.map((call) => listRecord(call, place.recordingUrl));
  if (!last) return { type: "json", body };
  const cursor = Buffer.from(`${last.createdAt} ${last.id}`).toString("base64url");
  const headers = { "outdial-next-cursor": cursor, link: `<${withCursor(place.url, cursor)}>; rel="next"` };
  return { type: "json", body, headers };
}

async function* jsonArray(
  first: IteratorResult<readonly Call[]>,
  pages: AsyncIterator<readonly Call[]>,
  place: ListPlace,
): AsyncGenerator<string> {
  let separator = "[";
  try {
    for (let page = first; !page.done; page = await pages.next()) {
      if (page.value.length === 0) continue;
      const records = page.value.map((call) => JSON.stringify(listRecord(call, place.recordingUrl)));
      yield `${separator}${records.join(",")}`;
      separator = ",";
    }
    yield separator === "[" ? "[]" : "]";
  } catch (error) {
    // Too late for a status: the connection breaks off, and the client sees an unfinished array.
    place.log.error("list broken off", { error: String(error) });
    throw error;
  } finally {
    await pages.return?.();
  }
}

function readDates(
  query: Query,
  account: Account,
  now: number,
  owner: boolean,
): { from?: number; to?: number } {
  const startDate = text(query, "startDate");
  const endDate = text(query, "endDate");
  const daysFromNow = text(query, "daysFromNow");
  if (owner && startDate === undefined && endDate === undefined && daysFromNow === undefined) return {};
  const dates = { startDate, endDate, daysFromNow };
  return orRefuse(parseDateRange(dates, account.timezone, now, owner ? "unlimited" : "90-days"));
}

function readLimit(limit: string | undefined): number | undefined {
  if (limit === undefined) return undefined;
  const value = /^\d{1,4}$/.test(limit) ? Number(limit) : 0;
  if (value >= 1 && value <= maxLimit) return value;
  throw badRequest(`limit must be a whole number from 1 to ${maxLimit}`, "limit");
}

function readCursor(cursor: string): { readonly createdAt: number; readonly id: string } {
  const [, time = "", id = ""] = /^(\d{1,16}) (\S+)$/.exec(Buffer.from(cursor, "base64url").toString()) ?? [];
  if (isUuid(id)) return { createdAt: Number(time), id };
  throw badRequest("cursor must be the value of an outdial-next-cursor header", "cursor");
}

function withCursor(url: string, cursor: string): string {
  const [path = "", query = ""] = url.split("?", 2);
  const params = new URLSearchParams(query);
  params.set("cursor", cursor);
  return `${path}?${params.toString()}`;
}

/** What is no number is searched as it is: calls to wrong numbers keep the text they were given. */
function searchedPhone(phone: string): string {
  // A plus sign that was not encoded arrives from a query string as a space.
  const written = phone.startsWith(" ") ? `+${phone.trim()}` : phone.trim();
  const number = normalizePhone(written);
  return number.ok ? number.value : written;
}

function uuid(query: Query, name: string): string | undefined {
  const value = text(query, name);
  if (value === undefined || isUuid(value)) return value?.toLowerCase();
  throw badRequest(`${name} must be a UUID`, name);
}

function text(query: Query, name: string): string | undefined {
  const value = query[name];
  if (value === undefined || typeof value === "string") return value;
  throw badRequest(`${name} must be given once`, name);
}
