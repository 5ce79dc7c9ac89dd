import { newId } from "#base";
import { systemEntropy } from "#host";
import { writeSync } from "node:fs";
import { call, callsOf, campaign, claimAt, dialog, ended, furnish, noon } from "./sample-rows.ts";
import { openHere } from "./temporary-store.ts";

/*
 * Writes to a store as fast as it can and prints what was acknowledged: "call <id>", "campaign <id> <calls>",
 * "ended <id>". Runs until it is killed.
 */

const [file = ""] = process.argv.slice(2);
const store = await openHere({ file });
if ((await store.listAccounts()).length === 0) await furnish(store);
const acknowledge = (line: string): number => writeSync(1, `${line}\n`);
const wide = { text: "x".repeat(3000) };
let n = (await store.stats()).calls;
acknowledge("ready");

async function addCalls(): Promise<never> {
  for (;;) {
    const added = call(n++, { id: newId(noon, systemEntropy), params: wide });
    await store.insertCall(added);
    acknowledge(`call ${added.id}`);
  }
}

async function addCampaigns(): Promise<never> {
  for (;;) {
    const list = campaign(1, { id: newId(noon, systemEntropy), total: 700, status: "paused" });
    const calls = callsOf(list.id, n, 700).map((added) => ({ ...added, id: newId(noon, systemEntropy) }));
    n += 700;
    await store.insertCampaign(list, [{ phone: calls[0]?.to ?? "", fields: {}, customFields: {} }], calls);
    acknowledge(`campaign ${list.id} 700`);
  }
}

async function dial(): Promise<never> {
  for (;;) {
    const { claimed } = await store.claimDue(claimAt(noon, { limit: 2 }));
    for (const taken of claimed) {
      const { id } = taken.call;
      await store.startDial(id, taken.attempt, "d1", id, dialog(), noon);
      await store.endAttempt(ended(id, taken.attempt, { summary: "y".repeat(2000) }));
      acknowledge(`ended ${id}`);
    }
  }
}

await Promise.all([addCalls(), addCalls(), addCalls(), addCampaigns(), dial()]);
