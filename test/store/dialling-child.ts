import { writeSync } from "node:fs";
import { setTimeout } from "node:timers/promises";
import { claimAt, dialog, ended, noon } from "./sample-rows.ts";
import { openHere } from "./temporary-store.ts";

/*
 * A daemon in small: recovers, then dials what is due in eight loops at once. "Dialling" is a line printed before
 * anything else can happen, as an INVITE would leave. Prints "recovered …", "dial <call> <attempt>", "idle".
 */

const [file = ""] = process.argv.slice(2);
const store = await openHere({ file });
const say = (line: string): number => writeSync(1, `${line}\n`);
const { requeued, lost } = await store.recover("d1", noon);
say(`recovered ${requeued} ${lost.length}`);

async function dial(): Promise<void> {
  for (;;) {
    const { claimed } = await store.claimDue(claimAt(noon, { limit: 2 }));
    if (claimed.length === 0) return;
    for (const { call, attempt } of claimed) {
      if (!(await store.startDial(call.id, attempt, "d1", call.id, dialog(), noon))) continue;
      say(`dial ${call.id} ${attempt}`);
      await setTimeout(Math.random() * 15);
      await store.markAnswered(call.id, attempt, dialog(), noon);
      await store.endAttempt(
        ended(call.id, attempt, { state: "closed", outcome: { state: "closed", cause: "hung-up" } }),
      );
    }
  }
}

await Promise.all(Array.from({ length: 8 }, dial));
say("idle");
await setTimeout(60_000);
