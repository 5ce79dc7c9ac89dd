import type { StatusView } from "#wire";
import { CommandError } from "./command-error.ts";
import type { Context } from "./handler.ts";
import { shortSpan } from "./durations.ts";
import { exitCode } from "./exit-codes.ts";
import { plainValue, type Row } from "./fields.ts";
import { probeDaemon } from "./local-daemon.ts";
import { relativeTime } from "./times.ts";
import { views } from "./views.ts";

const nextSteps: readonly (readonly [string, string])[] = [
  ["outdial call start +9990000001 --playbook welcome -f", "try a call in the sandbox"],
  ["outdial campaign launch leads.csv --playbook welcome --dry-run", "check a contact list"],
  ["outdial calls list --since 1d", "what happened today"],
  ["outdial help", "all commands and topics"],
];

/** `outdial daemon status`: exit 6 when it does not run. Never starts it. */
export async function daemonStatus(context: Context): Promise<void> {
  await printStatus(context, await runningStatus(context));
}

/** `outdial status`: like `daemon status`, with the campaigns under way. */
export async function status(context: Context): Promise<void> {
  const view = await runningStatus(context);
  await printStatus(context, view, await activeCampaigns(context));
}

/** `outdial` alone: a short status and what to do next. Asks nothing to be up. */
export async function overview(context: Context): Promise<number> {
  const view = await probeDaemon(context.socket, context.signal);
  if (context.settings.format !== undefined) {
    if (view === undefined) throw notRunning(context);
    await printStatus(context, view);
    return 0;
  }
  const lines =
    view === undefined
      ? ["The daemon is not running; a command that needs it starts it."]
      : statusLines(context, view, await activeCampaigns(context));
  const width = Math.max(...nextSteps.map(([command]) => command.length));
  const steps = nextSteps.map(([command, note]) => `  ${command.padEnd(width)}   ${note}`);
  await context.print.text(
    [
      ...lines,
      "",
      "Next:",
      ...(view === undefined ? ["  outdial init".padEnd(width + 5) + "set up this machine"] : []),
      ...steps,
    ].join("\n"),
  );
  return 0;
}

/** A status in the asked-for form: lines for people, the object itself for programs. */
export async function printStatus(
  context: Context,
  view: StatusView,
  campaigns: readonly Row[] = [],
): Promise<void> {
  const { format } = context.print;
  if (context.settings.format === undefined || format === "table" || format === "wide") {
    await context.print.text(statusLines(context, view, campaigns).join("\n"));
  } else await context.print.record(views.status, { ...view });
}

async function runningStatus(context: Context): Promise<StatusView> {
  const view = await probeDaemon(context.socket, context.signal);
  if (view === undefined) throw notRunning(context);
  return view;
}

function notRunning(context: Context): CommandError {
  return new CommandError("unreachable", "the daemon is not running", {
    fix: "outdial daemon start",
    ref: context.paths.socketPath,
    code: "daemon-not-running",
  });
}

async function activeCampaigns(context: Context): Promise<readonly Row[]> {
  try {
    const { client } = await context.server();
    const rows = await client.get<readonly Row[]>("/admin/campaigns");
    return rows.filter((row) => ["scheduled", "running", "paused"].includes(plainValue(row["status"])));
  } catch (error) {
    if (error instanceof CommandError && error.exit === exitCode("not-found")) return [];
    throw error;
  }
}

function statusLines(context: Context, view: StatusView, campaigns: readonly Row[]): readonly string[] {
  const now = context.io.clock.now();
  const uptime = shortSpan(now - Date.parse(view.started_at));
  const trunks = view.trunks.map(
    (trunk) => `${trunk.name}${trunk.default ? "*" : ""} (${trunk.live} of ${trunk.max_calls})`,
  );
  const next = view.next_due_at === null ? "none" : relativeTime(Date.parse(view.next_due_at), now);
  return [
    `daemon     ${view.state}, version ${view.version}, pid ${view.pid}, up ${uptime}`,
    `api        ${view.api.url}`,
    `trunks     ${[...new Set(trunks)].join(", ") || "none      (outdial trunk add)"}`,
    ...view.trunks
      .filter(({ health }) => health === "waiting" || health === "held")
      .map(({ name, health, health_reason: why, retry_at: again }) => {
        const when = again === null ? "" : ` (again ${relativeTime(Date.parse(again), now)})`;
        return `           ${name} is ${health}${when}: ${why ?? ""}`;
      }),
    `calls      ${view.calls.live} live, ${view.calls.open} open, ${view.calls.total} in all; room for ${view.room} more`,
    `next call  ${next}`,
    ...campaigns.slice(0, 5).map((row) => {
      const finished = plainValue(row["finished"]);
      return `campaign   ${plainValue(row["name"])}: ${plainValue(row["status"])}, ${finished} of ${plainValue(row["total"])} done`;
    }),
    ...(campaigns.length > 5
      ? [`           and ${campaigns.length - 5} more      (outdial campaign list)`]
      : []),
  ];
}
