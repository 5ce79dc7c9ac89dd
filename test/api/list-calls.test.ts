import { OutdialError } from "#base";
import { silentLog } from "#host";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { answerCallList } from "../../src/api/call-list.ts";
import { accountA, accountB, callOf, playbookA, playbookB } from "../support/memory-service.ts";
import { PublicApiRig } from "../support/public-api.ts";

let rig: PublicApiRig;
beforeEach(async () => {
  rig = await PublicApiRig.start("2026-11-21T10:00:00Z");
});
afterEach(async () => rig[Symbol.asyncDispose]());

function rows(count: number) {
  return Array.from({ length: count }, (_, i) =>
    callOf({ id: `0190c000-0000-7000-8000-${String(count - i).padStart(12, "0")}`, createdAt: 10_000 - i }),
  );
}

describe("GET /calls", () => {
  test("answers a bare array, empty when there is nothing", async () => {
    const reply = await rig.ask("GET", "/calls");
    expect([reply.status, reply.text]).toEqual([200, "[]"]);
    expect(reply.headers["content-type"]).toBe("application/json; charset=utf-8");
  });

  test("streams every match over many pages as one array, in the order of the service", async () => {
    rig.service.calls = rows(7);
    rig.service.pageRows = 2;
    const reply = await rig.ask("GET", "/calls");
    expect(JSON.parse(reply.text).map(({ timestamp }: { timestamp: number }) => timestamp)).toEqual([
      10_000, 9_999, 9_998, 9_997, 9_996, 9_995, 9_994,
    ]);
    expect(rig.service.pagesGiven).toBe(4);
  });

  test("shows only calls of the token's account", async () => {
    rig.service.calls = [callOf({ accountId: accountB.id })];
    expect((await rig.ask("GET", "/calls")).text).toBe("[]");
    expect(rig.service.queries[0]?.accountId).toBe(accountA.id);
  });

  test("looks back 15 days of the account's zone when nothing is asked, until now", async () => {
    await rig.ask("GET", "/calls");
    expect(rig.service.queries[0]).toMatchObject({
      from: Date.parse("2026-11-06T00:00:00+01:00"),
      to: Date.parse("2026-11-21T10:00:00Z"),
    });
  });

  test.each([
    ["daysFromNow=1", "2026-11-20T00:00:00+01:00", "2026-11-21T10:00:00Z"],
    ["startDate=2026-11-01&endDate=2026-11-02", "2026-11-01T00:00:00+01:00", "2026-11-02T23:59:59.999+01:00"],
    [
      "startDate=2026-11-01%2008:00:00&endDate=2026-11-01%2009:00:00",
      "2026-11-01T08:00:00+01:00",
      "2026-11-01T09:00:00.999+01:00",
    ],
    ["startDate=2026-11-01&daysFromNow=3", "2026-11-01T00:00:00+01:00", "2026-11-21T10:00:00Z"],
  ])("reads %s in the account's zone", async (query, from, to) => {
    expect((await rig.ask("GET", `/calls?${query}`)).status).toBe(200);
    expect(rig.service.queries[0]).toMatchObject({ from: Date.parse(from), to: Date.parse(to) });
  });

  test.each([
    "daysFromNow=0",
    "daysFromNow=91",
    "daysFromNow=1.5",
    "daysFromNow=x",
    "startDate=yesterday",
    "startDate=2026-02-30",
    "endDate=01/11/2026",
    "startDate=2026-11-03&endDate=2026-11-02",
    "startDate=2026-08-22",
    "status=completed",
    "status=rong",
    "playbook_id=welcome",
    "campaign_id=7",
    "limit=0",
    "limit=1001",
    "limit=ten",
    "cursor=x",
    "status=open&status=closed",
  ])("400 { error } for %s", async (query) => {
    const reply = await rig.ask("GET", `/calls?${query}`);
    expect([reply.status, reply.json]).toEqual([400, { error: expect.stringMatching(/\w/) }]);
    expect(rig.service.queries).toEqual([]);
  });

  test("says what is accepted when a filter is unknown", async () => {
    const reply = await rig.ask("GET", "/calls?status=nope");
    expect(reply.json["error"]).toBe(
      "status must be one of open, closed, rong-phone-forno-answer, wmat, failed, recall-scheduled, voicemail",
    );
  });

  test.each([
    ["open", ["scheduled", "queued", "dialing", "ringing", "in-progress", "wrapping"]],
    ["closed", ["closed"]],
    ["rong-phone-forno-answer", ["no-answer", "busy", "wrong-number"]],
    ["wmat", ["manual"]],
    ["failed", ["failed", "cancelled"]],
    ["recall-scheduled", ["recall-scheduled"]],
    ["voicemail", ["voicemail"]],
  ])("the filter %s asks for the states that show it", async (status, states) => {
    expect((await rig.ask("GET", `/calls?status=${status}`)).status).toBe(200);
    expect(rig.service.queries[0]?.states?.toSorted()).toEqual(states.toSorted());
  });

  test("filters by an own playbook, a campaign and a phone however it is written", async () => {
    const campaign = "0190e000-0000-7000-8000-000000000001";
    await rig.ask("GET", `/calls?playbook_id=${playbookA}&campaign_id=${campaign}&phone=%2B34%20600111222`);
    await rig.ask("GET", "/calls?phone=+34600111222");
    expect(rig.service.queries).toMatchObject([
      { playbookId: playbookA, campaignId: campaign, phone: "+34600111222" },
      { phone: "+34600111222" },
    ]);
  });

  test.each([playbookB, "0190b000-0000-7000-8000-0000000000ff"])(
    "403 as a plain JSON string for the playbook %s",
    async (id) => {
      const reply = await rig.ask("GET", `/calls?playbook_id=${id}`);
      expect([reply.status, JSON.parse(reply.text)]).toEqual([
        403,
        expect.stringMatching(/not found or not owned/),
      ]);
    },
  );

  test("pages with limit and cursor reach every row once", async () => {
    rig.service.calls = rows(5);
    const seen: string[] = [];
    let path: string | undefined = "/calls?limit=2";
    while (path !== undefined) {
      const reply = await rig.ask("GET", path);
      seen.push(...JSON.parse(reply.text).map(({ id }: { id: string }) => id));
      const next: string | undefined = reply.headers["outdial-next-cursor"];
      expect(reply.headers["link"]).toBe(next && `</calls?limit=2&cursor=${next}>; rel="next"`);
      path = next && `/calls?limit=2&cursor=${next}`;
    }
    expect(seen).toEqual(rig.service.calls.map(({ id }) => id));
  });

  test("500 as a plain JSON string when the store fails before the first row", async () => {
    rig.service.failure = new Error("SQLITE_IOERR in /var/lib/outdial.db");
    const reply = await rig.ask("GET", "/calls");
    expect([reply.status, reply.text]).toEqual([500, '"Internal server error"']);
  });

  test("503 as a plain JSON string when the store is full", async () => {
    rig.service.failure = new OutdialError("store-full", "No space is left");
    const reply = await rig.ask("GET", "/calls");
    expect([reply.status, reply.text]).toEqual([503, '"No space is left"']);
  });

  test("breaks the connection off when the store fails in the middle: never a valid shorter array", async () => {
    rig.service.calls = rows(3);
    rig.service.listCalls = async function* () {
      yield rig.service.calls.slice(0, 2);
      throw new Error("disk");
    };
    await expect(rig.ask("GET", "/calls")).rejects.toThrow(/terminated|closed|aborted/);
  });
});

describe("a long list", () => {
  test("is read from the store only as fast as the client reads", async () => {
    rig.service.calls = rows(2_000);
    rig.service.pageRows = 10;
    const answer = await answerCallList(
      { accountId: accountA.id },
      { service: rig.service, recordingUrl: () => "", url: "/calls", log: silentLog },
    );
    if (answer.type !== "stream") throw new Error("a list without limit is a stream");
    const chunks = answer.stream[Symbol.asyncIterator]();
    await chunks.next();
    expect(rig.service.pagesGiven).toBeLessThan(6);
    await chunks.return?.();
    expect(rig.service.pagesGiven).toBeLessThan(6);
  });
});
