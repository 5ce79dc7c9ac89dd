import type { FindingView, LintBody, PlaybookDetail } from "#wire";
import { statSync } from "node:fs";
import { basename } from "node:path";
import { usageError } from "./command-error.ts";
import { exitCode } from "./exit-codes.ts";
import type { Row } from "./fields.ts";
import type { Context, Input, Server } from "./handler.ts";
import { readWhole } from "./read-input.ts";
import { views } from "./views.ts";

/** `outdial playbook lint`: exit 9 when something is wrong, with --strict also when something may be. */
export async function lintPlaybook(context: Context, input: Input): Promise<number> {
  const target = input.arg("playbook");
  const server = await context.server();
  const { source, name } = await sourceOf(context, server, target);
  const body: LintBody = { source, params: input.list("param").map((text) => text.split("=", 1)[0] ?? "") };
  const findings = await server.client.post<readonly FindingView[]>("/admin/playbooks/lint", body);
  await print(context, name, findings);
  const errors = findings.filter(({ severity }) => severity === "error").length;
  const warnings = findings.length - errors;
  context.notes.say(`${name}: ${count(errors, "error")}, ${count(warnings, "warning")}`);
  return errors > 0 || (warnings > 0 && input.flag("strict")) ? exitCode("check-failed") : 0;
}

/** A file when there is one of that name or it looks like one, else a playbook of the daemon. */
async function sourceOf(
  { io }: Context,
  server: Server,
  target: string,
): Promise<{ readonly source: string; readonly name: string }> {
  if (target === "-") return { source: await readWhole(io, "-"), name: "standard input" };
  if (statSync(target, { throwIfNoEntry: false })?.isFile() === true)
    return { source: await readWhole(io, target), name: target };
  if (/[/\\]|\.md$/.test(target)) throw usageError(`there is no file ${target}`);
  const playbook = await server.client.get<PlaybookDetail>(`/admin/playbooks/${encodeURIComponent(target)}`);
  return { source: playbook.source, name: `${basename(playbook.name)}.md` };
}

/** Lines as compilers write them, which editors can jump to; rows in the formats for programs. */
async function print(context: Context, name: string, findings: readonly FindingView[]): Promise<void> {
  if (context.settings.format !== undefined) {
    const rows = findings.map((finding): Row => ({ file: name, ...finding }));
    return context.print.list(views.finding, rows);
  }
  if (findings.length === 0) return undefined;
  const lines = findings.map(({ severity, line, column, where, message }) => {
    const place = [name, line, column].filter((part) => part !== undefined).join(":");
    return `${place}: ${severity}: ${where === "" || where.startsWith("{{") ? "" : `${where} `}${message}`;
  });
  return context.print.text(lines.join("\n"));
}

function count(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? "" : "s"}`;
}
