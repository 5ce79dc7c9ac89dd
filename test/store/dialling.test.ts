import { describe, expect, it } from "vitest";
import type { Store } from "../../src/store/contract.ts";
import {
  accountId,
  call,
  callsOf,
  campaign,
  claimAt,
  dialog,
  ended,
  id,
  noon,
  playbook,
  playbookId,
  settings,
  version,
} from "./sample-rows.ts";
import { openHere, temporaryStore } from "./temporary-store.ts";

const hourMs = 3_600_000;

async function claimedIds(store: Store, request: Parameters<Store["claimDue"]>[0]): Promise<string[]> {
  return (await store.claimDue(request)).claimed.map((taken) => taken.call.id);
}

/** Claims call 1 and, as far as asked, dials and answers it. */
async function advance(store: Store, to: "claimed" | "dialing" | "answered"): Promise<void> {
  await store.claimDue(claimAt(noon));
  if (to === "claimed") return;
  expect(await store.startDial(call(1).id, 1, "d1", "abc@outdial", dialog(), noon + 10)).toBe(true);
  if (to === "answered")
    await store.markAnswered(call(1).id, 1, dialog({ remoteTag: "r1", inviteBranch: null }), noon + 5000);
}

describe.each(["sqljs", "node-sqlite"] as const)("dialling on %s", (engine) => {
  describe("a claim", () => {
    it("takes what has been due longest, once, and says when to come back", async () => {
      await using here = await temporaryStore({ engine });
      for (const n of [1, 2, 3, 4]) await here.store.insertCall(call(n, { dueAt: noon - n * 1000 }));
      await here.store.insertCall(call(5, { dueAt: noon + 60_000 }));
      const first = await here.store.claimDue(claimAt(noon, { limit: 3 }));
      expect(first.claimed.map((taken) => taken.call.id)).toEqual([call(4).id, call(3).id, call(2).id]);
      expect(first.nextDueAt).toBe(noon - 1000);
      expect(first.claimed[0]).toMatchObject({
        attempt: 1,
        call: { state: "dialing", dueAt: null, attempts: 1 },
      });
      expect(first.claimed[0]?.settings).toEqual(settings);
      const second = await here.store.claimDue(claimAt(noon));
      expect(second.claimed.map((taken) => taken.call.id)).toEqual([call(1).id]);
      expect(second.nextDueAt).toBe(noon + 60_000);
      expect(await claimedIds(here.store, claimAt(noon))).toEqual([]);
      expect(await here.store.stats()).toMatchObject({ open: 5, calls: 5 });
    });

    it("says null when nothing waits", async () => {
      await using here = await temporaryStore({ engine });
      expect(await here.store.claimDue(claimAt(noon))).toEqual({ claimed: [], nextDueAt: null });
    });

    it("takes one call per number, and none to a number in a call", async () => {
      await using here = await temporaryStore({ engine });
      for (const n of [1, 2, 3]) await here.store.insertCall(call(n, { to: "+34600111222" }));
      await here.store.insertCall(call(4));
      await here.store.insertCall(call(5));
      const request = claimAt(noon, { busyNumbers: [call(4).to] });
      expect(await claimedIds(here.store, request)).toEqual([call(1).id, call(5).id]);
      // Still under way by the store's own books, whatever the request says; so there is nothing to come back for.
      expect(await here.store.claimDue(request)).toEqual({ claimed: [], nextDueAt: null });
      await here.store.endAttempt(ended(call(1).id, 1));
      expect(await claimedIds(here.store, request)).toEqual([call(2).id]);
    });

    it("looks behind any number of waiting calls to a busy number", async () => {
      await using here = await temporaryStore({ engine });
      const list = campaign(1);
      await here.store.insertCampaign(
        list,
        [],
        [
          ...callsOf(list.id, 1, 300, { to: "+34600111222" }),
          call(400, { campaignId: list.id, dueAt: noon + 1 }),
        ],
      );
      expect(await claimedIds(here.store, claimAt(noon + 1, { busyNumbers: ["+34600111222"] }))).toEqual([
        call(400).id,
      ]);
    });

    it("leaves out excluded campaigns, trunks and accounts, but never single calls for a campaign's sake", async () => {
      await using here = await temporaryStore({ engine });
      const [byCampaign, byTrunk] = [campaign(1), campaign(2)];
      await here.store.insertCampaign(byCampaign, [], callsOf(byCampaign.id, 1, 1, { trunkId: id(70) }));
      await here.store.insertCampaign(byTrunk, [], callsOf(byTrunk.id, 2, 1, { trunkId: id(71) }));
      await here.store.insertCall(call(3)); // No trunk of its own.
      const all = { excludeCampaigns: [byCampaign.id], excludeTrunks: [id(71)] };
      expect(await here.store.claimDue(claimAt(noon, { ...all, excludeAccounts: [accountId] }))).toEqual({
        claimed: [],
        nextDueAt: null,
      });
      expect(await claimedIds(here.store, claimAt(noon, { ...all, excludeUnrouted: [accountId] }))).toEqual(
        [],
      );
      expect(await claimedIds(here.store, claimAt(noon, all))).toEqual([call(3).id]);
      expect(await claimedIds(here.store, claimAt(noon))).toEqual([call(1).id, call(2).id]);
    });

    it("keeps to a campaign's own limit, and fills up with others", async () => {
      await using here = await temporaryStore({ engine });
      const [small, large] = [campaign(1, { maxConcurrent: 2 }), campaign(2)];
      await here.store.insertCampaign(small, [], callsOf(small.id, 1, 20, { dueAt: noon - 1000 }));
      await here.store.insertCampaign(large, [], callsOf(large.id, 101, 3));
      const { claimed, nextDueAt } = await here.store.claimDue(claimAt(noon, { limit: 4 }));
      expect(claimed.map((taken) => [taken.call.campaignId, taken.campaignMaxConcurrent])).toEqual([
        [small.id, 2],
        [small.id, 2],
        [large.id, null],
        [large.id, null],
      ]);
      expect(nextDueAt).toBe(noon);
      expect(
        (await here.store.claimDue(claimAt(noon, { limit: 4 }))).claimed.map((taken) => taken.call.id),
      ).toEqual([call(103).id]);
      await here.store.endAttempt(ended(call(1).id, 1));
      expect(await claimedIds(here.store, claimAt(noon))).toEqual([call(3).id]);
    });

    it("starts a scheduled campaign at its launch time, and leaves a paused one alone", async () => {
      await using here = await temporaryStore({ engine });
      const [later, paused] = [campaign(1, { status: "scheduled", launchAt: noon + hourMs }), campaign(2)];
      await here.store.insertCampaign(
        later,
        [],
        callsOf(later.id, 1, 1, { state: "scheduled", dueAt: noon + hourMs }),
      );
      await here.store.insertCampaign(paused, [], callsOf(paused.id, 2, 1));
      await here.store.setCampaignStatus(paused.id, "paused", noon);
      expect(await here.store.claimDue(claimAt(noon))).toEqual({ claimed: [], nextDueAt: noon + hourMs });
      expect(await here.store.findCampaign(accountId, later.id)).toMatchObject({ status: "scheduled" });
      expect(await claimedIds(here.store, claimAt(noon + hourMs))).toEqual([call(1).id]);
      expect(await here.store.findCampaign(accountId, later.id)).toMatchObject({ status: "running" });
      expect(await here.store.stats()).toMatchObject({ dueNow: 0 });
    });

    it("brings the settings of the version that the call is bound to", async () => {
      await using here = await temporaryStore({ engine });
      await here.store.applyPlaybook(playbook(), version({ settings: { ...settings, opening: "old" } }));
      await here.store.applyPlaybook(playbook({ settings: { ...settings, opening: "new" } }), undefined);
      await here.store.insertCall(call(1, { versionId: version().id }));
      await here.store.insertCall(call(2));
      const { claimed } = await here.store.claimDue(claimAt(noon));
      expect(claimed.map((taken) => taken.settings.opening)).toEqual(["old", "new"]);
      expect(claimed[0]?.call).toMatchObject({
        playbookId,
        playbookName: "welcome",
        versionId: version().id,
      });
    });

    it("gives a call to one of two that ask at the same time", async () => {
      await using here = await temporaryStore({ engine });
      for (let n = 1; n <= 20; n++) await here.store.insertCall(call(n));
      const claims = await Promise.all(
        Array.from({ length: 8 }, () => claimedIds(here.store, claimAt(noon, { limit: 4 }))),
      );
      expect(claims.flat()).toHaveLength(20);
      expect(new Set(claims.flat()).size).toBe(20);
    });
  });

  describe("an attempt", () => {
    it("is dialled once, by the owner of the claim", async () => {
      await using here = await temporaryStore({ engine });
      await here.store.insertCall(call(1));
      await advance(here.store, "claimed");
      expect(await here.store.startDial(call(1).id, 1, "d2", "x", dialog(), noon)).toBe(false);
      expect(await here.store.startDial(call(1).id, 2, "d1", "x", dialog(), noon)).toBe(false);
      expect(await here.store.startDial(call(1).id, 1, "d1", "x", dialog(), noon + 10)).toBe(true);
      expect(await here.store.startDial(call(1).id, 1, "d1", "x", dialog(), noon)).toBe(false);
    });

    it("goes by ringing and answer to its end, which counts once", async () => {
      await using here = await temporaryStore({ engine });
      await here.store.insertCall(call(1));
      await advance(here.store, "dialing");
      await here.store.markRinging(call(1).id, 1, noon + 1000);
      await here.store.markRinging(call(1).id, 1, noon + 2000);
      expect(await here.store.findCall(accountId, call(1).id)).toMatchObject({ state: "ringing" });
      await here.store.markAnswered(call(1).id, 1, dialog({ remoteTag: "r1" }), noon + 5000);
      await here.store.markRinging(call(1).id, 1, noon + 6000);
      expect(await here.store.findCall(accountId, call(1).id)).toMatchObject({ state: "in-progress" });
      const end = ended(call(1).id, 1, {
        state: "closed",
        outcome: { state: "closed", cause: "hung-up", hungUpBy: "callee" },
        durationS: 42,
        success: true,
        summary: "Agreed.",
        output: { day: "Monday" },
        turns: [{ seq: 1, speaker: "agent", text: "Hola", startMs: 0, endMs: 800, via: "voice" }],
        recording: "a.wav",
        evidence: { jitterMs: 3 },
      });
      expect(await here.store.endAttempt(end)).toBe(true);
      expect(await here.store.endAttempt({ ...end, summary: "again" })).toBe(false);
      const { callId: _callId, n: _n, at: _at, evidence: _evidence, ...shown } = end;
      expect(await here.store.findCall(accountId, call(1).id)).toMatchObject(shown);
      expect(await here.store.listAttempts(call(1).id)).toEqual([
        {
          callId: call(1).id,
          n: 1,
          state: "ended",
          sipCallId: "abc@outdial",
          startedAt: noon + 10,
          ringingAt: noon + 1000,
          answeredAt: noon + 5000,
          endedAt: noon + 30_000,
          outcome: end.outcome,
          recording: "a.wav",
          evidence: { jitterMs: 3 },
        },
      ]);
    });

    it("that is to be recalled makes the call wait for the next one", async () => {
      await using here = await temporaryStore({ engine });
      await here.store.insertCall(call(1));
      await advance(here.store, "dialing");
      await here.store.endAttempt(ended(call(1).id, 1, { state: "recall-scheduled", dueAt: noon + hourMs }));
      expect(await here.store.findCall(accountId, call(1).id)).toMatchObject({
        state: "recall-scheduled",
        dueAt: noon + hourMs,
        outcome: { state: "no-answer" },
      });
      const { claimed } = await here.store.claimDue(claimAt(noon + hourMs));
      expect(claimed).toMatchObject([{ attempt: 2, call: { attempts: 2 } }]);
      expect(await here.store.endAttempt(ended(call(1).id, 1))).toBe(false);
    });

    it("suppresses the number in the same step when the callee asked for it", async () => {
      await using here = await temporaryStore({ engine });
      await here.store.insertCall(call(1));
      await advance(here.store, "dialing");
      await here.store.endAttempt(ended(call(1).id, 1, { suppress: { phone: call(1).to, reason: "asked" } }));
      expect(await here.store.isSuppressed(accountId, call(1).to)).toBe(true);
    });

    it("can be given back while it is only claimed", async () => {
      await using here = await temporaryStore({ engine });
      await here.store.insertCall(call(1));
      await advance(here.store, "claimed");
      await here.store.unclaimCall(call(1).id, 1, noon + 1000);
      expect(await here.store.findCall(accountId, call(1).id)).toMatchObject({
        state: "queued",
        dueAt: noon + 1000,
        attempts: 0,
      });
      expect(await here.store.listAttempts(call(1).id)).toEqual([]);
      await here.store.claimDue(claimAt(noon + 1000));
      await here.store.startDial(call(1).id, 1, "d1", "x", dialog(), noon + 1000);
      await here.store.unclaimCall(call(1).id, 1, noon + 2000);
      expect(await here.store.findCall(accountId, call(1).id)).toMatchObject({
        state: "dialing",
        dueAt: null,
        attempts: 1,
      });
    });
  });

  describe("a stopped campaign", () => {
    it("does not get back a call that was under way", async () => {
      await using here = await temporaryStore({ engine });
      const list = campaign(1);
      await here.store.insertCampaign(list, [], callsOf(list.id, 1, 4));
      await here.store.claimDue(claimAt(noon, { limit: 3 }));
      await here.store.startDial(call(1).id, 1, "d1", "x", dialog(), noon);
      expect(await here.store.setCampaignStatus(list.id, "stopped", noon)).toMatchObject({
        counts: { dialing: 3, cancelled: 1 },
      });
      await here.store.endAttempt(ended(call(1).id, 1, { state: "recall-scheduled", dueAt: noon + hourMs }));
      await here.store.unclaimCall(call(2).id, 1, noon + hourMs);
      await here.store.recover("d1", noon);
      expect(await here.store.findCampaign(accountId, list.id)).toMatchObject({
        status: "stopped",
        counts: { "no-answer": 1, cancelled: 3 },
      });
    });
  });

  describe("a campaign", () => {
    it("is done when its last call is over, and not before", async () => {
      await using here = await temporaryStore({ engine });
      const list = campaign(1);
      await here.store.insertCampaign(list, [], callsOf(list.id, 1, 2));
      await here.store.claimDue(claimAt(noon));
      await here.store.endAttempt(ended(call(1).id, 1));
      expect(await here.store.findCampaign(accountId, list.id)).toMatchObject({
        status: "running",
        counts: { dialing: 1, "no-answer": 1 },
      });
      await here.store.endAttempt(ended(call(2).id, 1));
      expect(await here.store.findCampaign(accountId, list.id)).toMatchObject({
        status: "done",
        counts: { "no-answer": 2 },
      });
    });
  });

  describe("recovery", () => {
    it("queues again what never rang, and leaves to a person what may have rung", async () => {
      await using here = await temporaryStore({ engine });
      const list = campaign(1);
      for (const n of [1, 2]) await here.store.insertCall(call(n, { trunkId: id(70) }));
      await here.store.insertCampaign(list, [], callsOf(list.id, 3, 1, { dueAt: noon + 5 }));
      await here.store.claimDue(claimAt(noon + 5));
      await here.store.startDial(call(1).id, 1, "d1", "s1", dialog(), noon);
      await here.store.saveDialog(call(1).id, 1, dialog({ localCSeq: 2 }));
      await here.store.startDial(call(3).id, 1, "d1", "s3", dialog(), noon + 6);
      await here.store.markAnswered(call(3).id, 1, dialog({ remoteTag: "r", inviteBranch: null }), noon + 7);
      await here.store.saveDialog(call(3).id, 1, dialog({ localCSeq: 9 }));
      await here.store.close();

      const store = await openHere({ file: here.file, engine });
      expect(await store.recover("d1", noon + 9000)).toEqual({
        requeued: 1,
        lost: [
          { callId: call(1).id, n: 1, trunkId: id(70), dialog: dialog({ localCSeq: 2 }), answered: false },
          {
            callId: call(3).id,
            n: 1,
            trunkId: null,
            dialog: dialog({ remoteTag: "r", inviteBranch: null }),
            answered: true,
          },
        ],
      });
      expect(await store.findCall(accountId, call(1).id)).toMatchObject({
        state: "manual",
        dueAt: null,
        outcome: { cause: "interrupted" },
      });
      expect(await store.findCall(accountId, call(2).id)).toMatchObject({ state: "queued", attempts: 0 });
      expect(await store.listAttempts(call(3).id)).toMatchObject([{ state: "lost", endedAt: noon + 9000 }]);
      expect(await store.findCampaign(accountId, list.id)).toMatchObject({
        status: "done",
        counts: { manual: 1 },
      });
      expect(await store.recover("d1", noon + 9001)).toEqual({ requeued: 0, lost: [] });
      expect(await claimedIds(store, claimAt(noon + 9001))).toEqual([call(2).id]);
      expect(await store.startDial(call(1).id, 1, "d1", "s1", dialog(), noon)).toBe(false);
      await store.close();
    });
  });
});
