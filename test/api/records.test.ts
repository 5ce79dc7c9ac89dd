import type { CallState, Turn } from "#domain";
import { publicRoutes } from "#wire";
import { Ajv } from "ajv";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { accountB, callOf, playbookA } from "../support/memory-service.ts";
import { PublicApiRig } from "../support/public-api.ts";

let rig: PublicApiRig;
beforeEach(async () => {
  rig = await PublicApiRig.start();
});
afterEach(async () => rig[Symbol.asyncDispose]());

const id = callOf().id;
const turn: Turn = { seq: 1, speaker: "agent", text: "Hola", startMs: 0, endMs: 500, via: "voice" };
const full = {
  versionId: "0190f000-0000-7000-8000-000000000001",
  campaignId: "0190e000-0000-7000-8000-000000000001",
  createdAt: Date.parse("2026-11-20T09:08:07.654Z"),
  outcome: {
    state: "closed",
    cause: "hung-up",
    sipStatus: 200,
    q850: 16,
    hungUpBy: "callee",
    detail: "Bye.",
  } as const,
  params: { first_name: "Ana", voice_id: "3", voice_model: "fast", text_model: "x", assistant_id: "y" },
  output: { interested: true },
  turns: [turn, { ...turn, seq: 2, speaker: "callee", text: "<i>Sí</i> & no" } as const],
  durationS: 12.4,
};

async function listed(fields: Parameters<typeof callOf>[0]) {
  rig.service.calls = [callOf(fields)];
  const [record] = JSON.parse((await rig.ask("GET", "/calls")).text);
  return record;
}

async function read(fields: Parameters<typeof callOf>[0]) {
  rig.service.calls = [callOf(fields)];
  return (await rig.ask("GET", `/call/${id}`)).json;
}

describe("the record of a list", () => {
  test("has exactly the published fields and outcome, campaign_id, attempts", async () => {
    expect(await listed(full)).toEqual({
      id,
      created_time: "2026-11-20 09:08:07",
      timestamp: Date.parse("2026-11-20T09:08:07.654Z"),
      assistant_id: playbookA,
      from: "+34910000000",
      to: "+34600111222",
      status: "closed",
      duration: 12,
      recording: "",
      transcript: "<b>[Assistant]</b> Hola<br><br><b>[Customer]</b> &lt;i&gt;Sí&lt;/i&gt; &amp; no",
      success: true,
      summary: "Agreed.",
      output: { interested: true },
      data: { params: { first_name: "Ana" } },
      outcome: {
        state: "closed",
        cause: "hung-up",
        sip_status: 200,
        q850: 16,
        hung_up_by: "callee",
        detail: "Bye.",
      },
      campaign_id: full.campaignId,
      attempts: 1,
    });
  });

  test("a call that nobody answered yet has empty texts, zero duration, an empty output and no success", async () => {
    const waiting = {
      state: "queued",
      outcome: null,
      durationS: 0,
      success: false,
      summary: "",
      attempts: 0,
    } as const;
    expect(await listed(waiting)).toMatchObject({
      status: "open",
      duration: 0,
      recording: "",
      transcript: "",
      summary: "",
      output: {},
      success: false,
      outcome: { state: "queued", cause: null },
      campaign_id: null,
    });
  });

  test.each(["", "anonymous", "sip:me@here", "600111222", "+0123456789"])(
    "cleans the invalid origin %j out",
    async (from) => {
      expect((await listed({ from })).from).toBe("");
      expect((await read({ from }))["from"]).toBe("");
    },
  );

  test("uses the playbook's own speaker names, escaped", async () => {
    const speakers = { agent: "Sara <AI>", callee: "Cliente" };
    expect((await listed({ turns: [turn], speakers })).transcript).toBe("<b>[Sara &lt;AI&gt;]</b> Hola");
  });

  test("matches its published schema", async () => {
    const valid = new Ajv({ strict: false, formats: { uuid: true } }).compile(
      publicRoutes.listCalls.success.schema,
    );
    valid([await listed(full)]);
    expect(valid.errors).toBeNull();
  });
});

describe("the record of one call", () => {
  test("is the union of both descriptions", async () => {
    expect(await read({ ...full, recording: "x.wav" })).toEqual({
      id,
      playbook_name: "Welcome",
      playbook_id: playbookA,
      assistant_id: playbookA,
      version_id: full.versionId,
      from: "+34910000000",
      to: "+34600111222",
      status: "closed",
      duration: 12,
      transcript: expect.stringContaining("<b>[Assistant]</b>"),
      summary: "Agreed.",
      data: '{"first_name":"Ana"}',
      output: { interested: true },
      success: true,
      recording: true,
      recording_url: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+\/recordings\/\S+$/),
      created_time: "2026-11-20 09:08:07",
      timestamp: full.createdAt,
      outcome: expect.objectContaining({ state: "closed", cause: "hung-up" }),
      campaign_id: full.campaignId,
      attempts: [],
    });
  });

  test("version_id is null when no version control applied; recording is false and its URL empty", async () => {
    expect(await read({})).toMatchObject({ version_id: null, recording: false, recording_url: "" });
  });

  test("tells each attempt with its times and outcome", async () => {
    rig.service.findCall = async () => ({
      call: callOf({ attempts: 1 }),
      attempts: [
        {
          n: 1,
          state: "ended",
          sipCallId: "abc",
          startedAt: 0,
          ringingAt: 1_000,
          answeredAt: null,
          endedAt: 2_000,
          outcome: { state: "busy", cause: "busy", sipStatus: 486 },
          evidence: { loss: 0 },
        },
      ],
    });
    const record = (await rig.ask("GET", `/call/${id}`)).json;
    expect(record["attempts"]).toEqual([
      {
        n: 1,
        state: "ended",
        sip_call_id: "abc",
        started_at: "1970-01-01T00:00:00.000Z",
        ringing_at: "1970-01-01T00:00:01.000Z",
        answered_at: null,
        ended_at: "1970-01-01T00:00:02.000Z",
        outcome: { state: "busy", cause: "busy", sip_status: 486 },
        evidence: { loss: 0 },
      },
    ]);
    const valid = new Ajv({ strict: false, formats: { uuid: true } }).compile(
      publicRoutes.getCall.success.schema,
    );
    valid(record);
    expect(valid.errors).toBeNull();
  });

  test.each<[CallState, string, string]>([
    ["scheduled", "open", "open"],
    ["queued", "open", "open"],
    ["dialing", "open", "open"],
    ["ringing", "open", "ringing"],
    ["in-progress", "open", "open"],
    ["wrapping", "open", "open"],
    ["closed", "closed", "closed"],
    ["no-answer", "rong-phone-forno-answer", "no-answer"],
    ["busy", "rong-phone-forno-answer", "busy"],
    ["wrong-number", "rong-phone-forno-answer", "wrong-phone-format"],
    ["voicemail", "voicemail", "voicemail"],
    ["recall-scheduled", "recall-scheduled", "recall-scheduled"],
    ["manual", "wmat", "wmat"],
    ["failed", "failed", "failed"],
    ["cancelled", "failed", "failed"],
  ])("the state %s shows as %s in a list and as %s by itself", async (state, list, get) => {
    expect((await listed({ state })).status).toBe(list);
    expect((await read({ state }))["status"]).toBe(get);
  });

  test("may be asked for in capitals", async () => {
    rig.service.calls = [callOf()];
    expect((await rig.ask("GET", `/call/${id.toUpperCase()}`)).status).toBe(200);
  });

  test.each([
    ["unknown", "0190c000-0000-7000-8000-0000000000ff"],
    ["foreign", id],
    ["empty", ""],
    ["malformed", "42"],
    ["a prefix", id.slice(0, 8)],
    ["a path", "..%2F..%2Fetc%2Fpasswd"],
    ["very long", "a".repeat(2000)],
  ])("404 { error: true, message } for an id that is %s", async (_, asked) => {
    rig.service.calls = [callOf({ accountId: accountB.id })];
    const reply = await rig.ask("GET", `/call/${asked}`);
    expect([reply.status, reply.json]).toEqual([404, { error: true, message: expect.any(String) }]);
  });
});
