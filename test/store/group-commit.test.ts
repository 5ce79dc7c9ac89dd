import { setImmediate } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { openStoreFile } from "../../src/store/open-file.ts";
import { storeOver } from "../../src/store/store-over.ts";
import { faultyFiles } from "./faulty-files.ts";
import {
  accountId,
  call,
  callsOf,
  campaign,
  claimAt,
  dialog,
  ended,
  furnish,
  id,
  noon,
} from "./sample-rows.ts";
import { openHere, temporaryDirectory, temporaryStore } from "./temporary-store.ts";

describe("writes that wait together", () => {
  it("are made durable together, each before its answer", async () => {
    const files = faultyFiles();
    await using here = await temporaryStore({ files });
    const before = files.syncs;
    let answered = 0;
    const writes = Array.from({ length: 100 }, async (_, n) => {
      await here.store.insertCall(call(n));
      answered++;
      expect(files.syncs).toBeGreaterThan(before);
    });
    expect(answered).toBe(0);
    await Promise.all(writes);
    expect(files.syncs - before).toBeLessThan(5);
    expect(await here.store.stats()).toMatchObject({ calls: 100 });
  });

  it("stand or fall each for itself", async () => {
    await using here = await temporaryStore();
    const ends = await Promise.allSettled([
      here.store.insertCall(call(1)),
      here.store.insertCall(call(1)),
      here.store.insertCall(call(2, { accountId: id(99) })),
      here.store.insertCall(call(3), {
        accountId,
        key: "k",
        bodyHash: "",
        status: 200,
        answer: "",
        createdAt: noon,
      }),
      here.store.insertCall(call(3), {
        accountId,
        key: "k",
        bodyHash: "",
        status: 200,
        answer: "",
        createdAt: noon,
      }),
    ]);
    expect(ends.map((end) => end.status)).toEqual([
      "fulfilled",
      "rejected",
      "rejected",
      "fulfilled",
      "rejected",
    ]);
    expect((await here.store.listCalls({ accountId, limit: 9 })).map((row) => row.id)).toEqual([
      call(3).id,
      call(1).id,
    ]);
  });

  it("are done dialling first, then others, then reads, and imports in between", async () => {
    await using here = await temporaryStore();
    await here.store.insertCall(call(1));
    const order: string[] = [];
    const note = (what: string) => () => order.push(what);
    const list = campaign(1);
    const imported = here.store.insertCampaign(list, [], callsOf(list.id, 1000, 2500)).then(note("import"));
    await here.store.findCampaign(accountId, list.id); // The import is under way now.
    await setImmediate(); // As messages from the other thread come: between two turns.
    await Promise.all([
      imported,
      here.store.listCalls({ accountId, limit: 10 }).then(note("list")),
      here.store.insertCall(call(2)).then(note("insert")),
      here.store.claimDue(claimAt(noon)).then(note("claim")),
    ]);
    expect(order).toEqual(["claim", "insert", "list", "import"]);
  });
});

describe("an import under way", () => {
  it("is seen by nobody, and nothing of it is dialled", async () => {
    using directory = temporaryDirectory();
    const file = await openStoreFile({ file: directory.file("a.db"), engine: "sqljs" });
    const store = storeOver(file.invoke, file.close);
    await furnish(store);
    const list = campaign(1, { total: 3 });
    const entry = { accountId, key: "k", bodyHash: "", status: 202, answer: "{}", createdAt: noon };
    await file.invoke("beginImport", [list, entry]);
    await file.invoke("importCalls", [callsOf(list.id, 1, 2)]);
    expect(await store.listCalls({ accountId, limit: 9 })).toEqual([]);
    expect(await store.listCalls({ accountId, campaignId: list.id, states: ["queued"], limit: 9 })).toEqual(
      [],
    );
    expect(await store.findCall(accountId, call(1).id)).toBeUndefined();
    expect(await store.cancelCall(accountId, call(1).id, noon)).toBe(false);
    expect(await store.listCampaigns(accountId)).toEqual([]);
    expect(await store.findCampaign(accountId, list.id)).toBeUndefined();
    expect(await store.setCampaignStatus(list.id, "paused", noon)).toBeUndefined();
    expect(await store.findIdempotent(accountId, "k", noon)).toBeUndefined();
    expect(await store.stats()).toEqual({ open: 0, dueNow: 0, calls: 0 });
    expect(await store.claimDue(claimAt(noon))).toEqual({ claimed: [], nextDueAt: null });
    await expect(store.insertCall(call(9), entry)).rejects.toMatchObject({ code: "idempotency-key-used" });
    await file.invoke("finishImport", [list.id, "running"]);
    expect(await file.invoke("statsAt", [noon])).toEqual({ open: 2, dueNow: 2, calls: 2 });
    expect(await file.invoke("statsAt", [noon - 1])).toEqual({ open: 2, dueNow: 0, calls: 2 });
    expect(await store.findIdempotent(accountId, "k", noon)).toEqual(entry);
    await store.close();
  });

  it("is taken away by the next start when the process dies in it", async () => {
    using directory = temporaryDirectory();
    const options = { file: directory.file("a.db"), engine: "sqljs" } as const;
    const killed = await openStoreFile(options);
    await furnish(storeOver(killed.invoke, killed.close));
    const list = campaign(1);
    const entry = { accountId, key: "k", bodyHash: "", status: 202, answer: "{}", createdAt: noon };
    await killed.invoke("beginImport", [list, entry]);
    await killed.invoke("importCalls", [callsOf(list.id, 1, 1100)]);
    // Not closed: the next one finds what a kill -9 leaves.
    const store = await openHere(options);
    await store.insertCampaign(list, [], callsOf(list.id, 1, 2), entry);
    expect(await store.findCampaign(accountId, list.id)).toMatchObject({ counts: { queued: 2 } });
    await store.close();
  });

  it("leaves a stop that was broken off to the next start", async () => {
    using directory = temporaryDirectory();
    const options = { file: directory.file("a.db"), engine: "sqljs" } as const;
    const killed = await openStoreFile(options);
    const before = storeOver(killed.invoke, killed.close);
    await furnish(before);
    const list = campaign(1);
    await before.insertCampaign(list, [], callsOf(list.id, 1, 700));
    await killed.invoke("stepCampaign", [list.id, "stopped", noon]);
    const store = await openHere(options);
    expect(await store.findCampaign(accountId, list.id)).toMatchObject({
      status: "stopped",
      counts: { cancelled: 700 },
    });
    await store.close();
  });
});

describe("a disk that is full", () => {
  it("refuses what does not fit, keeps what was there, and is used again when there is room", async () => {
    const files = faultyFiles();
    await using here = await temporaryStore({ files });
    await here.store.insertCall(call(1));
    files.full = true;
    const failed = await Promise.allSettled([here.store.insertCall(call(2)), here.store.insertCall(call(3))]);
    for (const end of failed) expect(end).toMatchObject({ reason: { code: "store-full", retryable: true } });
    const list = campaign(1);
    await expect(here.store.insertCampaign(list, [], callsOf(list.id, 10, 600))).rejects.toMatchObject({
      code: "store-full",
    });
    expect((await here.store.listCalls({ accountId, limit: 9 })).map((row) => row.id)).toEqual([call(1).id]);
    expect(await here.store.listCampaigns(accountId)).toEqual([]);
    files.full = false;
    await here.store.insertCall(call(2));
    await here.store.insertCampaign(list, [], callsOf(list.id, 10, 600));
    expect(await here.store.stats()).toMatchObject({ calls: 602 });
  });
});

describe("a disk that fails to make writes durable", () => {
  it("is written no more: nothing is answered that may be lost", async () => {
    using directory = temporaryDirectory();
    const files = faultyFiles();
    const file = directory.file("a.db");
    const store = await openHere({ file, files });
    await furnish(store);
    await store.insertCall(call(1));
    files.broken = true;
    await expect(store.insertCall(call(2))).rejects.toMatchObject({ code: "store-failed", retryable: false });
    // fsync may report success the second time, although the data are lost.
    files.broken = false;
    await expect(store.claimDue(claimAt(noon))).rejects.toMatchObject({ code: "store-failed" });
    await expect(store.startDial(call(1).id, 1, "d1", "x", dialog(), noon)).rejects.toMatchObject({
      code: "store-failed",
    });
    await expect(store.endAttempt(ended(call(1).id, 1))).rejects.toMatchObject({ code: "store-failed" });
    expect(await store.findCall(accountId, call(1).id)).toMatchObject({ state: "queued" });
    await store.close();

    const next = await openHere({ file });
    expect(await next.findCall(accountId, call(1).id)).toMatchObject({ state: "queued" });
    // Whether the refused call is stored nobody could know; if it is, then whole.
    const refused = await next.findCall(accountId, call(2).id);
    expect([undefined, call(2).to]).toContain(refused?.to);
    await next.insertCall(call(3));
    await next.close();
  });
});
