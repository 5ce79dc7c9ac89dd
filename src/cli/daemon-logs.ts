import { open, stat, type FileHandle } from "node:fs/promises";
import { CommandError } from "./command-error.ts";
import type { Context, Input } from "./handler.ts";
import { pause } from "./io.ts";
import { objectInText } from "./json.ts";
import { zonedTime } from "./times.ts";

const levels = ["debug", "info", "warn", "error"];
const blockBytes = 64 * 1024;
const pollMs = 250;

/** `outdial daemon logs`: the end of the log file, and with -f what is added to it, across a rotation. */
export async function printLogs(context: Context, input: Input): Promise<void> {
  const file = context.paths.logFile;
  const count = input.whole("lines") ?? 50;
  const least = levels.indexOf(input.text("level") ?? "debug");
  let log = await openLog(file);
  try {
    const first = await tail(log, count);
    await show(context, first.lines, least);
    if (!input.flag("follow")) return;
    const reader = { at: first.end, rest: "", decoder: new TextDecoder() };
    for (;;) {
      await pause(context.io.steady, pollMs, context.signal);
      const lines = await added(log, reader);
      await show(context, lines, least);
      if (await isReplaced(log, file)) {
        await log.close();
        log = await openLog(file);
        Object.assign(reader, { at: 0, rest: "", decoder: new TextDecoder() });
      }
    }
  } finally {
    await log.close();
  }
}

async function openLog(file: string): Promise<FileHandle> {
  return open(file, "r").catch((cause: unknown) => {
    throw new CommandError("not-found", "there is no log yet", {
      fix: "outdial daemon start",
      ref: file,
      cause,
    });
  });
}

/** The last `count` whole lines, read backwards in blocks. */
async function tail(log: FileHandle, count: number): Promise<{ lines: readonly string[]; end: number }> {
  const { size } = await log.stat();
  const blocks: Uint8Array[] = [];
  let from = size;
  for (let lines = 0; from > 0 && lines <= count;) {
    const length = Math.min(blockBytes, from);
    from -= length;
    const block = new Uint8Array(length);
    await log.read(block, 0, length, from);
    blocks.unshift(block);
    lines += block.filter((byte) => byte === 0x0a).length;
  }
  const text = new TextDecoder().decode(Buffer.concat(blocks));
  const lines = text.split("\n");
  const unfinished = lines.pop() ?? "";
  return { lines: count === 0 ? [] : lines.slice(-count), end: size - Buffer.byteLength(unfinished) };
}

interface LogReader {
  at: number;
  rest: string;
  decoder: InstanceType<typeof TextDecoder>;
}

async function added(log: FileHandle, reader: LogReader): Promise<readonly string[]> {
  const lines: string[] = [];
  for (;;) {
    const block = new Uint8Array(blockBytes);
    const { bytesRead } = await log.read(block, 0, blockBytes, reader.at);
    if (bytesRead === 0) return lines;
    reader.at += bytesRead;
    const parts = (reader.rest + reader.decoder.decode(block.subarray(0, bytesRead), { stream: true })).split(
      "\n",
    );
    reader.rest = parts.pop() ?? "";
    lines.push(...parts);
  }
}

async function isReplaced(log: FileHandle, file: string): Promise<boolean> {
  const [held, named] = await Promise.all([log.stat(), stat(file).catch(() => undefined)]);
  return named !== undefined && (named.ino !== held.ino || named.size < held.size);
}

async function show(context: Context, lines: readonly string[], least: number): Promise<void> {
  const json = context.settings.ownFormat === "json" || context.settings.format === "jsonl";
  for (const line of lines) {
    const entry = parseEntry(line);
    if (entry !== undefined && levels.indexOf(entry.level) < least) continue;
    if (json) await context.print.text(line);
    else await context.print.text(entry === undefined ? line : entryText(entry, context.settings.zone));
  }
}

interface Entry {
  readonly time: string;
  readonly level: string;
  readonly msg: string;
  readonly rest: Readonly<Record<string, unknown>>;
}

function parseEntry(line: string): Entry | undefined {
  const { time, level, msg, ...rest } = objectInText(line) ?? {};
  if (typeof time !== "string" || typeof level !== "string" || typeof msg !== "string") return undefined;
  return { time, level, msg, rest };
}

function entryText({ time, level, msg, rest }: Entry, zone: string | undefined): string {
  const fields = Object.entries(rest)
    .filter(([name]) => name !== "component")
    .map(([name, value]) => `${name}=${typeof value === "string" ? value : JSON.stringify(value)}`);
  const component = typeof rest["component"] === "string" ? `${rest["component"]}: ` : "";
  return [zonedTime(Date.parse(time), zone), level.padEnd(5), component + msg, ...fields].join(" ");
}
