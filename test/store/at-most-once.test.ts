import { describe, expect, it } from "vitest";
import { accountId, callsOf, campaign, furnish } from "./sample-rows.ts";
import { forAWhile, startChild, type Child } from "./child.ts";
import { openHere, temporaryDirectory } from "./temporary-store.ts";

const total = 300;
const killed = 10;

async function untilIdle(child: Child, note: (lines: readonly string[]) => void): Promise<void> {
  for (;;) {
    const line = await child.line();
    if (line === undefined) throw new Error("the child has ended by itself");
    if (line === "idle") return;
    note([line]);
  }
}

describe("a daemon that is killed while it dials", () => {
  it("never dials a number twice, and forgets none", { timeout: 60_000 }, async () => {
    using directory = temporaryDirectory();
    const file = directory.file("a.db");
    const list = campaign(1, { total });
    const before = await openHere({ file });
    await furnish(before);
    await before.insertCampaign(list, [], callsOf(list.id, 1, total));
    await before.close();

    const dialled: string[] = [];
    const note = (lines: readonly string[]): void => {
      dialled.push(...lines.flatMap((line) => (line.startsWith("dial ") ? [line.split(" ")[1] ?? ""] : [])));
    };
    let [requeued, lost] = [0, 0];
    for (let kills = 0; kills <= killed; kills++) {
      const child = startChild(new URL("dialling-child.ts", import.meta.url), [file]);
      const [, again = "", gone = ""] = (await child.line())?.split(" ") ?? [];
      requeued += Number(again);
      lost += Number(gone);
      if (kills < killed) await forAWhile(5, 120);
      // The last one may dial all that is left.
      else await untilIdle(child, note);
      note(await child.kill());
    }

    expect(new Set(dialled).size).toBe(dialled.length);
    expect(requeued + lost).toBeGreaterThan(0);
    const store = await openHere({ file });
    expect(await store.recover("d1", 0)).toEqual({ requeued: 0, lost: [] });
    const after = await store.findCampaign(accountId, list.id);
    expect(after?.status).toBe("done");
    expect((after?.counts.closed ?? 0) + (after?.counts.manual ?? 0)).toBe(total);
    expect(after?.counts.manual).toBe(lost);
    // A lost one may have rung or not; a closed one was dialled.
    expect(dialled.length).toBeGreaterThanOrEqual(after?.counts.closed ?? 0);
    expect(dialled.length).toBeLessThanOrEqual(total);
    await store.close();
  });
});
