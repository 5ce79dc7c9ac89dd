import { mkdirSync, readdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { openStore } from "../../src/store/index.ts";
import { accountId, call, callsOf, campaign, claimAt, furnish, noon } from "./sample-rows.ts";
import { temporaryDirectory } from "./temporary-store.ts";

const workerUrl = new URL("dying-worker.ts", import.meta.url);

describe("a store in its own thread", () => {
  it("does what is asked and leaves one clean file when closed", async () => {
    using directory = temporaryDirectory();
    const store = await openStore({ file: directory.file("a.db") });
    await furnish(store);
    const list = campaign(1);
    await store.insertCampaign(
      list,
      [{ phone: call(1).to, fields: {}, customFields: { vip: true } }],
      callsOf(list.id, 1, 1200),
    );
    const { claimed } = await store.claimDue(claimAt(noon, { limit: 3 }));
    expect(claimed.map((taken) => taken.call.id)).toEqual([1, 2, 3].map((n) => call(n).id));
    await store.close();
    await store.close();
    expect(readdirSync(directory.path)).toEqual(["a.db"]);
    await expect(store.listAccounts()).rejects.toMatchObject({ code: "store-closed" });
  });

  it("tells errors that a person can act on by their code, and bugs as they are", async () => {
    using directory = temporaryDirectory();
    const store = await openStore({ file: directory.file("a.db") });
    await furnish(store);
    const double = furnish(store);
    await expect(double).rejects.toMatchObject({
      name: "OutdialError",
      code: "account-exists",
      retryable: false,
    });
    await store.insertCall(call(1));
    await expect(store.insertCall(call(1))).rejects.toMatchObject({
      name: "Error",
      message: expect.stringContaining("UNIQUE"),
    });
    await store.close();
  });

  it.each(["die", "throw"])(
    "is started anew when it dies (%s), and what was under way may be asked again",
    async (how) => {
      using directory = temporaryDirectory();
      const store = await openStore({ file: directory.file("a.db"), workerUrl });
      await furnish(store);
      for (let round = 0; round < 2; round++) {
        const lost = [store.findAccount(how), store.listAccounts()];
        for (const request of lost)
          await expect(request).rejects.toMatchObject({ code: "store-restarted", retryable: true });
        expect(await store.findAccount("default")).toMatchObject({ id: accountId });
        await store.insertCall(call(round));
      }
      await store.close();
      expect(readdirSync(directory.path)).toEqual(["a.db"]);
    },
  );

  it("is tried again with every request while it cannot be started", async () => {
    using directory = temporaryDirectory();
    mkdirSync(directory.file("data"));
    const file = directory.file("data/a.db");
    const store = await openStore({ file, workerUrl });
    await furnish(store);
    const dying = store.findAccount("die");
    // Gone for a while, like a disk that was not mounted.
    renameSync(directory.file("data"), directory.file("away"));
    writeFileSync(directory.file("data"), "");
    await expect(dying).rejects.toMatchObject({ code: "store-restarted" });
    await expect(store.listAccounts()).rejects.toMatchObject({ code: "store-failed" });
    rmSync(directory.file("data"));
    renameSync(directory.file("away"), directory.file("data"));
    await expect.poll(() => store.listAccounts().catch(() => [])).toHaveLength(1);
    await store.close();
  });

  it("does not open a file that is none of ours", async () => {
    using directory = temporaryDirectory();
    writeFileSync(directory.file("a.db"), "hello, I am a text\n".repeat(500));
    await expect(openStore({ file: directory.file("a.db") })).rejects.toMatchObject({ code: "store-failed" });
    expect(readdirSync(directory.path)).toEqual(["a.db"]);
  });

  it("does not open in a directory that is not there", async () => {
    using directory = temporaryDirectory();
    await expect(openStore({ file: directory.file("no/a.db") })).rejects.toMatchObject({
      code: "store-failed",
    });
  });

  it("says so when its program does not run", async () => {
    using directory = temporaryDirectory();
    const missing = openStore({
      file: directory.file("a.db"),
      workerUrl: new URL("no-such-worker.ts", import.meta.url),
    });
    await expect(missing).rejects.toMatchObject({ code: "store-failed" });
  });
});
