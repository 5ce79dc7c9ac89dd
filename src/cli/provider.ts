import { CommandError } from "./command-error.ts";
import { exitCode } from "./exit-codes.ts";
import type { Row } from "./fields.ts";
import type { Context, Input } from "./handler.ts";
import { askKeyring } from "./keyring.ts";
import { readWhole } from "./read-input.ts";
import { secretFile } from "./secrets.ts";
import { views } from "./views.ts";

/** `outdial provider list`. */
export async function listProviders(context: Context): Promise<void> {
  const { client } = await context.server();
  await context.print.list(views.provider, await client.get<readonly Row[]>("/admin/providers"));
}

/** `outdial provider test`: exit 9 when a role does not work. */
export async function testProvider(context: Context, input: Input): Promise<number> {
  const { client } = await context.server();
  const path = `/admin/providers/${encodeURIComponent(input.arg("name"))}/test`;
  const checks = await client.post<readonly Row[]>(path);
  await context.print.list(views.providerCheck, checks);
  return checks.every((check) => check["ok"] === true) ? 0 : exitCode("check-failed");
}

/** `outdial provider set`: the key goes to the keychain, and nowhere else. */
export async function setProviderKey(context: Context, input: Input): Promise<void> {
  const name = input.arg("name");
  const key = (await keyOf(context, input)).trim();
  const answer = await askKeyring(context.io, "set", name, key);
  if (answer.type === "unavailable") {
    throw new CommandError("unexpected", "the key was not stored: there is no keychain to keep it", {
      why: answer.why,
      fix: `in config.toml: api_key = { env = "…" }, { file = "…" } or { command = "…" } under [providers.${name}]`,
      code: "keychain-unavailable",
    });
  }
  context.notes.say(
    `stored in the keychain; in config.toml: api_key = { keychain = "${name}" } under [providers.${name}]`,
  );
}

async function keyOf(context: Context, input: Input): Promise<string> {
  const file = input.text("key-file");
  if (file !== undefined) return secretFile(file);
  if (input.flag("key-stdin")) return readWhole(context.io, "-");
  return context.ask.secret("API key: ", "--key-stdin or --key-file <file>");
}
