import { isObject } from "./json.ts";
import { fieldValue, plainValue, type Row } from "./fields.ts";
import type { Context, Server } from "./handler.ts";
import { pause } from "./io.ts";
import { getCall } from "./references.ts";
import { statusLabel } from "./statuses.ts";
import type { Tail } from "./tail-display.ts";
import { passes } from "./tail-filter.ts";
import { instantOf } from "./times.ts";
import { transcriptTurns } from "./transcript.ts";

/** The contract allows 100 requests a minute: a list and six calls every five seconds are 84. */
const pollMs = 5_000;
const looksPerPoll = 6;
const pageSize = 200;
/** A call created longer ago than this is not under way any more. */
const longestCallMs = 7_200_000;

/** The contract's 90 days, less a minute for the way. */
const furthestBackMs = 90 * 86_400_000 - 60_000;

/** What was last seen of a call. */
interface Seen {
  readonly label: string;
  readonly turns: number;
}

/**
 * A service with the public API tells nothing by itself: calls are listed every five seconds, and those under way
 * looked at one by one, a few at a time. What changed becomes the events that the daemon would have told.
 */
export async function pollCalls(context: Context, server: Server, tail: Tail): Promise<void> {
  const { io, notes, signal } = context;
  const seen = new Map<string, Seen>();
  const now = io.clock.now();
  const from = new Date(
    Math.max((tail.filter.since ?? now) - longestCallMs, now - furthestBackMs),
  ).toISOString();
  notes.say("this service is asked every 5 s; keys and who answered are not told");
  for (let round = 0; ; round++) {
    const rows = await newestCalls(server, tail, from);
    const looked = await lookClosely(server, rows, round);
    for (const row of rows.toReversed()) {
      const record = looked.get(plainValue(row["id"])) ?? row;
      for (const event of changes(seen, record, io.clock.now())) {
        const wanted = tail.campaignId === undefined || event["campaign_id"] === tail.campaignId;
        const isNews = round > 0 || tail.filter.since !== undefined || !tail.follow;
        if (wanted && isNews && passes(tail.filter, event)) await tail.display.show(event);
      }
    }
    if (!tail.follow) return;
    await pause(io.steady, pollMs, signal);
  }
}

async function newestCalls(server: Server, tail: Tail, from: string): Promise<readonly Row[]> {
  const query = {
    startDate: from,
    playbook_id: tail.filter.playbookId,
    campaign_id: tail.campaignId,
    limit: pageSize,
  };
  return (await server.client.get<readonly Row[]>("/calls", query)).slice(0, pageSize);
}

/** Only a call's own record tells ringing from talking, and has the words of a call under way. */
async function lookClosely(
  server: Server,
  rows: readonly Row[],
  round: number,
): Promise<ReadonlyMap<string, Row>> {
  const open = rows.filter((row) => row["status"] === "open").map((row) => plainValue(row["id"]));
  const first = open.length === 0 ? 0 : (round * looksPerPoll) % open.length;
  const turn = [...open.slice(first), ...open.slice(0, first)].slice(0, looksPerPoll);
  const records = new Map<string, Row>();
  for (const id of turn) records.set(id, await getCall(server, id));
  return records;
}

/** The events between what was last seen of a call and what is seen now. */
function* changes(seen: Map<string, Seen>, record: Row, now: number): Iterable<Row> {
  const id = plainValue(record["id"]);
  const before = seen.get(id) ?? { label: "", turns: 0 };
  const turns = transcriptTurns(plainValue(record["transcript"]));
  const label = statusLabel(record);
  const state = plainValue(fieldValue(record, "status"));
  seen.set(id, { label, turns: Math.max(before.turns, turns.length) });
  const shared = {
    call_id: id,
    campaign_id: record["campaign_id"] ?? null,
    at: new Date(state === "open" || before.label !== "" ? now : endOf(record, now)).toISOString(),
  };
  const about = {
    to: record["to"],
    playbook_id: record["playbook_id"] ?? record["assistant_id"],
    ...(record["playbook_name"] === undefined ? {} : { playbook_name: record["playbook_name"] }),
  };
  for (const { speaker, text } of turns.slice(before.turns)) {
    const turn = { speaker: isAgent(speaker, turns[0]?.speaker) ? "agent" : "callee", label: speaker, text };
    yield { ...shared, type: "turn-finished", data: { ...about, turn } };
  }
  if (label === before.label) return;
  const type = statusTypes[label] ?? "call-ended";
  if (type === "") return;
  const outcome = isObject(record["outcome"]) ? { outcome: record["outcome"] } : {};
  const end = { state: label, duration: record["duration"], success: record["success"], ...outcome };
  yield { ...shared, type, data: { ...about, ...(type === "call-ended" ? end : {}) } };
}

/** Which event says that a call has come into a state; waiting calls are no news. */
const statusTypes: Readonly<Record<string, string>> = {
  open: "",
  scheduled: "",
  queued: "",
  dialing: "call-dialing",
  ringing: "call-ringing",
  "in-progress": "call-answered",
  wrapping: "",
};

function endOf(record: Row, now: number): number {
  const created = instantOf(record["timestamp"]) ?? instantOf(record["created_time"]) ?? now;
  return Math.min(now, created + Number(record["duration"] ?? 0) * 1000);
}

/** Labels are the playbook's own: the usual ones are known, else the first to speak is the agent. */
function isAgent(label: string, first: string | undefined): boolean {
  if (/^(assistant|agent|bot|asistente|agente)$/i.test(label)) return true;
  return !/^(customer|callee|user|cliente)$/i.test(label) && label === first;
}
