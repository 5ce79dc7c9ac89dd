import type { AppliedView, PlaybookDetail } from "#wire";
import { basename } from "node:path";
import { CommandError } from "./command-error.ts";
import type { Context, Input } from "./handler.ts";
import type { Row } from "./fields.ts";
import { readWhole } from "./read-input.ts";
import { views } from "./views.ts";

/** `outdial playbook apply`. A mistake in the file is shown with its line. */
export async function applyPlaybook(context: Context, input: Input): Promise<void> {
  const file = input.arg("file");
  const source = await readWhole(context.io, file);
  const { playbook } = await applySource(context, source, file, input.text("message"));
  await context.print.record(views.playbook, playbook);
}

/** Applies a playbook's text and says on standard error what became of it. */
export async function applySource(
  context: Context,
  source: string,
  file: string,
  message: string | undefined,
): Promise<AppliedView> {
  const { client } = await context.server();
  const name = file === "-" ? "standard input" : file;
  const body = { source, file: basename(name), ...(message === undefined ? {} : { message }) };
  try {
    const applied = await client.post<AppliedView>("/admin/playbooks/apply", body);
    const version = applied.version === null ? "" : `, version ${applied.version.id}`;
    context.notes.say(
      `${applied.created ? "created" : "updated"} playbook ${applied.playbook.name}${version}`,
    );
    return applied;
  } catch (error) {
    if (!(error instanceof CommandError) || error.ref === undefined) throw error;
    throw new CommandError("usage", error.message, {
      code: error.code,
      fix: error.hint ?? "outdial help playbook-file",
      ref: `${name}: ${error.ref}`,
      cause: error,
    });
  }
}

/** `outdial playbook list`. */
export async function listPlaybooks(context: Context): Promise<void> {
  const { client } = await context.server();
  const rows = await client.get<readonly Row[]>("/admin/playbooks");
  await context.print.list(views.playbook, rows);
  if (rows.length === 0) context.notes.say("no playbooks; outdial init --example welcome.md makes one");
}

/** `outdial playbook view`. */
export async function viewPlaybook(context: Context, input: Input): Promise<void> {
  const { client } = await context.server();
  const playbook = await client.get<PlaybookDetail>(playbookPath(input.arg("playbook")));
  if (input.flag("source"))
    await context.print.bytes(new TextEncoder().encode(sourceText(context, playbook)));
  else await context.print.record(views.playbook, playbook);
}

/** `outdial playbook version list`. */
export async function listVersions(context: Context, input: Input): Promise<void> {
  const { client } = await context.server();
  const rows = await client.get<readonly Row[]>(`${playbookPath(input.arg("playbook"))}/versions`);
  await context.print.list(views.version, rows);
  if (rows.length === 0) context.notes.say('no versions; outdial playbook apply <file> -m "..." makes one');
}

/** `outdial playbook version promote`. */
export async function promoteVersion(context: Context, input: Input): Promise<void> {
  const { client } = await context.server();
  const path = `${playbookPath(input.arg("playbook"))}/promote`;
  await context.print.record(views.playbook, await client.post<Row>(path, { version: input.arg("version") }));
}

function playbookPath(ref: string): string {
  return `/admin/playbooks/${encodeURIComponent(ref)}`;
}

function sourceText(context: Context, playbook: PlaybookDetail): string {
  const { source } = playbook;
  if (!context.print.interactive) return source;
  // oxlint-disable-next-line no-control-regex -- what a terminal would obey is taken out
  return `${source.replace(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g, "").trimEnd()}\n`;
}
