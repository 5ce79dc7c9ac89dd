import type { Query } from "./client.ts";
import { CommandError } from "./command-error.ts";
import { shortSpan } from "./durations.ts";
import { exitCode } from "./exit-codes.ts";
import type { Row } from "./fields.ts";
import type { Context, Server } from "./handler.ts";
import { pause } from "./io.ts";

const reconnectMs = 250;

export interface EventReader {
  /** What to ask for, at each connection anew. */
  query(): Query;
  /** Done ends the reading; anew asks again at once. */
  take(event: Row): Promise<"go-on" | "anew" | "done">;
  /** The stream may end by itself: only what is held was asked for. */
  readonly mayEnd?: boolean;
}

/** Reads the daemon's events over its restarts. Rejects with exit 6 when it stays away longer than `--retry-for`. */
export async function followEvents(context: Context, server: Server, reader: EventReader): Promise<void> {
  const { io, notes, settings, signal } = context;
  let answered = false;
  let brokenAt: number | undefined;
  let told = false;
  for (;;) {
    try {
      for await (const event of server.client.lines("/admin/events", reader.query(), signal)) {
        if (told) notes.say("the daemon is there again");
        answered = true;
        brokenAt = undefined;
        told = false;
        const next = await reader.take(event);
        if (next === "done") return;
        if (next === "anew") break;
      }
      if (reader.mayEnd === true) return;
    } catch (error) {
      signal.throwIfAborted();
      const away = !(error instanceof CommandError) || error.exit === exitCode("unreachable");
      const waitedMs = brokenAt === undefined ? 0 : io.steady.now() - brokenAt;
      if (!away || !answered || waitedMs > settings.retryForMs) throw error;
      if (waitedMs > 0 && !told) {
        notes.say(`the daemon has gone; waiting for it, ${shortSpan(settings.retryForMs)} at most`);
        told = true;
      }
    }
    brokenAt ??= io.steady.now();
    await pause(io.steady, reconnectMs, signal);
  }
}
