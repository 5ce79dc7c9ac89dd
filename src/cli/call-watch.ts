import { CommandError } from "./command-error.ts";
import type { Context, Input, Server } from "./handler.ts";
import { shortSpan } from "./durations.ts";
import { eventLine } from "./call-events.ts";
import { exitCodeOfCall } from "./exit-codes.ts";
import { plainValue, type Row } from "./fields.ts";
import { Interrupted } from "./interrupted.ts";
import { pause } from "./io.ts";
import { getCall } from "./references.ts";
import { causeOf, isSettled, labelled, statusLabel } from "./statuses.ts";

export interface Watched {
  readonly id: string;
  /** Undefined: as long as it takes. */
  readonly timeoutMs: number | undefined;
}

/** `outdial call watch`: exits with the call's code. */
export async function watchCall(context: Context, input: Input): Promise<number> {
  const server = await context.server();
  const id = String((await getCall(server, input.arg("id")))["id"]);
  const record = await followCall(context, server, { id, timeoutMs: input.durationMs("timeout") });
  return exitCodeOfCall(String(record["status"]), record["success"] === true, causeOf(record));
}

/** Prints what happens in a call (JSON lines in a pipe) until it is over, or a recall is due; gives its record. */
export async function followCall(context: Context, server: Server, target: Watched): Promise<Row> {
  const over = new AbortController();
  const signal = AbortSignal.any([context.signal, over.signal]);
  const reading = readEvents(context, server, target.id, signal);
  try {
    const record = await waitForCall(context, server, target);
    // What was said last may still be on its way.
    await Promise.race([reading, pause(context.io.steady, 1000, context.signal)]);
    over.abort();
    await reading;
    await context.print.event({ type: "call", ...labelled(record) }, endLine(record));
    return record;
  } finally {
    over.abort();
    await reading;
  }
}

/** Waits until a call needs no more waiting. Exit 8 when that takes longer than its timeout. */
export async function waitForCall(context: Context, server: Server, target: Watched): Promise<Row> {
  const { io, notes, signal } = context;
  const giveUpAt = target.timeoutMs === undefined ? Infinity : io.steady.now() + target.timeoutMs;
  const slowestMs = server.type === "local" ? 1000 : 5000;
  try {
    for (let waitMs = server.type === "local" ? 150 : 1000; ; waitMs = Math.min(slowestMs, waitMs * 1.5)) {
      const record = await getCall(server, target.id);
      if (isSettled(String(record["status"]))) return record;
      const leftMs = giveUpAt - io.steady.now();
      if (leftMs <= 0) throw notOverYet(target, record);
      await pause(io.steady, Math.min(waitMs, leftMs), signal);
    }
  } catch (error) {
    if (error instanceof Interrupted) {
      notes.say(`stopped watching; the call goes on      (end it: outdial call hangup ${target.id})`);
    }
    throw error;
  }
}

function notOverYet(target: Watched, record: Row): CommandError {
  return new CommandError("pending", `the call is not over after ${shortSpan(target.timeoutMs ?? 0)}`, {
    why: `it is ${statusLabel(record)}`,
    fix: `outdial call watch ${target.id}`,
    ref: target.id,
  });
}

/** Never rejects: the record tells how the call ended, events are only for reading along. */
async function readEvents(context: Context, server: Server, id: string, signal: AbortSignal): Promise<void> {
  let since = 0;
  while (!signal.aborted) {
    try {
      for await (const event of server.client.lines("/admin/events", { call: id, since }, signal)) {
        if (typeof event["seq"] === "number") since = Math.max(since, event["seq"]);
        const line = eventLine(event, context.settings.zone);
        if (event["type"] !== "heartbeat" && line !== "") await context.print.event(event, line);
        if (event["type"] === "call-ended") return;
      }
    } catch {
      // The stream broke; the daemon may be restarting. The record is asked for anyway.
    }
    await pause(context.io.steady, 500, signal).catch(() => undefined);
  }
}

function endLine(record: Row): string {
  const duration = Number(record["duration"] ?? 0);
  const summary = plainValue(record["summary"]);
  const result =
    record["status"] === "closed"
      ? record["success"] === true
        ? ", objectives met"
        : ", objectives not met"
      : "";
  return `ended: ${statusLabel(record)}${result}${duration > 0 ? `, ${duration} s` : ""}${summary === "" ? "" : `. ${summary}`}`;
}
