import { CommandError, usageError } from "./command-error.ts";
import { exitCode } from "./exit-codes.ts";
import { plainValue, type Row } from "./fields.ts";
import type { Context, Input, Server } from "./handler.ts";
import { labelled } from "./statuses.ts";
import { views } from "./views.ts";

/** So many calls are ended at a time: a hundred of them are done within a second. */
const atOnce = 16;

/** `outdial call hangup <id>...`: the ones that cannot be ended are reported, the others are. */
export async function hangUpCalls(context: Context, input: Input): Promise<number> {
  const given = input.args("id");
  const all = input.flag("all-live");
  if (all && given.length > 0) throw usageError("--all-live ends every live call", "leave out the ids");
  if (!all && given.length === 0) throw usageError("which call?", "name one, or add --all-live");
  const server = await context.server();
  return all ? hangUpLive(context, server) : hangUpGiven(context, server, given);
}

async function hangUpGiven(context: Context, server: Server, ids: readonly string[]): Promise<number> {
  if (ids.length > 1) await context.ask.confirm(`End ${ids.length} calls?`);
  return hangUpEach(context, server, ids);
}

/** Live: dialing, ringing or talking at this moment. Waiting ones are left alone. */
async function hangUpLive(context: Context, server: Server): Promise<number> {
  const rows = await server.client.get<readonly Row[]>("/admin/live-calls");
  if (rows.length === 0) {
    context.notes.say("no call is live");
    await context.print.list(views.call, []);
    return 0;
  }
  const noun = rows.length === 1 ? "the one live call" : `all ${rows.length} live calls`;
  await context.ask.confirm(`End ${noun} now?`);
  const ids = rows.map((row) => plainValue(row["id"]));
  return hangUpEach(context, server, ids, { overIsFine: true });
}

/** With `overIsFine` a call that has ended by itself meanwhile is no failure. */
async function hangUpEach(
  { notes, print, signal }: Context,
  server: Server,
  ids: readonly string[],
  { overIsFine = false } = {},
): Promise<number> {
  const ended: Row[] = [];
  let failure: CommandError | undefined;
  const end = async (id: string): Promise<void> => {
    try {
      const path = `/admin/calls/${encodeURIComponent(id)}/hangup`;
      ended.push(labelled(await server.client.post<Row>(path)));
    } catch (error) {
      if (!(error instanceof CommandError)) throw error;
      if (overIsFine && error.exit === exitCode("conflict")) return;
      if (ids.length === 1) throw error;
      notes.error(error);
      failure = error;
    }
  };
  for (let at = 0; at < ids.length; at += atOnce) {
    signal.throwIfAborted();
    await Promise.all(ids.slice(at, at + atOnce).map(end));
  }
  await print.list(views.call, ended);
  if (failure === undefined) return 0;
  return ended.length > 0 ? exitCode("partial") : failure.exit;
}
