import { writeFileAtomic } from "#host";
import { createWriteStream } from "node:fs";
import { pipeline } from "node:stream/promises";
import { showSip, sipMessages } from "./call-sip.ts";
import { attemptLines, withTimes } from "./call-times.ts";
import { cleanLines } from "./clean-text.ts";
import { usageError } from "./command-error.ts";
import type { Context, Input, Server } from "./handler.ts";
import { plainValue, type Row } from "./fields.ts";
import { readJson } from "./json.ts";
import { isoOption } from "./moment-option.ts";
import { callIdOf, campaignIdOf, getCall, playbookIdOf } from "./references.ts";
import { labelled, statusFilter, statusLabel } from "./statuses.ts";
import { transcriptText, transcriptTurns } from "./transcript.ts";
import { bodyText, headerText } from "./transport.ts";
import { views } from "./views.ts";

const dayMs = 86_400_000;
const pageSize = 1000;

/** `outdial call list`. */
export async function listCalls(context: Context, input: Input): Promise<void> {
  const wanted = input.text("status");
  const filter = wanted === undefined ? undefined : statusFilter(wanted);
  const limit = input.flag("all") ? Infinity : (input.whole("limit", 1) ?? 30);
  const server = await context.server();
  const query = await callQuery(context, input, server, filter?.status);
  const matches = (row: Row): boolean => filter?.state === undefined || statusLabel(row) === filter.state;
  const rows: Row[] = [];
  let more = false;
  for await (const page of pages(server, query, limit)) {
    for (const row of page.filter(matches)) {
      if (rows.length < limit) rows.push(labelled(row));
      else more = true;
    }
    if (more) break;
  }
  await context.print.list(views.call, rows);
  if (more) context.notes.say(`showing the newest ${rows.length}; --all shows every one`);
  else if (rows.length === 0) context.notes.say("no calls match");
}

type Query = Readonly<Record<string, string | number | undefined>>;

async function callQuery(
  context: Context,
  input: Input,
  server: Server,
  status: string | undefined,
): Promise<Query> {
  const since = await isoOption(context, input, "since");
  const until = await isoOption(context, input, "until");
  const playbook = input.text("playbook");
  const campaign = input.text("campaign");
  return {
    status,
    ...(since === undefined && until === undefined
      ? { daysFromNow: 90 }
      : { startDate: since ?? new Date(context.io.clock.now() - 90 * dayMs + 60_000).toISOString() }),
    ...(until === undefined ? {} : { endDate: until }),
    playbook_id: playbook === undefined ? undefined : await playbookIdOf(server, playbook),
    campaign_id: campaign === undefined ? undefined : await campaignIdOf(server, campaign),
    phone: input.text("phone"),
  };
}

/** A service that knows no pages answers with all at once and no cursor. */
async function* pages(server: Server, query: Query, limit: number): AsyncIterable<readonly Row[]> {
  const path = server.type === "local" ? "/admin/calls" : "/calls";
  const size = Math.min(pageSize, limit + 1);
  for (let cursor: string | undefined; ;) {
    const reply = await server.client.open(path, { ...query, limit: size, cursor });
    const answer = readJson<readonly Row[] | { readonly calls: readonly Row[] }>(await bodyText(reply));
    const rows = "calls" in answer ? answer.calls : answer;
    yield rows;
    cursor = headerText(reply, "outdial-next-cursor");
    if (cursor === undefined || rows.length === 0) return;
  }
}

/** `outdial call view`. */
export async function viewCall(context: Context, input: Input): Promise<void> {
  const { print, settings } = context;
  const server = await context.server();
  const found = await getCall(server, await callIdOf(server, input.arg("id")));
  const row = withTimes(labelled(found));
  const wantsSip = input.flag("sip") || input.text("pcap") !== undefined;
  const sip = wantsSip ? await sipMessages(server, plainValue(row["id"])) : undefined;
  if (input.text("pcap") !== "-")
    await print.record(views.callDetail, sip !== undefined && input.flag("sip") ? { ...row, sip } : row);
  if (settings.format === undefined && input.text("pcap") !== "-") {
    const attempts = attemptLines(row, settings.zone);
    if (attempts.length > 0) await print.text(`\n${attempts.join("\n")}`);
    if (input.flag("transcript")) await print.text(`\n${transcriptText(plainValue(row["transcript"]))}`);
  }
  if (sip !== undefined) await showSip(context, input, sip);
}

/** `outdial call transcript`: text, the HTML of the API, or JSON. */
export async function printTranscript(context: Context, input: Input): Promise<void> {
  const format = context.settings.ownFormat ?? "text";
  const server = await context.server();
  const row = await getCall(server, await callIdOf(server, input.arg("id")));
  const html = plainValue(row["transcript"]);
  const text =
    format === "html"
      ? html
      : format === "json"
        ? JSON.stringify(transcriptTurns(html))
        : transcriptText(html);
  const out = input.text("out");
  if (out !== undefined && out !== "-") await writeFileAtomic(out, `${text}\n`, 0o600);
  else if (html === "" && format !== "json")
    context.notes.say("nothing was said, or the call is not over yet");
  else await context.print.text(format === "text" ? cleanLines(text) : text);
}

/** `outdial call recording`. */
export async function fetchRecording(context: Context, input: Input): Promise<void> {
  const out = input.text("out");
  if (out === undefined) throw usageError("where to?", "add --out <file>, or --out - for standard output");
  if (out === "-" && context.print.interactive)
    throw usageError("a WAV file is nothing for a terminal", "add --out <file>");
  const { client } = await context.server();
  const reply = await client.open(`/admin/calls/${encodeURIComponent(input.arg("id"))}/recording`);
  if (out === "-") {
    for await (const chunk of reply.body) await context.print.bytes(chunk);
    return;
  }
  await pipeline(reply.body, createWriteStream(out, { mode: 0o600 }));
  context.notes.say(`wrote ${out}`);
}

/** `outdial call resolve`. */
export async function resolveCall(context: Context, input: Input): Promise<void> {
  const as = input.text("as");
  if (as === undefined) throw usageError("how does it end?", "add --as closed or --as failed");
  const note = input.text("note");
  const { client } = await context.server();
  const path = `/admin/calls/${encodeURIComponent(input.arg("id"))}/resolve`;
  const row = await client.post<Row>(path, { as, ...(note === undefined ? {} : { note }) });
  await context.print.record(views.call, labelled(row));
}
