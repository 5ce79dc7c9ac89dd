import { describe, expect, it } from "vitest";
import { plainTrunkSip } from "#domain";
import type { Store as DaemonStore } from "../../src/daemon/ports.ts";
import type { Store } from "../../src/store/contract.ts";
import {
  accountId,
  call,
  callsOf,
  campaign,
  id,
  noon,
  playbook,
  playbookId,
  settings,
  trunk,
  version,
} from "./sample-rows.ts";
import { openHere, temporaryStore } from "./temporary-store.ts";

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;

describe.each(["sqljs", "node-sqlite"] as const)("a store on %s", (engine) => {
  it("offers what the daemon asks for", async () => {
    await using here = await temporaryStore({ engine });
    const forDaemon: DaemonStore = here.store satisfies Store;
    expect(await forDaemon.stats()).toEqual({ open: 0, dueNow: 0, calls: 0 });
  });

  it("keeps everything when it is closed and opened again", async () => {
    await using here = await temporaryStore({ engine });
    await here.store.insertCall(call(1));
    await here.store.close();
    const again = await openHere({ file: here.file, engine });
    expect(await again.findCall(accountId, call(1).id)).toMatchObject({
      to: "+34600000001",
      params: { first_name: "Ana" },
    });
    await again.close();
  });

  describe("accounts", () => {
    it("are found by name and by id, and their names are unique", async () => {
      await using here = await temporaryStore({ engine });
      const shop = { id: id(9), name: "shop", timezone: "Atlantic/Canary", createdAt: noon + 1 };
      expect(await here.store.createAccount(shop)).toEqual(shop);
      await expect(here.store.createAccount({ ...shop, id: id(10) })).rejects.toMatchObject({
        code: "account-exists",
      });
      expect(await here.store.findAccount("shop")).toEqual(shop);
      expect(await here.store.findAccount(id(9))).toEqual(shop);
      expect(await here.store.findAccount("nobody")).toBeUndefined();
      expect((await here.store.listAccounts()).map((account) => account.name)).toEqual(["default", "shop"]);
    });
  });

  describe("tokens", () => {
    it("are found by prefix, unique by name, and stop working when revoked", async () => {
      await using here = await temporaryStore({ engine });
      const token = {
        id: id(20),
        accountId,
        name: "cron",
        prefix: "outdial_0123456789abcdef",
        secretHash: "ff",
        createdAt: noon,
        expiresAt: noon + dayMs,
      };
      await here.store.createToken(token);
      const double = here.store.createToken({ ...token, id: id(21), prefix: "outdial_x" });
      await expect(double).rejects.toMatchObject({ code: "token-exists" });
      expect(await here.store.findToken(token.prefix)).toEqual(token);
      expect(await here.store.listTokens(accountId)).toEqual([token]);
      expect(await here.store.revokeToken(id(99), "cron")).toBe(false);
      expect(await here.store.revokeToken(accountId, token.prefix)).toBe(true);
      expect(await here.store.revokeToken(accountId, "cron")).toBe(false);
      expect(await here.store.findToken(token.prefix)).toBeUndefined();
    });
  });

  describe("playbooks", () => {
    it("are updated by account and name, keeping id, birth and production version", async () => {
      await using here = await temporaryStore({ engine });
      const first = await here.store.applyPlaybook(playbook(), version());
      expect(first).toMatchObject({ id: playbookId, productionVersionId: id(3) });
      const changed = playbook({ id: id(50), source: "# New", createdAt: noon + 5, updatedAt: noon + 5 });
      const second = await here.store.applyPlaybook(
        changed,
        version({ id: id(51), playbookId: id(50), message: "second", createdAt: noon + 5 }),
      );
      expect(second).toMatchObject({
        id: playbookId,
        source: "# New",
        createdAt: noon,
        updatedAt: noon + 5,
        productionVersionId: id(3),
      });
      expect((await here.store.listVersions(playbookId)).map((row) => row.message)).toEqual([
        "second",
        "first",
      ]);
      expect(await here.store.findPlaybook(accountId, "welcome")).toEqual(second);
      expect(await here.store.findPlaybook(accountId, playbookId.toUpperCase())).toEqual(second);
      expect(await here.store.findPlaybook(id(99), "welcome")).toBeUndefined();
      expect(await here.store.findPlaybookById(playbookId)).toEqual(second);
      expect(await here.store.listPlaybooks(accountId)).toEqual([second]);
      expect(second.settings).toEqual(settings);
    });

    it("promote a version of their own only", async () => {
      await using here = await temporaryStore({ engine });
      await here.store.applyPlaybook(playbook(), version());
      await here.store.applyPlaybook(playbook(), version({ id: id(51) }));
      await here.store.promoteVersion(playbookId, id(51));
      expect(await here.store.findPlaybookById(playbookId)).toMatchObject({ productionVersionId: id(51) });
      await expect(here.store.promoteVersion(playbookId, id(777))).rejects.toMatchObject({
        code: "version-not-found",
      });
    });

    it("find a version by the start of its id, and refuse a start that several have", async () => {
      await using here = await temporaryStore({ engine });
      await here.store.applyPlaybook(playbook(), version({ id: "aaaa0000-0000-7000-8000-000000000001" }));
      await here.store.applyPlaybook(
        playbook(),
        version({ id: "aaab0000-0000-7000-8000-000000000001", message: "second" }),
      );
      expect(await here.store.findVersion(playbookId, "AAAB")).toMatchObject({ message: "second" });
      expect(await here.store.findVersion(playbookId, "b")).toBeUndefined();
      expect(await here.store.findVersion(playbookId, "")).toBeUndefined();
      await expect(here.store.findVersion(playbookId, "aaa")).rejects.toMatchObject({ code: "ambiguous-id" });
    });
  });

  describe("trunks", () => {
    it("have unique names and at most one default an account", async () => {
      await using here = await temporaryStore({ engine });
      await here.store.createTrunk(trunk());
      await expect(here.store.createTrunk(trunk({ id: id(60) }))).rejects.toMatchObject({
        code: "trunk-exists",
      });
      expect(await here.store.findTrunk(accountId, "main")).toEqual(trunk());
      await here.store.createTrunk(trunk({ id: id(61), name: "backup" }));
      const defaults = async () =>
        (await here.store.listTrunks(accountId)).filter((row) => row.isDefault).map((row) => row.name);
      expect(await defaults()).toEqual(["backup"]);
      expect(await here.store.setDefaultTrunk(accountId, "main")).toBe(true);
      expect(await here.store.setDefaultTrunk(accountId, "none")).toBe(false);
      expect(await defaults()).toEqual(["main"]);
      await here.store.updateTrunkAddress(id(61), "10.0.0.9", 5080);
      expect(await here.store.findTrunk(accountId, id(61))).toMatchObject({ host: "10.0.0.9", port: 5080 });
      const edited = trunk({
        name: "spare",
        kind: "register",
        host: "10.0.0.7",
        codecs: ["G722"],
        maxCalls: 3,
        sip: { ...plainTrunkSip, transport: "tls", srtp: "required", headers: { "X-A": "ñ" } },
      });
      expect(await here.store.updateTrunk(edited)).toBe(true);
      expect(await here.store.findTrunk(accountId, id(4))).toEqual(edited);
      await expect(here.store.updateTrunk({ ...edited, name: "backup" })).rejects.toMatchObject({
        code: "trunk-exists",
      });
      expect(await here.store.updateTrunk({ ...edited, id: id(99), name: "new" })).toBe(false);
      expect(await here.store.removeTrunk(accountId, "backup")).toBe(true);
      expect(await here.store.removeTrunk(accountId, "backup")).toBe(false);
    });
  });

  describe("suppressions", () => {
    it("hold for one account and can be given twice", async () => {
      await using here = await temporaryStore({ engine });
      await here.store.suppress(accountId, "+34600000001", "asked", noon);
      await here.store.suppress(accountId, "+34600000001", "again", noon + 1);
      expect(await here.store.isSuppressed(accountId, "+34600000001")).toBe(true);
      expect(await here.store.isSuppressed(accountId, "+34600000002")).toBe(false);
      expect(await here.store.isSuppressed(id(99), "+34600000001")).toBe(false);
    });
  });

  describe("calls", () => {
    it("come back as they were given", async () => {
      await using here = await temporaryStore({ engine });
      const given = call(1, {
        params: { name: 'Zoë "😀"', __proto__x: "1" },
        timezone: "Atlantic/Canary",
        trunkId: id(4),
      });
      await here.store.insertCall(given);
      expect(await here.store.findCall(accountId, given.id)).toEqual({
        ...given,
        playbookName: "welcome",
        outcome: null,
        attempts: 0,
        durationS: 0,
        success: false,
        summary: "",
        output: {},
        turns: [],
        recording: null,
      });
    });

    it("are found by the start of their id, by their own account only", async () => {
      await using here = await temporaryStore({ engine });
      await here.store.insertCall(call(1, { id: "aaaa0000-0000-7000-8000-000000000001" }));
      await here.store.insertCall(call(2, { id: "aaab0000-0000-7000-8000-000000000001" }));
      expect(await here.store.findCall(accountId, "AAAB")).toMatchObject({ to: call(2).to });
      expect(await here.store.findCall(id(99), "aaab")).toBeUndefined();
      expect(await here.store.findCall(accountId, "%")).toBeUndefined();
      expect(await here.store.findCall(accountId, "")).toBeUndefined();
      await expect(here.store.findCall(accountId, "aaa")).rejects.toMatchObject({ code: "ambiguous-id" });
    });

    it("keep parameters named like parts of an object's prototype as plain data", async () => {
      await using here = await temporaryStore({ engine });
      const params: Record<string, string> = JSON.parse('{"__proto__":"a","constructor":"b"}');
      await here.store.insertCall(call(1, { params }));
      const stored = await here.store.findCall(accountId, call(1).id);
      expect(Object.entries(stored?.params ?? {})).toEqual([
        ["__proto__", "a"],
        ["constructor", "b"],
      ]);
    });

    it("are cancelled only while they wait", async () => {
      await using here = await temporaryStore({ engine });
      await here.store.insertCall(call(1));
      expect(await here.store.cancelCall(id(99), call(1).id, noon)).toBe(false);
      expect(await here.store.cancelCall(accountId, call(1).id, noon)).toBe(true);
      expect(await here.store.cancelCall(accountId, call(1).id, noon)).toBe(false);
      expect(await here.store.findCall(accountId, call(1).id)).toMatchObject({
        state: "cancelled",
        dueAt: null,
        outcome: { cause: "cancelled" },
      });
    });

    it("are resolved only when a person has to decide", async () => {
      await using here = await temporaryStore({ engine });
      await here.store.insertCall(
        call(1, {
          state: "manual",
          dueAt: null,
          outcome: { state: "manual", cause: "interrupted", sipStatus: 180 },
        }),
      );
      await here.store.insertCall(call(2));
      expect(await here.store.resolveCall(accountId, call(2).id, "closed", "", noon)).toBe(false);
      expect(await here.store.resolveCall(accountId, call(1).id, "closed", "I rang her", noon)).toBe(true);
      expect(await here.store.findCall(accountId, call(1).id)).toMatchObject({
        state: "closed",
        outcome: { state: "closed", cause: "resolved", detail: "I rang her", sipStatus: 180 },
      });
    });
  });

  describe("idempotency", () => {
    const entry = {
      accountId,
      key: "k1",
      bodyHash: "aa",
      status: 200,
      answer: '{"id":"x"}',
      createdAt: noon,
    };

    it("stores the answer with the call, and refuses a second call under the key", async () => {
      await using here = await temporaryStore({ engine });
      await here.store.insertCall(call(1), entry);
      expect(await here.store.findIdempotent(accountId, "k1", noon)).toEqual(entry);
      expect(await here.store.findIdempotent(id(99), "k1", noon)).toBeUndefined();
      await expect(here.store.insertCall(call(2), entry)).rejects.toMatchObject({
        code: "idempotency-key-used",
        retryable: true,
      });
      expect(await here.store.findCall(accountId, call(2).id)).toBeUndefined();
    });

    it("forgets a key after 24 hours", async () => {
      await using here = await temporaryStore({ engine });
      await here.store.insertCall(call(1), entry);
      expect(await here.store.findIdempotent(accountId, "k1", noon + dayMs - 1)).toEqual(entry);
      expect(await here.store.findIdempotent(accountId, "k1", noon + dayMs)).toBeUndefined();
      await here.store.insertCall(call(2), { ...entry, createdAt: noon + dayMs, answer: '{"id":"y"}' });
      expect(await here.store.findIdempotent(accountId, "k1", noon + dayMs)).toMatchObject({
        answer: '{"id":"y"}',
      });
    });

    it("lets one of fifty equal requests through", async () => {
      await using here = await temporaryStore({ engine });
      const ends = await Promise.allSettled(
        Array.from({ length: 50 }, (_, n) => here.store.insertCall(call(n), entry)),
      );
      expect(ends.filter((end) => end.status === "fulfilled")).toHaveLength(1);
      expect(await here.store.stats()).toMatchObject({ calls: 1 });
    });
  });

  describe("campaigns", () => {
    const list = campaign(1, { total: 3 });

    it("are stored with contacts and calls, and counted", async () => {
      await using here = await temporaryStore({ engine });
      const wrong = call(3, { campaignId: list.id, to: "12", state: "wrong-number", dueAt: null });
      await here.store.insertCampaign(
        list,
        [{ phone: call(1).to, fields: {}, customFields: {} }],
        [...callsOf(list.id, 1, 2), wrong],
      );
      const stored = await here.store.findCampaign(accountId, list.id.slice(0, 35) + list.id.slice(35));
      expect(stored).toEqual({ ...list, counts: { queued: 2, "wrong-number": 1 } });
      expect(await here.store.listCampaigns(accountId)).toEqual([stored]);
      expect(await here.store.stats()).toMatchObject({ open: 2, calls: 3 });
    });

    it("give their calls the contact of their number, old or new", async () => {
      await using here = await temporaryStore({ engine });
      const contact = (n: number, fields: Record<string, string>) => ({
        phone: call(n).to,
        fields,
        customFields: {},
      });
      await here.store.insertCampaign(list, [contact(1, { city: "Bilbao" })], callsOf(list.id, 1, 1));
      const next = campaign(2);
      await here.store.insertCampaign(
        next,
        [contact(1, { email: "a@b.c" }), contact(2, {})],
        [
          call(11, { to: call(1).to, campaignId: next.id }),
          call(12, { to: call(2).to, campaignId: next.id }),
        ],
      );
      const [before, same, other] = await Promise.all(
        [1, 11, 12].map((n) => here.store.findCall(accountId, call(n).id)),
      );
      expect(before?.contactId).toMatch(/^[0-9a-f-]{36}$/);
      expect(same?.contactId).toBe(before?.contactId);
      expect(other?.contactId).not.toBe(before?.contactId);
    });

    it("are not there at all when a part of them cannot be stored", async () => {
      await using here = await temporaryStore({ engine });
      const calls = [...callsOf(list.id, 1, 1200), call(1, { campaignId: list.id })];
      const entry = { accountId, key: "k", bodyHash: "aa", status: 202, answer: "{}", createdAt: noon };
      await expect(here.store.insertCampaign(list, [], calls, entry)).rejects.toThrow(/UNIQUE/);
      expect(await here.store.listCampaigns(accountId)).toEqual([]);
      expect(await here.store.stats()).toEqual({ open: 0, dueNow: 0, calls: 0 });
      expect(await here.store.listCalls({ accountId, limit: 5 })).toEqual([]);
      expect(await here.store.findIdempotent(accountId, "k", noon)).toBeUndefined();
      await here.store.insertCampaign(list, [], calls.slice(0, 600), entry);
      expect(await here.store.findCampaign(accountId, list.id)).toMatchObject({ counts: { queued: 600 } });
    });

    it("step only where a step is allowed, and rewrite no call when paused", async () => {
      await using here = await temporaryStore({ engine });
      await here.store.insertCampaign(list, [], callsOf(list.id, 1, 2));
      expect(await here.store.setCampaignStatus(list.id, "running", noon)).toBeUndefined();
      expect(await here.store.setCampaignStatus(list.id, "paused", noon)).toMatchObject({
        status: "paused",
        counts: { queued: 2 },
      });
      expect(await here.store.findCall(accountId, call(1).id)).toMatchObject({
        state: "queued",
        dueAt: noon,
      });
      expect(await here.store.setCampaignStatus(list.id, "paused", noon)).toBeUndefined();
      expect(await here.store.setCampaignStatus(list.id, "running", noon)).toMatchObject({
        status: "running",
      });
      expect(await here.store.setCampaignStatus(id(999), "paused", noon)).toBeUndefined();
    });

    it("wait for their launch time again when resumed before it", async () => {
      await using here = await temporaryStore({ engine });
      const later = campaign(1, { launchAt: noon + hourMs, status: "scheduled" });
      await here.store.insertCampaign(
        later,
        [],
        callsOf(later.id, 1, 1, { state: "scheduled", dueAt: noon + hourMs }),
      );
      await here.store.setCampaignStatus(later.id, "paused", noon);
      expect(await here.store.setCampaignStatus(later.id, "running", noon)).toMatchObject({
        status: "scheduled",
      });
    });

    it("cancel every waiting call when stopped, and cannot be started again", async () => {
      await using here = await temporaryStore({ engine });
      await here.store.insertCampaign(list, [], callsOf(list.id, 1, 1100));
      expect(await here.store.setCampaignStatus(list.id, "stopped", noon)).toMatchObject({
        status: "stopped",
        counts: { cancelled: 1100 },
      });
      expect(await here.store.setCampaignStatus(list.id, "running", noon)).toBeUndefined();
      expect(await here.store.stats()).toMatchObject({ open: 0, dueNow: 0 });
    });

    it("are done when the last waiting call is cancelled, or when there was none", async () => {
      await using here = await temporaryStore({ engine });
      await here.store.insertCampaign(list, [], callsOf(list.id, 1, 1));
      await here.store.cancelCall(accountId, call(1).id, noon);
      expect(await here.store.findCampaign(accountId, list.id)).toMatchObject({ status: "done" });
      const empty = campaign(2);
      await here.store.insertCampaign(
        empty,
        [],
        [call(9, { campaignId: empty.id, state: "wrong-number", dueAt: null })],
      );
      expect(await here.store.findCampaign(accountId, empty.id)).toMatchObject({ status: "done" });
    });
  });
});
