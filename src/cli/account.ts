import { usageError } from "./command-error.ts";
import type { Context, Input } from "./handler.ts";
import type { Row } from "./fields.ts";
import { isZone } from "./times.ts";
import { views } from "./views.ts";

/** `outdial account create`. */
export async function createAccount(context: Context, input: Input): Promise<void> {
  const timezone = input.text("timezone");
  if (timezone !== undefined && !isZone(timezone)) {
    throw usageError(`"${timezone}" is no time zone`, "use an IANA name such as Europe/Madrid");
  }
  const { client } = await context.server();
  const body = { name: input.arg("name"), ...(timezone === undefined ? {} : { timezone }) };
  await context.print.record(views.account, await client.post<Row>("/admin/accounts", body));
}

/** `outdial account list`. */
export async function listAccounts(context: Context): Promise<void> {
  const { client } = await context.server();
  await context.print.list(views.account, await client.get<readonly Row[]>("/admin/accounts"));
}
