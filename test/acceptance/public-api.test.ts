import { request } from "undici";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { CallRecord, LaunchedCampaignBody, ListedCall, StartedCallBody } from "#wire";
import { outdialJson, outdialOk } from "../support/built-program.ts";
import { DaemonProcess } from "../support/daemon-process.ts";
import { eventually } from "../support/eventually.ts";
import { askingPlaybook } from "../support/playbook-source.ts";
import { TempHome } from "../support/temp-home.ts";
import { wavAudio } from "../support/wav-file.ts";

let home: TempHome;
let daemon: DaemonProcess;
let playbookId: string;

beforeAll(async () => {
  home = await TempHome.create();
  daemon = await DaemonProcess.start(home);
  const words = ["playbook", "apply", "-", "-m", "first"];
  playbookId = (await outdialJson<{ id: string }>(home, words, { input: askingPlaybook("ask") })).id;
});

afterAll(async () => {
  await daemon[Symbol.asyncDispose]();
  await home[Symbol.asyncDispose]();
});

async function newToken(name: string): Promise<string> {
  return (await outdialOk(home, ["token", "create", name, "--expires", "30d"])).trim();
}

test("a program starts a call with a token from the terminal, reads it, and plays its recording", async () => {
  const token = await newToken("crm");
  const started = await daemon.api<StartedCallBody>("POST", "/call", {
    token,
    body: { phone: "+999 000 0001", playbook_id: playbookId, language: "EN", first_name: "Ana" },
  });
  expect(started).toMatchObject({ status: 200, body: { success: true } });
  const { id } = started.body;

  const call = await eventually(
    "the call is over",
    async () => {
      const { body } = await daemon.api<CallRecord>("GET", `/call/${id}`, { token });
      return body.status === "closed" ? body : body.status;
    },
    30_000,
    700, // Ten requests a second are allowed, and a hundred a minute.
  );
  expect(call).toMatchObject({
    id,
    to: "+9990000001",
    success: true,
    recording: true,
    output: { confirmed: true },
  });
  expect(JSON.parse(call.data)).toEqual({ first_name: "Ana" });
  expect(call.transcript).toContain("<b>[Assistant]</b> Hello Ana.");

  const listed = await daemon.api<readonly ListedCall[]>("GET", "/calls?daysFromNow=1", { token });
  expect(listed.status).toBe(200);
  expect(listed.body.find((one) => one.id === id)).toMatchObject({
    status: "closed",
    duration: call.duration,
  });
  expect(listed.body.find((one) => one.id === id)?.recording).toMatch(/^http:\/\//);

  // The URL needs no token: it is what a browser's player gets.
  const file = await request(call.recording_url);
  const bytes = Buffer.from(await file.body.arrayBuffer());
  expect([file.statusCode, file.headers["content-type"]]).toEqual([200, "audio/wav"]);
  expect(bytes.subarray(0, 4).toString("latin1")).toBe("RIFF");
  const { rateHz, channels } = wavAudio(bytes);
  expect(channels).toHaveLength(2);
  expect(Math.abs((channels[0]?.length ?? 0) / rateHz - call.duration)).toBeLessThan(1.5);
  const part = await request(call.recording_url, { headers: { range: "bytes=0-43" } });
  expect([part.statusCode, Buffer.from(await part.body.arrayBuffer()).length]).toEqual([206, 44]);
  const forged = await request(call.recording_url.replace(/.(?=.$)/, (last) => (last === "A" ? "B" : "A")));
  await forged.body.dump();
  expect(forged.statusCode).toBeGreaterThanOrEqual(400);
});

test("a campaign is taken with 202 and its calls are listed", async () => {
  const token = await newToken("campaigns");
  const launched = await daemon.api<LaunchedCampaignBody>("POST", "/campaign", {
    token,
    body: {
      playbook_id: playbookId,
      contacts: [
        { first_name: "Ana", phone: "+9990000003" },
        { first_name: "Luis", phone: "+9990000006" },
        { first_name: "Nobody", phone: "12" },
      ],
      recall: [],
    },
  });
  expect(launched.status).toBe(202);
  expect(launched.body).toMatchObject({ success: true, total_contacts: 3 });
  const statuses = await eventually(
    "all of its calls are over",
    async () => {
      const { body } = await daemon.api<readonly ListedCall[]>(
        "GET",
        `/calls?campaign_id=${(launched.body as unknown as { campaign_id: string }).campaign_id}`,
        { token },
      );
      const open = body.filter(({ status }) => status === "open");
      return body.length === 3 && open.length === 0
        ? body.map(({ to, status }) => [to, status])
        : `${open.length} are open`;
    },
    20_000,
    700,
  );
  expect(new Map(statuses as [string, string][])).toEqual(
    new Map([
      ["+9990000003", "rong-phone-forno-answer"],
      ["+9990000006", "rong-phone-forno-answer"],
      ["12", "rong-phone-forno-answer"],
    ]),
  );
});

test("no token, a wrong one and a revoked one are the same 401", async () => {
  const token = await newToken("short-lived");
  expect((await daemon.api("GET", "/calls?daysFromNow=1", { token })).status).toBe(200);
  await outdialOk(home, ["token", "revoke", "short-lived", "--yes"]);
  const refused = await Promise.all(
    [undefined, `${token.slice(0, -4)}AAAA`, token].map((one) =>
      daemon.api("GET", "/calls?daysFromNow=1", one === undefined ? {} : { token: one }),
    ),
  );
  expect(refused.map(({ status }) => status)).toEqual([401, 401, 401]);
  expect(new Set(refused.map(({ text }) => text)).size).toBe(1);
  expect(refused[0]?.headers["www-authenticate"]).toMatch(/^Bearer/);
});

test("the eleventh request of a second waits: 429 says for how long", async () => {
  const token = await newToken("eager");
  const replies = await Promise.all(
    Array.from({ length: 14 }, () => daemon.api("GET", "/calls?daysFromNow=1", { token })),
  );
  const refused = replies.filter(({ status }) => status === 429);
  expect(replies.filter(({ status }) => status === 200)).toHaveLength(10);
  expect(refused).toHaveLength(4);
  for (const { headers, body } of refused) {
    expect(Number(headers["retry-after"])).toBeGreaterThanOrEqual(1);
    expect(body).toHaveProperty("retry_after");
  }
});

test("bad orders are refused with words", async () => {
  const token = await newToken("clumsy");
  const bodies: readonly (readonly [unknown, RegExp])[] = [
    [{ phone: "600111222", playbook_id: playbookId }, /prefix/i],
    [{ phone: "+9990000001", playbook_id: "nothing" }, /playbook/i],
    [{ phone: "+9990000001", playbook_id: playbookId, interrupt: "yes" }, /interrupt/],
    ["{ not json", /json/i],
  ];
  for (const [body, words] of bodies) {
    const reply = await daemon.api("POST", "/call", { token, body });
    expect([reply.status, reply.body["error"]]).toEqual([400, true]);
    expect(reply.body["message"]).toMatch(words);
  }
});

test("the same Idempotency-Key starts one call", async () => {
  const token = await newToken("careful");
  const order = {
    token,
    body: { phone: "+9990000003", playbook_id: playbookId },
    headers: { "idempotency-key": "one-and-only" },
  };
  const replies = await Promise.all(
    [1, 2, 3, 4].map(() => daemon.api<StartedCallBody>("POST", "/call", order)),
  );
  expect(new Set(replies.map(({ status }) => status))).toEqual(new Set([200]));
  expect(new Set(replies.map(({ body }) => body.id)).size).toBe(1);
  const other = await daemon.api("POST", "/call", {
    ...order,
    body: { ...order.body, phone: "+9990000006" },
  });
  expect(other.status).toBe(409);
});
