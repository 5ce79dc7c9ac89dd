import type { TrunkBody } from "#wire";
import { usageError } from "./command-error.ts";
import type { Context, Input } from "./handler.ts";
import type { Row } from "./fields.ts";
import { readWhole } from "./read-input.ts";
import { secretFile } from "./secrets.ts";
import { views } from "./views.ts";

/** `outdial trunk add`. The password never is an argument: those are visible to everyone on the machine. */
export async function addTrunk(context: Context, input: Input): Promise<void> {
  const body = input.flag("sandbox") ? sandboxBody(input) : await providerBody(context, input);
  const { client } = await context.server();
  await context.print.record(views.trunk, await client.post<Row>("/admin/trunks", body));
}

/** `outdial trunk list`. */
export async function listTrunks(context: Context): Promise<void> {
  const { client } = await context.server();
  const rows = await client.get<readonly Row[]>("/admin/trunks");
  await context.print.list(views.trunk, rows);
  if (rows.length === 0) context.notes.say("no trunks; outdial trunk add --help");
}

/** `outdial trunk view`. */
export async function viewTrunk(context: Context, input: Input): Promise<void> {
  const { client } = await context.server();
  await context.print.record(views.trunk, await client.get<Row>(trunkPath(input)));
}

/** `outdial trunk remove`. */
export async function removeTrunk(context: Context, input: Input): Promise<void> {
  await context.ask.confirm(`Remove trunk ${input.arg("name")} and its password?`);
  const { client } = await context.server();
  await client.delete(trunkPath(input));
  context.notes.say(`removed trunk ${input.arg("name")}`);
}

/** `outdial trunk default`. */
export async function setDefaultTrunk(context: Context, input: Input): Promise<void> {
  const { client } = await context.server();
  await context.print.record(views.trunk, await client.post<Row>(`${trunkPath(input)}/default`));
}

function trunkPath(input: Input): string {
  return `/admin/trunks/${encodeURIComponent(input.arg("name"))}`;
}

function sandboxBody(input: Input): TrunkBody {
  const wrong = ["username", "password-stdin", "password-file"].find((name) => input.given.includes(name));
  if (wrong !== undefined)
    throw usageError(`--${wrong} does not go with --sandbox`, "the sandbox asks for no password");
  return {
    name: input.arg("name"),
    kind: "sandbox",
    ...addressFields(input.text("server")),
    ...sharedFields(input),
  };
}

/** Nothing for no server: then it is the carrier inside the daemon. */
function addressFields(server: string | undefined): { readonly host?: string; readonly port?: number } {
  if (server === undefined) return {};
  const { host, port } = parseServer(server);
  return { host, ...(port === undefined ? {} : { port }) };
}

async function providerBody(context: Context, input: Input): Promise<TrunkBody> {
  const server = input.text("server");
  if (server === undefined) {
    throw usageError(
      "where is the provider?",
      "add --server <host[:port]>, or --sandbox for the simulated carrier",
    );
  }
  const username = input.text("username");
  const shared = {
    name: input.arg("name"),
    ...addressFields(server),
    ...sharedFields(input),
  };
  if (username === undefined) {
    if (input.flag("password-stdin") || input.given.includes("password-file")) {
      throw usageError("a password goes with a user name", "add --username <name>");
    }
    return { ...shared, kind: "ip" };
  }
  return { ...shared, kind: "digest", username, password: await passwordOf(context, input) };
}

async function passwordOf(context: Context, input: Input): Promise<string> {
  const file = input.text("password-file");
  if (file !== undefined) return secretFile(file);
  if (!input.flag("password-stdin")) {
    return context.ask.secret("Password of the trunk: ", "--password-stdin or --password-file <file>");
  }
  const password = (await readWhole(context.io, "-")).replace(/\r?\n$/, "");
  if (password === "") throw usageError("standard input held no password");
  return password;
}

function sharedFields(input: Input): Partial<TrunkBody> {
  const callerId = input.text("caller-id");
  const codecs = codecList(input.text("codecs"));
  const maxCalls = input.whole("max-calls", 1);
  const rate = input.text("rate");
  if (rate !== undefined && !(Number(rate) > 0))
    throw usageError(`--rate takes a number of calls, not "${rate}"`);
  return {
    ...(callerId === undefined ? {} : { caller_id: callerId }),
    ...(codecs === undefined ? {} : { codecs }),
    ...(maxCalls === undefined ? {} : { max_calls: maxCalls }),
    ...(rate === undefined ? {} : { calls_per_second: Number(rate) }),
    ...(input.flag("default") ? { default: true } : {}),
  };
}

function codecList(text: string | undefined): ("PCMU" | "PCMA" | "G722")[] | undefined {
  return text?.split(",").map((name) => {
    const codec = name.trim().toUpperCase();
    if (codec === "PCMA" || codec === "PCMU" || codec === "G722") return codec;
    throw usageError(`there is no codec "${name}"`, "use PCMA, PCMU, G722 or several of them");
  });
}

function parseServer(text: string): { readonly host: string; readonly port: number | undefined } {
  const match = /^(?:sip:)?(?:\[([0-9a-f:.]+)\]|([^:[\]\s/@]+))(?::(\d{1,5}))?$/i.exec(text);
  const port = match?.[3] === undefined ? undefined : Number(match[3]);
  if (match === null || (port !== undefined && (port < 1 || port > 65_535))) {
    throw usageError(`"${text}" is no address of a provider`, "write sip.example.com or 192.0.2.10:5060");
  }
  return { host: match[1] ?? match[2] ?? "", port };
}
