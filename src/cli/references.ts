import { isUuid } from "#base";
import type { Client } from "./client.ts";
import { usageError } from "./command-error.ts";
import type { Server } from "./handler.ts";
import type { Row } from "./fields.ts";
import { idByPrefix } from "./short-id.ts";

/** The id of a playbook for the public API, which knows no names: a full id is taken as it is. */
export async function findPlaybookId(client: Client, given: string): Promise<string> {
  if (isUuid(given)) return given;
  throw usageError(
    `"${given}" is a name; ${client.address} can only be given a playbook's id`,
    "use the id that its owner sees with: outdial playbook list -o wide",
  );
}

/** The id of a playbook on the daemon, by name, id or unique beginning. */
export async function playbookIdOf(server: Server, given: string): Promise<string> {
  if (isUuid(given)) return given;
  if (server.type === "remote") return findPlaybookId(server.client, given);
  const playbook = await server.client.get<Row>(`/admin/playbooks/${encodeURIComponent(given)}`);
  return String(playbook["id"]);
}

/** The full id of a campaign on the daemon. */
export async function campaignIdOf(server: Server, given: string): Promise<string> {
  if (isUuid(given)) return given;
  if (server.type === "remote") throw usageError(`"${given}" is not a whole campaign id`);
  const campaign = await server.client.get<Row>(`/admin/campaigns/${encodeURIComponent(given)}`);
  return String(campaign["id"]);
}

/** The full id of a call: the daemon finds beginnings itself, for a remote service the last 90 days are searched. */
export async function callIdOf(server: Server, given: string): Promise<string> {
  if (server.type === "local" || isUuid(given)) return given;
  const rows = await server.client.get<readonly Row[]>("/calls", { daysFromNow: 90 });
  return idByPrefix(
    given,
    rows.map((row) => String(row["id"])),
    "call",
  );
}

/** One call record, in the get vocabulary. */
export async function getCall(server: Server, id: string): Promise<Row> {
  const path = server.type === "local" ? "/admin/calls/" : "/call/";
  return server.client.get<Row>(path + encodeURIComponent(id));
}
