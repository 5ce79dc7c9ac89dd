import type { Context, Handler, Input } from "./handler.ts";
import { plainValue, type Row } from "./fields.ts";
import { views } from "./views.ts";

/** `outdial campaign list`. */
export async function listCampaigns(context: Context, input: Input): Promise<void> {
  const { client } = await context.server();
  const status = input.text("status");
  const rows = await client.get<readonly Row[]>("/admin/campaigns");
  const shown = status === undefined ? rows : rows.filter((row) => row["status"] === status);
  await context.print.list(views.campaign, shown);
  if (shown.length === 0) context.notes.say("no campaigns");
}

/** `outdial campaign view`. */
export async function viewCampaign(context: Context, input: Input): Promise<void> {
  const { client } = await context.server();
  await context.print.record(views.campaign, await client.get<Row>(campaignPath(input.arg("id"))));
}

/** `outdial campaign pause|resume|stop`. Stopping asks first: cancelled calls do not come back. */
export function steerCampaign(act: "pause" | "resume" | "stop"): Handler {
  return async (context, input) => {
    const { client } = await context.server();
    const path = campaignPath(input.arg("id"));
    if (act === "stop" && !context.settings.yes) {
      const campaign = await client.get<Row>(path);
      const waiting = plainValue(campaign["waiting"]);
      await context.ask.confirm(
        `Stop "${plainValue(campaign["name"])}" and cancel its ${waiting} waiting calls?`,
      );
    }
    await context.print.record(views.campaign, await client.post<Row>(`${path}/${act}`));
  };
}

/** Path of a campaign, by id or unique beginning. */
export function campaignPath(id: string): string {
  return `/admin/campaigns/${encodeURIComponent(id)}`;
}
