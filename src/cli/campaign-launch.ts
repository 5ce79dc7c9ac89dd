import type { AdminLaunchedCampaign, ContactBody } from "#wire";
import { basename } from "node:path";
import { awaitCampaign, followCampaign } from "./campaign-watch.ts";
import { CommandError, usageError } from "./command-error.ts";
import { contactBatches, requestLimits, type Batch } from "./contact-batches.ts";
import type { Context, Input, Server } from "./handler.ts";
import { readContacts, type ReadOptions } from "./csv-contacts.ts";
import { mappingText, type Target } from "./csv-mapping.ts";
import { openCsv, type CsvSource } from "./csv-source.ts";
import { exitCode } from "./exit-codes.ts";
import { objectOf } from "./json.ts";
import { parseMoment } from "./moment.ts";
import { parseRecallOption } from "./recall-option.ts";
import { findPlaybookId } from "./references.ts";
import { openRejectFile, type RejectFile } from "./reject-file.ts";

const confirmAboveDefault = 25;
const rejectsShown = 5;
const samplesShown = 3;

/** `outdial campaign launch`: reads and checks the whole file first, then asks, then sends. */
export async function launchCampaign(context: Context, input: Input): Promise<number> {
  const order = await orderOf(context, input);
  const file = input.arg("file");
  await using source = await openCsv(context.io, file, {
    encoding: input.text("encoding"),
    delimiter: input.text("delimiter"),
  });
  if (source.guessed)
    context.notes.say(`${file} is not UTF-8; reading it as ${source.encoding} (--encoding says otherwise)`);
  const options: ReadOptions = {
    map: input.list("map"),
    country: input.text("country") ?? context.config.country,
    limit: input.whole("limit", 1) ?? Infinity,
  };
  await using rejects = lazyRejects(input.text("rejects"));
  const survey = await surveyFile(context, source, options, rejects);
  report(context, survey, input.text("rejects"));
  if (survey.contacts === 0) {
    throw usageError(
      "the file holds no contact that can be called",
      "correct the rows above, or see outdial help csv",
    );
  }
  if (!order.dryRun) await confirm(context, survey.contacts);
  const server = await context.server();
  const answers = await send(context, server, { order, source, options, survey, rejects });
  return await finish(context, input, server, { answers, survey });
}

interface Order {
  readonly playbook: string;
  readonly name: string;
  readonly key: string | undefined;
  readonly dryRun: boolean;
  /** Fields of the body that both interfaces take. */
  readonly shared: Readonly<Record<string, unknown>>;
  readonly localOnly: Readonly<Record<string, unknown>>;
}

async function orderOf(context: Context, input: Input): Promise<Order> {
  const playbook = input.text("playbook") ?? context.config.playbook;
  if (playbook === undefined) {
    throw usageError("which playbook?", "add --playbook <name>      (outdial playbook list shows them)");
  }
  const at = input.text("at");
  const recall = input.text("recall");
  const trunk = input.text("trunk");
  const maxConcurrent = input.whole("max-concurrent", 1);
  const file = input.arg("file");
  const moment =
    at === undefined ? undefined : await parseMoment(at, context.io.clock.now(), context.settings.zone);
  return {
    playbook,
    name:
      input.text("name") ?? (file === "-" ? "standard input" : basename(file).replace(/\.[a-z0-9]+$/i, "")),
    key: input.text("key"),
    dryRun: input.flag("dry-run"),
    shared: {
      ...(moment === undefined ? {} : { launch_at: new Date(moment).toISOString() }),
      ...(recall === undefined ? {} : { recall: parseRecallOption(recall) }),
    },
    localOnly: {
      ...(trunk === undefined ? {} : { trunk }),
      ...(maxConcurrent === undefined ? {} : { max_concurrent: maxConcurrent }),
      ...(input.flag("dry-run") ? { dry_run: true } : {}),
    },
  };
}

interface Survey {
  headings: readonly string[];
  targets: readonly Target[];
  contacts: number;
  rejected: number;
  duplicates: number;
  readonly reasons: string[];
  readonly samples: ContactBody[];
  /** All of them when they fit into one request; else the file is read again. */
  batch: { readonly contacts: ContactBody[]; readonly rows: Batch["rows"][number][] } | undefined;
}

/** One pass over the file: counts, rejects, and the contacts themselves while they fit into one request. */
async function surveyFile(
  context: Context,
  source: CsvSource,
  options: ReadOptions,
  rejects: LazyRejects,
): Promise<Survey> {
  const survey: Survey = {
    headings: [],
    targets: [],
    contacts: 0,
    rejected: 0,
    duplicates: 0,
    reasons: [],
    samples: [],
    batch: { contacts: [], rows: [] },
  };
  let bytes = 0;
  for await (const result of readContacts(source, options)) {
    context.signal.throwIfAborted();
    switch (result.type) {
      case "header":
        survey.headings = result.headings;
        survey.targets = result.targets;
        break;
      case "duplicate":
        survey.duplicates++;
        break;
      case "rejected":
        survey.rejected++;
        if (survey.reasons.length < rejectsShown)
          survey.reasons.push(`line ${result.row.line}: ${result.reason}`);
        await rejects.add(survey.headings, result.row, result.reason);
        break;
      case "contact":
        survey.contacts++;
        if (survey.samples.length < samplesShown) survey.samples.push(result.contact);
        bytes += survey.batch === undefined ? 0 : Buffer.byteLength(JSON.stringify(result.contact)) + 1;
        if (survey.contacts > requestLimits.contacts || bytes > requestLimits.bytes) survey.batch = undefined;
        survey.batch?.contacts.push(result.contact);
        survey.batch?.rows.push(result.row);
        if (survey.contacts % 20_000 === 0) context.notes.progress(`reading: ${survey.contacts} contacts`);
        break;
    }
  }
  context.notes.progress("");
  return survey;
}

function report(context: Context, survey: Survey, rejectsFile: string | undefined): void {
  const { notes } = context;
  notes.say(`columns: ${mappingText(survey.headings, survey.targets)}`);
  for (const contact of survey.samples) notes.say(`  ${sampleText(contact)}`);
  if (survey.duplicates > 0)
    notes.say(`${survey.duplicates} ${survey.duplicates === 1 ? "duplicate" : "duplicates"} dropped`);
  if (survey.rejected === 0) return;
  notes.warn(`${survey.rejected} ${survey.rejected === 1 ? "row" : "rows"} rejected`);
  for (const reason of survey.reasons) notes.say(`  ${reason}`);
  const more = survey.rejected - survey.reasons.length;
  if (more > 0) notes.say(`  and ${more} more`);
  notes.say(
    rejectsFile === undefined ? "  --rejects <file> keeps them for correction" : `  kept in ${rejectsFile}`,
  );
}

function sampleText(contact: ContactBody): string {
  const { phone, custom_fields: custom, ...fields } = contact;
  const values = [...Object.values(fields), ...Object.values(objectOf(custom))];
  return [phone, ...values.map(String)].join("  ").slice(0, 120);
}

async function confirm(context: Context, contacts: number): Promise<void> {
  const above = context.config.confirmAbove ?? confirmAboveDefault;
  if (contacts > above) await context.ask.confirmCount(`This calls ${contacts} people.`, contacts);
}

interface Shipment {
  readonly order: Order;
  readonly source: CsvSource;
  readonly options: ReadOptions;
  readonly survey: Survey;
  readonly rejects: LazyRejects;
}

/** One request, or several under one key with their number added. */
async function send(
  context: Context,
  server: Server,
  shipment: Shipment,
): Promise<readonly AdminLaunchedCampaign[]> {
  const { order, source, options, survey, rejects } = shipment;
  const playbook =
    server.type === "local" ? order.playbook : await findPlaybookId(server.client, order.playbook);
  const single = survey.batch !== undefined;
  const answers: AdminLaunchedCampaign[] = [];
  for await (const batch of survey.batch === undefined ? contactBatches(source, options) : [survey.batch]) {
    const part = answers.length + 1;
    const key = order.key === undefined || single ? order.key : `${order.key}#${part}`;
    const body = {
      playbook_id: playbook,
      contacts: batch.contacts,
      ...order.shared,
      ...(server.type === "local"
        ? { name: single ? order.name : `${order.name} (${part})`, ...order.localOnly }
        : {}),
    };
    const path = server.type === "local" ? "/admin/campaigns" : "/campaign";
    const headers: Readonly<Record<string, string>> = key === undefined ? {} : { "idempotency-key": key };
    const answer = await sendPart(server, { path, body, headers, sent: answers });
    answers.push(answer);
    for (const { index, reason } of answer.rejected ?? []) {
      const row = batch.rows[index];
      if (row !== undefined) await rejects.add(survey.headings, row, reason);
    }
    if (!single) context.notes.say(`part ${part}: ${answer.message}`);
  }
  return answers;
}

async function sendPart(
  server: Server,
  part: {
    readonly path: string;
    readonly body: unknown;
    readonly headers: Readonly<Record<string, string>>;
    readonly sent: readonly AdminLaunchedCampaign[];
  },
): Promise<AdminLaunchedCampaign> {
  try {
    return await server.client.post<AdminLaunchedCampaign>(part.path, part.body, part.headers);
  } catch (error) {
    if (!(error instanceof CommandError) || part.sent.length === 0) throw error;
    const ids = part.sent.map((answer) => answer.campaign_id).join(", ");
    throw new CommandError(
      "partial",
      `only the first ${part.sent.length} parts were launched: ${error.message}`,
      {
        why: `launched: ${ids}`,
        fix: "with --key, launch again with the same one: what was launched is not launched twice",
        cause: error,
      },
    );
  }
}

interface Launched {
  readonly answers: readonly AdminLaunchedCampaign[];
  readonly survey: Survey;
}

async function finish(context: Context, input: Input, server: Server, launched: Launched): Promise<number> {
  const { answers, survey } = launched;
  const [first] = answers;
  const ids = answers.flatMap((answer) => (answer.campaign_id === null ? [] : [answer.campaign_id]));
  const sum = (count: (answer: AdminLaunchedCampaign) => number | undefined): number =>
    answers.reduce((total, answer) => total + (count(answer) ?? 0), 0);
  const refused = sum((answer) => answer.error_calls);
  if (answers.length === 1 && first !== undefined) {
    context.notes.say(input.flag("dry-run") ? `dry run: ${first.message}` : first.message);
  }
  const { format } = context.print;
  if (format === "json" || format === "jsonl") {
    await context.print.event(
      {
        ...first,
        total_contacts: sum((answer) => answer.total_contacts),
        campaign_ids: ids,
        rejected_rows: survey.rejected + refused,
        duplicates: survey.duplicates,
      },
      "",
    );
  } else for (const id of ids) await context.print.text(id);
  const code = survey.rejected + refused > 0 ? exitCode("partial") : 0;
  for (const id of ids) {
    const target = { id, timeoutMs: input.durationMs("timeout") };
    if (input.flag("follow")) await followCampaign(context, server, target);
    else if (input.flag("wait")) await awaitCampaign(context, server, target);
  }
  return code;
}

interface LazyRejects extends AsyncDisposable {
  add(headings: readonly string[], row: Batch["rows"][number], reason: string): Promise<void>;
}

/** Makes the file with the first row that goes into it: no rejects, no file. */
function lazyRejects(path: string | undefined): LazyRejects {
  let file: RejectFile | undefined;
  return {
    add: async (headings, row, reason) => {
      if (path === undefined) return;
      file ??= await openRejectFile(path, headings);
      await file.add(row, reason);
    },
    [Symbol.asyncDispose]: async () => file?.[Symbol.asyncDispose](),
  };
}
