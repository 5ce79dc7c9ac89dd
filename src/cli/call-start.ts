import type { AdminCallBody, AdminStartedCall, CallBody } from "#wire";
import { waitForCall, followCall, type Watched } from "./call-watch.ts";
import { usageError } from "./command-error.ts";
import type { Context, Input, Server } from "./handler.ts";
import { exitCodeOfCall } from "./exit-codes.ts";
import type { Row } from "./fields.ts";
import { parseMoment } from "./moment.ts";
import { readWhole } from "./read-input.ts";
import { parseRecallOption } from "./recall-option.ts";
import { findPlaybookId } from "./references.ts";
import { causeOf, labelled } from "./statuses.ts";
import { views } from "./views.ts";

/** `outdial call start`. With --wait or --follow the exit code says how the call ended. */
export async function startCall(context: Context, input: Input): Promise<number> {
  const order = await orderOf(context, input);
  const server = await context.server();
  const started = await place(server, order, input);
  if (started.id === null) {
    context.notes.say(`dry run: ${started.message}`);
    return 0;
  }
  context.notes.say(started.message);
  const id = started.id;
  if (!input.flag("wait") && !input.flag("follow")) {
    await printStarted(context, { ...started }, id);
    return 0;
  }
  const target: Watched = { id, timeoutMs: input.durationMs("timeout") };
  const record = input.flag("follow")
    ? await followCall(context, server, target)
    : await waitForCall(context, server, target);
  if (!input.flag("follow") || context.print.format === "ids")
    await context.print.record(views.call, labelled(record));
  return exitCodeOfCall(String(record["status"]), record["success"] === true, causeOf(record));
}

interface Order {
  readonly playbook: string;
  readonly body: Omit<CallBody, "playbook_id">;
  readonly params: Readonly<Record<string, string>>;
  readonly localOnly: Pick<AdminCallBody, "trunk" | "recall" | "at" | "dry_run">;
}

async function orderOf(context: Context, input: Input): Promise<Order> {
  const playbook = input.text("playbook") ?? context.config.playbook;
  if (playbook === undefined) {
    throw usageError("which playbook?", "add --playbook <name>      (outdial playbook list shows them)");
  }
  const at = input.text("at");
  const recall = input.text("recall");
  const trunk = input.text("trunk");
  const version = input.text("version");
  const voice = input.choice("voice", ["1", "2", "3", "4", "5", "6", "7"]);
  const model = input.choice("voice-model", ["fast", "human"]);
  const language = input.text("language");
  return {
    playbook,
    params: await paramsOf(context, input),
    body: {
      phone: input.arg("phone"),
      ...(version === undefined ? {} : { version_id: version }),
      ...(voice === undefined ? {} : { voice_id: voice }),
      ...(model === undefined ? {} : { voice_model: model }),
      ...(language === undefined ? {} : { language }),
      ...(input.flag("interrupt") ? { interrupt: true } : {}),
    },
    localOnly: {
      ...(trunk === undefined ? {} : { trunk }),
      ...(recall === undefined ? {} : { recall: [...parseRecallOption(recall)] }),
      ...(at === undefined ? {} : { at: await instant(context, at) }),
      ...(input.flag("dry-run") ? { dry_run: true } : {}),
    },
  };
}

async function instant(context: Context, text: string): Promise<string> {
  return new Date(await parseMoment(text, context.io.clock.now(), context.settings.zone)).toISOString();
}

async function place(server: Server, order: Order, input: Input): Promise<AdminStartedCall> {
  const key = input.text("key");
  const headers: Readonly<Record<string, string>> = key === undefined ? {} : { "idempotency-key": key };
  if (server.type === "local") {
    const body = { ...order.body, ...order.localOnly, playbook_id: order.playbook, params: order.params };
    return server.client.post<AdminStartedCall>("/admin/calls", body, headers);
  }
  const taken = Object.keys(order.params).find((name) => Object.hasOwn(publicFields, name));
  if (taken !== undefined)
    throw usageError(`--param ${taken} has the name of a field of the API`, "use another name");
  const body = {
    ...order.params,
    ...order.body,
    playbook_id: await findPlaybookId(server.client, order.playbook),
  };
  const answer = await server.client.post<Omit<AdminStartedCall, "dry_run">>("/call", body, headers);
  return { ...answer, dry_run: false };
}

/** Names a custom parameter cannot have in the public body. */
const publicFields = {
  phone: 1,
  playbook_id: 1,
  version_id: 1,
  voice_id: 1,
  voice_model: 1,
  language: 1,
  interrupt: 1,
} as const;

async function paramsOf(context: Context, input: Input): Promise<Readonly<Record<string, string>>> {
  const params = new Map<string, string>();
  const file = input.text("params-file");
  if (file !== undefined) {
    for (const [name, value] of Object.entries(await paramsFile(context, file))) params.set(name, value);
  }
  for (const pair of input.list("param")) {
    const at = pair.indexOf("=");
    if (at < 1) throw usageError(`--param takes name=value, not "${pair}"`);
    params.set(pair.slice(0, at), pair.slice(at + 1));
  }
  // fromEntries defines own properties: a parameter called __proto__ is data like any other.
  return Object.fromEntries(params);
}

async function paramsFile(context: Context, file: string): Promise<Readonly<Record<string, string>>> {
  const text = await readWhole(context.io, file);
  const value = parseJson(text, file);
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    throw usageError(`${file} must hold a JSON object of names and texts`);
  }
  const wrong = Object.entries(value).find(([, one]) => typeof one === "object");
  if (wrong !== undefined) throw usageError(`${file}: ${wrong[0]} must be a text`);
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, String(one)]));
}

function parseJson(text: string, file: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch (cause) {
    throw usageError(`${file} is not JSON`, cause instanceof Error ? cause.message : undefined);
  }
}

async function printStarted(context: Context, started: Row, id: string): Promise<void> {
  const { print } = context;
  if (print.format === "json" || print.format === "jsonl") return print.event(started, "");
  return print.text(id);
}
