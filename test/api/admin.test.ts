import { OutdialError } from "#base";
import { adminRoutes } from "#wire";
import { Ajv } from "ajv";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { AdminApiRig } from "../support/admin-api.ts";
import { accountA, accountB, callOf, playbookA, playbookB, playbookOf } from "../support/memory-service.ts";

let rig: AdminApiRig;
beforeEach(async () => {
  rig = await AdminApiRig.start();
});
afterEach(async () => rig[Symbol.asyncDispose]());

const campaignRow = {
  id: "0190e000-0000-7000-8000-000000000001",
  playbookId: playbookA,
  versionId: null,
  name: "Autumn",
  launchAt: 0,
  recallMin: [30],
  maxConcurrent: null,
  status: "running",
  total: 7,
  createdAt: 0,
  counts: { queued: 3, ringing: 1, "in-progress": 1, closed: 2 },
} as const;

const ringing = {
  n: 1,
  seq: 2,
  at: 1_000,
  direction: "received",
  transport: "udp",
  local: "192.0.2.1:5060",
  remote: "[2001:db8::1]:5060",
  text: "SIP/2.0 180 Ringing\r\nCSeq: 1 INVITE\r\n\r\n",
} as const;

describe("the administration", () => {
  test.each([
    ["status", "/admin/status"],
    ["listAccounts", "/admin/accounts"],
    ["listTokens", "/admin/tokens"],
    ["listPlaybooks", "/admin/playbooks"],
    ["getPlaybook", `/admin/playbooks/${playbookA}`],
    ["listVersions", `/admin/playbooks/${playbookA}/versions`],
    ["listTrunks", "/admin/trunks"],
    ["getTrunk", "/admin/trunks/main"],
    ["listCampaigns", "/admin/campaigns"],
    ["getCampaign", `/admin/campaigns/${campaignRow.id}`],
    ["listCalls", "/admin/calls"],
    ["getCall", `/admin/calls/${callOf().id}`],
    ["getCallSip", `/admin/calls/${callOf().id}/sip`],
    ["listLiveCalls", "/admin/live-calls"],
  ] as const)("answers %s as its schema says", async (operation, path) => {
    rig.service.tokens = [{ name: "ci", prefix: `outdial_${"a".repeat(16)}`, createdAt: 0, expiresAt: 1 }];
    rig.service.playbooks = [playbookOf(playbookA)];
    rig.service.versions = [{ id: "v", message: "first", source: "x", createdAt: 0 }];
    const live = callOf({ id: "0190c000-0000-7000-8000-000000000002", state: "in-progress" });
    rig.service.calls = [callOf({ recording: "x.wav" }), live];
    rig.service.sipMessages.set(callOf().id, [ringing]);
    rig.service.campaignRows = [campaignRow];
    await rig.ask("POST", "/admin/trunks", { name: "main", kind: "sandbox" });
    const reply = await rig.ask("GET", path);
    expect(reply.status).toBe(200);
    const valid = new Ajv({ strict: false, formats: { uuid: true } }).compile(
      adminRoutes[operation].success.schema ?? {},
    );
    valid(reply.json);
    expect(valid.errors).toBeNull();
    expect(reply.text).not.toBe("[]");
  });

  test("gives the SIP messages of a call, none when none are kept", async () => {
    rig.service.calls = [callOf()];
    const path = `/admin/calls/${callOf().id}/sip`;
    expect((await rig.ask("GET", path)).text).toBe("[]");
    rig.service.sipMessages.set(callOf().id, [ringing]);
    const { n: attempt, ...message } = ringing;
    expect((await rig.ask("GET", path)).json).toEqual([
      { ...message, attempt, at: "1970-01-01T00:00:01.000Z", first_line: "SIP/2.0 180 Ringing" },
    ]);
    expect((await rig.ask("GET", "/admin/calls/ffff/sip")).status).toBe(404);
  });

  test("tells what is wrong with a playbook's file and stores nothing", async () => {
    const finding = { severity: "error", where: "voice", message: "no voice", line: 4, column: 8 } as const;
    rig.service.findings = [finding];
    const reply = await rig.ask("POST", "/admin/playbooks/lint", { source: "x", params: ["course"] });
    expect({ status: reply.status, json: reply.json }).toEqual({ status: 200, json: [finding] });
    expect(rig.service.acts).toEqual([["lintPlaybook", { source: "x", params: ["course"] }]]);
  });

  test("works on the account named in the header, default when there is none", async () => {
    rig.service.calls = [
      callOf(),
      callOf({ id: "0190c000-0000-7000-8000-000000000002", accountId: accountB.id }),
    ];
    await rig.ask("GET", "/admin/calls");
    await rig.ask("GET", "/admin/calls", undefined, { "outdial-account": "other" });
    expect(rig.service.queries.map(({ accountId }) => accountId)).toEqual([accountA.id, accountB.id]);
    const reply = await rig.ask("GET", "/admin/calls", undefined, { "outdial-account": "nobody" });
    expect([reply.status, reply.json]).toEqual([
      404,
      { error: { code: "account-not-found", message: 'No account "nobody" was found' } },
    ]);
  });

  test("errors carry code, message and hint", async () => {
    rig.service.failure = new OutdialError("suppressed", "The number asked not to be called", {
      hint: "See the list.",
    });
    const reply = await rig.ask("POST", "/admin/calls", { phone: "+34600111222", playbook_id: playbookA });
    expect([reply.status, reply.json]).toEqual([
      422,
      { error: { code: "suppressed", message: "The number asked not to be called", hint: "See the list." } },
    ]);
  });

  test.each([
    [new OutdialError("trunk-not-found", "x"), 404],
    [new OutdialError("trunk-exists", "x"), 409],
    [new OutdialError("wrong-state", "x"), 409],
    [new OutdialError("ambiguous-id", "x"), 409],
    [new OutdialError("no-trunk", "x"), 422],
    [new OutdialError("something-else", "x"), 400],
    [new OutdialError("store-full", "x"), 503],
    [new OutdialError("store-failed", "x"), 500],
    [new TypeError("x is not a function"), 500],
  ])("%s has its status", async (failure, status) => {
    rig.service.failure = failure;
    expect(
      (await rig.ask("POST", "/admin/calls", { phone: "+34600111222", playbook_id: playbookA })).status,
    ).toBe(status);
  });

  test("unknown paths and wrong methods have the same error shape", async () => {
    expect(await rig.ask("GET", "/admin/nothing")).toMatchObject({
      status: 404,
      json: { error: { code: "not-found" } },
    });
    const wrong = await rig.ask("DELETE", "/admin/accounts");
    expect([wrong.status, wrong.headers["allow"]]).toEqual([405, "GET, POST"]);
  });

  test("the published interface is not served here", async () => {
    expect((await rig.ask("GET", "/calls")).status).toBe(404);
  });

  test("stop passes the time to drain on and answers before it happens", async () => {
    const reply = await rig.ask("POST", "/admin/stop", { drain_ms: 60_000 });
    expect([reply.status, reply.json]).toEqual([202, { stopping: true, drain_ms: 60_000 }]);
    expect((await rig.ask("POST", "/admin/stop", {})).json).toEqual({ stopping: true, drain_ms: 0 });
    expect(rig.service.acts).toEqual([
      ["stop", 60_000],
      ["stop", 0],
    ]);
  });
});

describe("accounts and tokens", () => {
  test("an account is made with its zone; a second one of the name is a conflict", async () => {
    const made = await rig.ask("POST", "/admin/accounts", { name: "acme", timezone: "America/Lima" });
    expect([made.status, made.json]).toEqual([
      201,
      expect.objectContaining({ name: "acme", timezone: "America/Lima" }),
    ]);
    expect((await rig.ask("POST", "/admin/accounts", { name: "acme" })).status).toBe(409);
    expect((await rig.ask("POST", "/admin/accounts", { name: "x", timezone: "Nowhere" })).status).toBe(400);
  });

  test("a token is shown whole once, masked ever after, and is gone when revoked", async () => {
    const made = await rig.ask("POST", "/admin/tokens", { name: "ci", expires: "6m" });
    expect([made.status, made.json]).toEqual([
      201,
      {
        name: "ci",
        token: `outdial_${"a".repeat(16)}secret`,
        created_at: "1970-01-01T00:00:00.000Z",
        expires_at: expect.any(String),
      },
    ]);
    expect(rig.service.acts).toEqual([["createToken", accountA.id, "ci", "6m"]]);
    const list = await rig.ask("GET", "/admin/tokens");
    expect(list.json).toEqual([
      expect.objectContaining({ name: "ci", token: `outdial_${"a".repeat(16)}********`, status: "Expired" }),
    ]);
    expect(list.text).not.toContain("secret");
    expect((await rig.ask("DELETE", "/admin/tokens/ci")).status).toBe(204);
    expect((await rig.ask("DELETE", "/admin/tokens/ci")).status).toBe(404);
  });

  test.each([
    { name: "ci", expires: "2y" },
    { name: "", expires: "30d" },
    { expires: "30d" },
    { name: "ci", expires: "30d", secret: "x" },
  ])("refuses the token %j", async (body) => {
    expect((await rig.ask("POST", "/admin/tokens", body)).status).toBe(400);
  });
});

describe("playbooks and trunks", () => {
  test("a playbook file that is wrong is refused with the place", async () => {
    const reply = await rig.ask("POST", "/admin/playbooks/apply", { source: "broken", file: "welcome.md" });
    expect([reply.status, reply.json]).toEqual([
      422,
      {
        error: {
          code: "playbook-invalid",
          message: "script.start names no state",
          where: "script.start",
          line: 3,
          column: 5,
        },
      },
    ]);
  });

  test("a playbook is applied with its commit message", async () => {
    const reply = await rig.ask("POST", "/admin/playbooks/apply", { source: "x", message: "first" });
    expect([reply.status, reply.json]).toEqual([
      201,
      {
        created: true,
        version: null,
        playbook: expect.objectContaining({ name: "Welcome", language: "es" }),
      },
    ]);
    expect(rig.service.acts).toEqual([
      ["applyPlaybook", { accountId: accountA.id, source: "x", message: "first" }],
    ]);
  });

  test("a version is promoted by the playbook's name, percent-encoded", async () => {
    await rig.ask("POST", "/admin/playbooks/Buenos%20d%C3%ADas/promote", { version: "0190" });
    expect(rig.service.acts).toEqual([["promoteVersion", accountA.id, "Buenos días", "0190"]]);
  });

  test("a trunk's password goes to the service and comes back nowhere", async () => {
    const body = {
      name: "main",
      kind: "digest",
      host: "sip.example",
      username: "u",
      password: "hunter2",
      max_calls: 3,
      default: true,
    };
    const made = await rig.ask("POST", "/admin/trunks", body);
    expect(made.status).toBe(201);
    expect(rig.service.acts).toEqual([
      [
        "createTrunk",
        {
          accountId: accountA.id,
          name: "main",
          kind: "digest",
          host: "sip.example",
          username: "u",
          password: "hunter2",
          maxCalls: 3,
          makeDefault: true,
        },
      ],
    ]);
    for (const reply of [
      made,
      await rig.ask("GET", "/admin/trunks"),
      await rig.ask("POST", "/admin/trunks/main/default"),
    ]) {
      expect(reply.text).toContain('"name":"main"');
      expect(reply.text).not.toContain("hunter2");
    }
    expect((await rig.ask("POST", "/admin/trunks", { name: "x", kind: "ip" })).status).toBe(400);
    expect((await rig.ask("DELETE", "/admin/trunks/main")).status).toBe(204);
    expect((await rig.ask("GET", "/admin/trunks/main")).status).toBe(404);
  });
});

describe("calls", () => {
  test("an order may name trunk, recall, time and parameters", async () => {
    const reply = await rig.ask("POST", "/admin/calls", {
      phone: "+9990000001",
      playbook_id: playbookA,
      trunk: "sandbox",
      recall: [60, 5],
      at: "2026-11-22T09:00:00",
      params: { first_name: "Ana" },
      course: "law",
    });
    expect([reply.status, reply.json]).toEqual([
      200,
      { id: expect.any(String), success: true, message: "Call queued", dry_run: false },
    ]);
    expect(rig.service.started).toMatchObject([
      {
        phone: "+9990000001",
        trunk: "sandbox",
        recallMin: [5, 60],
        at: Date.parse("2026-11-22T08:00:00Z"),
        params: { course: "law", first_name: "Ana" },
      },
    ]);
  });

  test("a dry run only asks, starts nothing and leaves the key free", async () => {
    const order = { phone: "+9990000001", playbook_id: playbookA };
    const key = { "idempotency-key": "k" };
    const dry = await rig.ask("POST", "/admin/calls", { ...order, dry_run: true }, key);
    expect([dry.status, dry.json]).toEqual([
      200,
      { id: null, success: true, message: "Would be queued", dry_run: true },
    ]);
    expect([rig.service.started, rig.service.acts]).toEqual([[], [["checkCall", "+9990000001"]]]);
    expect((await rig.ask("POST", "/admin/calls", order, key)).json).toMatchObject({ dry_run: false });
  });

  test("is found by four characters, not by three, and not by a prefix of two calls", async () => {
    rig.service.calls = [callOf(), callOf({ id: "0191c000-0000-7000-8000-000000000002" })];
    expect((await rig.ask("GET", "/admin/calls/0190")).json).toMatchObject({ id: callOf().id });
    expect((await rig.ask("GET", "/admin/calls/019")).status).toBe(400);
    expect((await rig.ask("GET", "/admin/calls/ffff")).status).toBe(404);
    rig.service.calls.push(callOf({ id: "0190c000-0000-7000-8000-000000000003" }));
    expect((await rig.ask("GET", "/admin/calls/0190c")).json).toMatchObject({
      error: { code: "ambiguous-id" },
    });
  });

  test("the owner's list has no date limits, and finds playbooks by name", async () => {
    rig.service.campaignRows = [campaignRow];
    await rig.ask("GET", "/admin/calls");
    expect(rig.service.queries[0]).toEqual({ accountId: accountA.id });
    await rig.ask("GET", `/admin/calls?startDate=2020-01-01&playbook_id=${playbookA}&campaign_id=0190e`);
    expect(rig.service.queries[1]).toMatchObject({
      from: Date.parse("2020-01-01T00:00:00+01:00"),
      playbookId: playbookA,
      campaignId: campaignRow.id,
    });
    expect((await rig.ask("GET", `/admin/calls?playbook_id=${playbookB}`)).status).toBe(404);
  });

  test("is hung up and resolved", async () => {
    rig.service.calls = [callOf()];
    expect((await rig.ask("POST", "/admin/calls/0190/hangup")).status).toBe(200);
    expect(
      (await rig.ask("POST", "/admin/calls/0190/resolve", { as: "closed", note: "spoke to her" })).status,
    ).toBe(200);
    expect((await rig.ask("POST", "/admin/calls/0190/resolve", { as: "open" })).status).toBe(400);
    expect(rig.service.acts).toContainEqual(["resolveCall", "0190", { as: "closed", note: "spoke to her" }]);
  });

  test("a recording is fetched by the call, under the path its record tells", async () => {
    rig.service.calls = [callOf({ recording: "x.wav" })];
    rig.service.recordings.set(callOf().id, new TextEncoder().encode("RIFF…"));
    const { recording_url } = (await rig.ask("GET", "/admin/calls/0190")).json;
    const reply = await rig.ask("GET", String(recording_url));
    expect([reply.status, reply.headers["content-type"], reply.text]).toEqual([200, "audio/wav", "RIFF…"]);
    rig.service.recordings.clear();
    expect((await rig.ask("GET", String(recording_url))).status).toBe(404);
  });
});

describe("campaigns", () => {
  const body = {
    playbook_id: playbookA,
    name: "Autumn",
    trunk: "main",
    max_concurrent: 2,
    contacts: [{ phone: "+34600111222" }, { phone: "six" }, { phone: "+34600111333" }],
    launch_at: "2026-12-01T09:00:00",
  };

  test("a launch answers with all counts, the first and last call and the contacts that were refused", async () => {
    const reply = await rig.ask("POST", "/admin/campaigns", body);
    expect([reply.status, reply.json]).toEqual([
      202,
      {
        success: true,
        message: expect.stringContaining("2 calls scheduled for 01/12/2026 09:00"),
        campaign_id: expect.any(String),
        dry_run: false,
        scheduled: true,
        launch_at: "2026-12-01T08:00:00.000Z",
        total_contacts: 3,
        scheduled_calls: 2,
        error_calls: 1,
        first_call_at: "2026-12-01T08:00:00.000Z",
        last_call_at: "2026-12-01T08:00:00.100Z",
        rejected: [{ index: 1, phone: "six", reason: expect.any(String) }],
      },
    ]);
    expect(rig.service.campaigns).toMatchObject([{ name: "Autumn", trunk: "main", maxConcurrent: 2 }]);
  });

  test("a dry run has no id and stores no answer", async () => {
    const reply = await rig.ask(
      "POST",
      "/admin/campaigns",
      { ...body, dry_run: true },
      { "idempotency-key": "k" },
    );
    expect(reply.json).toMatchObject({ campaign_id: null, dry_run: true, error_calls: 1 });
    expect(rig.service.answers.size).toBe(0);
  });

  test("honours an Idempotency-Key", async () => {
    const first = await rig.ask("POST", "/admin/campaigns", body, { "idempotency-key": "k" });
    const second = await rig.ask("POST", "/admin/campaigns", body, { "idempotency-key": "k" });
    expect([second.text, second.headers["idempotency-replayed"]]).toEqual([first.text, "true"]);
    expect(rig.service.campaigns).toHaveLength(1);
  });

  test("takes bodies of many mebibytes", async () => {
    const contacts = Array.from({ length: 3_000 }, (_, i) => ({
      phone: `+346001${String(i).padStart(5, "0")}`,
      custom_fields: { note: "x".repeat(1_000) },
    }));
    const reply = await rig.ask("POST", "/admin/campaigns", { ...body, contacts });
    expect([reply.status, reply.json["total_contacts"]]).toEqual([202, 3_000]);
  });

  test("a playbook that is not there is 404, a wrong body 400", async () => {
    expect((await rig.ask("POST", "/admin/campaigns", { ...body, playbook_id: playbookB })).status).toBe(404);
    expect((await rig.ask("POST", "/admin/campaigns", { ...body, contacts: [] })).status).toBe(400);
    expect((await rig.ask("POST", "/admin/campaigns", { ...body, colour: "red" })).status).toBe(400);
  });

  test("shows counts summed up, and is paused, resumed and stopped", async () => {
    rig.service.campaignRows = [campaignRow];
    expect((await rig.ask("GET", "/admin/campaigns/0190e")).json).toMatchObject({
      waiting: 3,
      live: 2,
      finished: 2,
      total: 7,
    });
    for (const act of ["pause", "resume", "stop"]) {
      expect((await rig.ask("POST", `/admin/campaigns/0190e/${act}`)).status).toBe(200);
    }
    expect(rig.service.acts).toEqual([
      ["steerCampaign", "0190e", "pause"],
      ["steerCampaign", "0190e", "resume"],
      ["steerCampaign", "0190e", "stop"],
    ]);
    rig.service.campaignRows = [{ ...campaignRow, status: "done" }];
    expect((await rig.ask("POST", "/admin/campaigns/0190e/pause")).status).toBe(409);
  });
});
