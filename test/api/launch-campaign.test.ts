import { OutdialError } from "#base";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { playbookA, playbookB } from "../support/memory-service.ts";
import { PublicApiRig } from "../support/public-api.ts";

let rig: PublicApiRig;
beforeEach(async () => {
  rig = await PublicApiRig.start("2026-11-21T10:00:00Z");
});
afterEach(async () => rig[Symbol.asyncDispose]());

const good = { playbook_id: playbookA, contacts: [{ phone: "+34600111222" }, { phone: "0034600111333" }] };

describe("POST /campaign", () => {
  test("an immediate campaign answers 202 with exactly the published fields", async () => {
    const reply = await rig.ask("POST", "/campaign", good);
    expect(reply.status).toBe(202);
    expect(reply.json).toEqual({
      success: true,
      message: "Campaign started with 2 calls",
      campaign_id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      scheduled: false,
      total_contacts: 2,
    });
  });

  test("a scheduled campaign answers 202 with the launch in UTC and counts that add up", async () => {
    const contacts = [...good.contacts, { phone: "not a number" }];
    const reply = await rig.ask("POST", "/campaign", { ...good, contacts, launch_at: "2026-12-01T09:00:00" });
    expect(reply.status).toBe(202);
    expect(reply.json).toEqual({
      success: true,
      message: "2 calls scheduled for 01/12/2026 09:00; 1 could not be created because of the phone number",
      campaign_id: expect.any(String),
      scheduled: true,
      launch_at: "2026-12-01T08:00:00.000Z",
      total_contacts: 3,
      scheduled_calls: 2,
      error_calls: 1,
    });
  });

  test("a launch with an offset is taken as given, and the message speaks the account's time", async () => {
    const reply = await rig.ask("POST", "/campaign", { ...good, launch_at: "2026-12-01T09:00:00Z" });
    expect(reply.json).toMatchObject({ launch_at: "2026-12-01T09:00:00.000Z" });
    expect(reply.json["message"]).toContain("01/12/2026 10:00");
  });

  test("hands over contacts with the fields that were given, and recall sorted", async () => {
    const contact = {
      phone: "+34 600 111 222",
      first_name: "Ana",
      timezone: "Atlantic/Canary",
      last_name: null,
      custom_fields: { course: "law", n: 3, deep: { a: 1 } },
    };
    await rig.ask("POST", "/campaign", { playbook_id: playbookA, contacts: [contact], recall: "[120, 30]" });
    expect(rig.service.campaigns).toMatchObject([
      {
        playbook: playbookA,
        recallMin: [30, 120],
        contacts: [
          {
            phone: "+34600111222",
            callable: true,
            fields: { first_name: "Ana", timezone: "Atlantic/Canary" },
            customFields: { course: "law", n: 3, deep: { a: 1 } },
          },
        ],
      },
    ]);
    expect(rig.service.campaigns[0]?.contacts[0]?.fields).not.toHaveProperty("last_name");
  });

  const refused: readonly [string, unknown, RegExp][] = [
    ["playbook_id is missing", { contacts: good.contacts }, /playbook_id is missing/],
    ["playbook_id is no UUID", { ...good, playbook_id: "welcome" }, /playbook_id must be a UUID/],
    ["contacts are missing", { playbook_id: playbookA }, /contacts is missing/],
    ["contacts are no array", { ...good, contacts: {} }, /contacts must be an array/],
    ["contacts are empty", { ...good, contacts: [] }, /contacts must not be empty/],
    [
      "a contact has no phone",
      { ...good, contacts: [{ phone: "+34600111222" }, {}] },
      /must have a non-empty phone field.*contacts\[1\]/,
    ],
    [
      "a contact has an empty phone",
      { ...good, contacts: [{ phone: "  " }] },
      /must have a non-empty phone field/,
    ],
    [
      "a contact's phone is a number",
      { ...good, contacts: [{ phone: 34600111222 }] },
      /must have a non-empty phone field/,
    ],
    ["a contact is text", { ...good, contacts: ["+34600111222"] }, /must have a non-empty phone field/],
    [
      "a field of a contact is no text",
      { ...good, contacts: [{ phone: "+34600111222", city: 3 }] },
      /contacts\[0\]\.city/,
    ],
    [
      "a time zone is unknown",
      { ...good, contacts: [{ phone: "+34600111222", timezone: "Mars/One" }] },
      /timezone/,
    ],
    [
      "custom_fields is a list",
      { ...good, contacts: [{ phone: "+34600111222", custom_fields: [] }] },
      /custom_fields/,
    ],
    ["recall is negative", { ...good, recall: [-1] }, /recall/],
    ["recall is fractional", { ...good, recall: [1.5] }, /recall/],
    ["recall is too long a list", { ...good, recall: Array(21).fill(1) }, /recall/],
    ["recall is too far", { ...good, recall: [43_201] }, /recall/],
    ["recall is words", { ...good, recall: "30,120" }, /recall/],
    ["recall is an object", { ...good, recall: {} }, /recall/],
    ["recall is null", { ...good, recall: null }, /recall/],
    ["launch_at is no date-time", { ...good, launch_at: "tomorrow" }, /launch_at/],
    ["launch_at is a day", { ...good, launch_at: "2026-12-01" }, /launch_at/],
    ["launch_at is a number", { ...good, launch_at: 1 }, /launch_at/],
    ["launch_at is over five minutes past", { ...good, launch_at: "2026-11-21T10:54:59" }, /past/],
  ];
  test.each(refused)("400 with a single error text when %s", async (_, body, words) => {
    const reply = await rig.ask("POST", "/campaign", body);
    expect(reply.status).toBe(400);
    expect(reply.json).toEqual({ error: expect.stringMatching(words) });
    expect(rig.service.campaigns).toEqual([]);
  });

  test("a launch five minutes ago is still taken, as scheduled", async () => {
    const reply = await rig.ask("POST", "/campaign", { ...good, launch_at: "2026-11-21T10:55:00" });
    expect([reply.status, reply.json["scheduled"]]).toEqual([202, true]);
  });

  test.each([playbookB, "0190b000-0000-7000-8000-0000000000ff"])(
    "403 { error } for the playbook %s",
    async (id) => {
      const reply = await rig.ask("POST", "/campaign", { ...good, playbook_id: id });
      expect([reply.status, reply.json]).toEqual([
        403,
        { error: expect.stringMatching(/not found or not owned/) },
      ]);
    },
  );

  test("checks in the order token, body shape, ownership, contacts", async () => {
    const foreign = { playbook_id: playbookB, contacts: [{}] };
    expect((await rig.ask("POST", "/campaign", foreign)).status).toBe(403);
    expect((await rig.ask("POST", "/campaign", { ...foreign, recall: "x" })).status).toBe(400);
    expect((await rig.ask("POST", "/campaign", "{", { authorization: "Bearer x" })).status).toBe(401);
    expect((await rig.ask("POST", "/campaign", { ...foreign, playbook_id: playbookA })).status).toBe(400);
  });

  test("413 { error } beyond 100,000 contacts", async () => {
    const contacts = Array.from({ length: 100_001 }, () => ({}));
    const reply = await rig.ask("POST", "/campaign", { playbook_id: playbookB, contacts });
    expect([reply.status, reply.json]).toEqual([413, { error: expect.stringContaining("100000") }]);
  });

  test("413 { error } beyond 64 MiB", async () => {
    const reply = await rig.ask("POST", "/campaign", Buffer.alloc(64 * 1024 * 1024 + 1, " "), {
      "content-type": "application/json",
    });
    expect([reply.status, reply.json]).toEqual([413, { error: expect.any(String) }]);
  });

  test("500 and 503 in its own shape", async () => {
    rig.service.failure = new Error("at Object.<anonymous> (/secret/path.ts:1:1)");
    expect((await rig.ask("POST", "/campaign", good)).json).toEqual({ error: "Internal server error" });
    rig.service.failure = new OutdialError("store-full", "No space is left");
    const reply = await rig.ask("POST", "/campaign", good);
    expect([reply.status, reply.json["error"]]).toEqual([503, "No space is left"]);
  });

  test("custom fields named __proto__ stay plain data", async () => {
    const body = `{"playbook_id":"${playbookA}","contacts":[{"phone":"+34600111222","custom_fields":{"__proto__":"x"}}]}`;
    expect((await rig.ask("POST", "/campaign", body)).status).toBe(202);
    expect(Object.entries(rig.service.campaigns[0]?.contacts[0]?.customFields ?? {})).toEqual([
      ["__proto__", "x"],
    ]);
  });
});
