import type { MintedTokenView } from "#wire";
import { writeFileAtomic } from "#host";
import type { Context, Input } from "./handler.ts";
import type { Row } from "./fields.ts";
import { zonedTime } from "./times.ts";
import { views } from "./views.ts";

/** `outdial token create`: standard output is the token alone, or its record with -o json. */
export async function createToken(context: Context, input: Input): Promise<void> {
  const { client } = await context.server();
  const expires = input.choice("expires", ["30d", "90d", "6m", "1y", "never"]) ?? "90d";
  const minted = await client.post<MintedTokenView>("/admin/tokens", {
    name: input.arg("name"),
    expires,
  });
  const until = zonedTime(Date.parse(minted.expires_at), context.settings.zone);
  const out = input.text("out");
  if (out !== undefined) {
    await writeFileAtomic(out, `${minted.token}\n`, 0o600);
    context.notes.say(`wrote the token to ${out}; it is valid until ${until}`);
    return;
  }
  if (context.settings.ownFormat === "json") await context.print.event({ ...minted }, "");
  else await context.print.text(minted.token);
  context.notes.say(`this is the only time the token is shown; it is valid until ${until}`);
}

/** `outdial token list`. */
export async function listTokens(context: Context): Promise<void> {
  const { client } = await context.server();
  const rows = await client.get<readonly Row[]>("/admin/tokens");
  await context.print.list(views.token, rows);
  if (rows.length === 0) context.notes.say("no tokens; outdial token create <name>");
}

/** `outdial token revoke`. */
export async function revokeToken(context: Context, input: Input): Promise<void> {
  const name = input.arg("name");
  await context.ask.confirm(`Revoke token ${name}? Programs that use it stop working at once.`);
  const { client } = await context.server();
  await client.delete(`/admin/tokens/${encodeURIComponent(name)}`);
  context.notes.say(`revoked token ${name}`);
}
