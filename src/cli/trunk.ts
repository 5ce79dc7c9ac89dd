import type { TrunkBody, TrunkChange, TrunkTest, TrunkView } from "#wire";
import { usageError } from "./command-error.ts";
import { exitCode } from "./exit-codes.ts";
import type { Row } from "./fields.ts";
import type { Context, Input } from "./handler.ts";
import { optionName } from "./option-spec.ts";
import { readWhole } from "./read-input.ts";
import { secretFile } from "./secrets.ts";
import { addressFields, either, lineFields, settingsOf } from "./trunk-input.ts";
import { addTrunkOptions } from "./trunk-options.ts";
import { trunkPresets, type TrunkPreset } from "./trunk-presets.ts";
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

/** `outdial trunk edit`. */
export async function editTrunk(context: Context, input: Input): Promise<void> {
  const { client } = await context.server();
  const before = await client.get<TrunkView>(trunkPath(input));
  const change = await changeOf(context, input, before);
  if (Object.keys(change).length === 0)
    throw usageError("there is nothing to change", "outdial trunk edit --help lists what can be");
  await context.print.record(views.trunk, await client.post<Row>(`${trunkPath(input)}/edit`, change));
}

/** `outdial trunk test`: exit 9 when something is wrong. */
export async function testTrunk(context: Context, input: Input): Promise<number> {
  const { client } = await context.server();
  const { ok, checks } = await client.post<TrunkTest>(`${trunkPath(input)}/test`);
  await context.print.list(views.trunkCheck, checks);
  for (const { check, advice } of checks) if (advice !== null) context.notes.say(`${check}: ${advice}`);
  return ok ? 0 : exitCode("check-failed");
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

/** What a sandbox, which is no provider, has settings for. */
const sandboxOptions: ReadonlySet<string> = new Set(
  "sandbox server caller-id codecs max-calls rate priority default".split(" "),
);

function sandboxBody(input: Input): TrunkBody {
  const own = addTrunkOptions.map(optionName).filter((name) => isGiven(input, name));
  const wrong = own.find((name) => !sandboxOptions.has(name));
  if (wrong !== undefined)
    throw usageError(`--${wrong} does not go with --sandbox`, "the sandbox is no provider");
  return {
    name: input.arg("name"),
    kind: "sandbox",
    ...addressFields(input.text("server")),
    ...lineFields(input),
    ...(input.flag("default") ? { default: true } : {}),
  };
}

function isGiven(input: Input, name: string): boolean {
  return (
    input.given.includes(name) &&
    (input.flag(name) || input.text(name) !== undefined || input.list(name).length > 0)
  );
}

async function providerBody(context: Context, input: Input): Promise<TrunkBody> {
  const preset = presetOf(input);
  const server = input.text("server") ?? preset?.server;
  if (server === undefined) throw serverWanted(preset);
  const username = input.text("username");
  const register = either(input, "register") ?? preset?.register ?? false;
  const shared = {
    name: input.arg("name"),
    ...preset?.settings,
    ...addressFields(server),
    ...(await settingsOf(context, input)),
    ...(input.flag("default") ? { default: true } : {}),
  };
  if (username === undefined) {
    if (register) throw usageError("registering goes with a user name", "add --username <name>");
    if (input.flag("password-stdin") || input.given.includes("password-file")) {
      throw usageError("a password goes with a user name", "add --username <name>");
    }
    return { ...shared, kind: "ip" };
  }
  const password = await passwordOf(context, input);
  return { ...shared, kind: register ? "register" : "digest", username, password };
}

function presetOf(input: Input): TrunkPreset | undefined {
  const asked = input.text("preset");
  return trunkPresets.find(({ name }) => name === asked);
}

function serverWanted(preset: TrunkPreset | undefined): Error {
  const hint = preset?.serverHint;
  return usageError(
    "where is the provider?",
    hint === undefined
      ? "add --server <host[:port]>, or --sandbox for the simulated carrier"
      : `add --server with ${hint}`,
  );
}

async function changeOf(context: Context, input: Input, before: TrunkView): Promise<TrunkChange> {
  const name = input.text("rename");
  const settings = await settingsOf(context, input);
  const identity = before.kind === "sandbox" ? {} : await identityOf(context, input, before);
  return { ...(name === undefined ? {} : { name }), ...settings, ...identity };
}

/** Who we are to the provider, and so the kind of the trunk. */
async function identityOf(context: Context, input: Input, before: TrunkView): Promise<TrunkChange> {
  const given = input.text("username");
  const username = given === undefined ? before.username : given || null;
  const register = either(input, "register") ?? before.kind === "register";
  if (username === null && register) {
    throw usageError("registering goes with a user name", "add --username <name> or --no-register");
  }
  const kind = username === null ? "ip" : register ? "register" : "digest";
  const hasPassword = input.flag("password-stdin") || input.given.includes("password-file");
  if (hasPassword && username === null)
    throw usageError("a password goes with a user name", "add --username <name>");
  const wantsPassword = hasPassword || (username !== null && before.username === null);
  return {
    ...(kind === before.kind ? {} : { kind }),
    ...(given === undefined ? {} : { username }),
    ...(wantsPassword ? { password: await passwordOf(context, input) } : {}),
  };
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
