import { version } from "#host";
import { writeFile } from "node:fs/promises";
import { arch, platform, release } from "node:os";
import { checkDaemon, checkPorts, checkTrunks } from "./doctor-daemon.ts";
import { checkConfig, checkData, checkSocket } from "./doctor-files.ts";
import { masked } from "./doctor-mask.ts";
import { checkClock, checkKeyring, checkNode, checkSpeech } from "./doctor-machine.ts";
import type { Check } from "./doctor-check.ts";
import { exitCode } from "./exit-codes.ts";
import type { Row } from "./fields.ts";
import type { Context, Input } from "./handler.ts";
import { probeDaemon } from "./local-daemon.ts";
import { lastText } from "./last-text.ts";
import { views } from "./views.ts";

/** Of the log, in a report. */
const logBytes = 16 * 1024;

/** `outdial doctor`: looks at everything a call needs on this machine, changes nothing, starts nothing. */
export async function runDoctor(context: Context, input: Input): Promise<number> {
  const { io, paths } = context;
  const status = await probeDaemon(context.socket, context.signal);
  const [config, data, socket, ports, speech, keyring, clock] = await Promise.all([
    checkConfig(paths),
    checkData(paths),
    checkSocket(paths, status !== undefined),
    checkPorts(context, status),
    checkSpeech(io),
    checkKeyring(io),
    checkClock(context, status),
  ]);
  const node = checkNode(process.versions.node);
  const daemon = [checkDaemon(status), socket, ...ports, checkTrunks(status)];
  const checks = [node, ...config, data, ...daemon, speech, keyring, clock];
  await print(context, checks);
  const path = input.text("report");
  if (path !== undefined) {
    await writeFile(path, await report(context, checks, status), { mode: 0o600 });
    context.notes.say(`wrote ${path}: numbers, tokens and names of people's directories are masked`);
  }
  return checks.some(({ state }) => state === "failed") ? exitCode("check-failed") : 0;
}

async function print(context: Context, checks: readonly Check[]): Promise<void> {
  if (context.settings.format === undefined && context.print.interactive) {
    await context.print.text(lines(checks).join("\n"));
    return;
  }
  await context.print.list(
    views.check,
    checks.map((check): Row => ({ ...check })),
  );
}

function lines(checks: readonly Check[]): readonly string[] {
  const width = Math.max(...checks.map(({ check }) => check.length));
  return checks.flatMap(({ state, check, finding, fix }) => [
    `${state.padEnd(8)} ${check.padEnd(width)}  ${finding}`,
    ...(fix === undefined ? [] : [`${" ".repeat(11 + width)}fix: ${fix}`]),
  ]);
}

async function report(context: Context, checks: readonly Check[], status: unknown): Promise<string> {
  const { io, paths } = context;
  const names = Object.keys(io.env).filter((name) => /^(OUTDIAL_|XDG_|NO_COLOR$|CI$|TZ$|LANG$)/.test(name));
  const text = [
    `outdial ${version}, Node ${process.versions.node}, ${platform()} ${release()} ${arch()}`,
    new Date(io.clock.now()).toISOString(),
    "",
    ...lines(checks),
    "",
    `variables set: ${names.join(", ") || "none"}`,
    `directories: ${paths.configDir}, ${paths.dataDir}, ${paths.stateDir}, ${paths.runDir}`,
    "",
    "status:",
    JSON.stringify(status ?? null, undefined, 2),
    "",
    "end of the log:",
    await lastText(paths.logFile, logBytes),
    "",
  ].join("\n");
  return masked(text, io.env["HOME"]);
}
