import { afterAll, beforeAll, expect, test } from "vitest";
import type { CallRecord, CampaignView } from "#wire";
import { outdial, outdialJson, outdialOk } from "../support/built-program.ts";
import { DaemonProcess } from "../support/daemon-process.ts";
import { eventually, pause } from "../support/eventually.ts";
import { sayingPlaybook } from "../support/playbook-source.ts";
import { TempHome } from "../support/temp-home.ts";

let home: TempHome;
let daemon: DaemonProcess;

const followUp = `---
name: follow-up
language: en
opening: "Hello."
script:
  end:
    say: "Somebody will call you."
    end: { success: false, follow_up: true, summary: "wants a person" }
---
`;

beforeAll(async () => {
  home = await TempHome.create();
  daemon = await DaemonProcess.start(home);
  const talk = sayingPlaybook(
    "talk",
    "Good morning, this is a sentence of a few seconds, so that the line is busy for a while.",
  );
  await outdialOk(home, ["playbook", "apply", "-", "-m", "first"], { input: talk });
  await outdialOk(home, ["playbook", "apply", "-", "-m", "first"], { input: followUp });
});

afterAll(async () => {
  await daemon[Symbol.asyncDispose]();
  await home[Symbol.asyncDispose]();
});

/** A campaign that can only ring one number at a time. */
async function launch(contacts: number): Promise<string> {
  const numbers = Array.from({ length: contacts }, (_, i) => `+99900001${String(i).padStart(2, "0")}`);
  return (
    await outdialOk(
      home,
      ["campaign", "launch", "-", "--playbook", "talk", "--max-concurrent", "1", "--yes", "-q"],
      {
        input: ["phone", ...numbers].join("\n"),
      },
    )
  ).trim();
}

function view(id: string): Promise<CampaignView> {
  return outdialJson<CampaignView>(home, ["campaign", "view", id]);
}

async function live(id: string, count: number): Promise<CampaignView> {
  return eventually(
    `${count} calls of the campaign are live`,
    async () => {
      const campaign = await daemon.campaign(id);
      return campaign.live === count ? campaign : JSON.stringify(campaign.counts);
    },
    20_000,
  );
}

test("a paused campaign dials nobody more, a resumed one goes on", async () => {
  const id = await launch(5);
  await live(id, 1);
  await outdialOk(home, ["campaign", "pause", id]);
  expect((await view(id)).status).toBe("paused");
  const resting = await live(id, 0);
  expect(resting.finished).toBeGreaterThan(0);
  await pause(1_000);
  expect(await daemon.campaign(id)).toMatchObject({
    live: 0,
    waiting: resting.waiting,
    finished: resting.finished,
  });
  await outdialOk(home, ["campaign", "resume", id]);
  await live(id, 1);
  await outdialOk(home, ["campaign", "stop", id, "--yes"]);
});

test("a stopped campaign lets the live call end and cancels the others for good", async () => {
  const id = await launch(4);
  await live(id, 1);
  await outdialOk(home, ["campaign", "stop", id, "--yes"]);
  const stopped = await live(id, 0);
  expect(stopped).toMatchObject({
    status: "stopped",
    total: 4,
    waiting: 0,
    finished: 4,
    counts: { closed: 1, cancelled: 3 },
  });
  const again = await outdial(home, ["campaign", "resume", id]);
  expect(again.code).toBe(10);
});

test("a waiting call is cancelled, a live one is hung up", async () => {
  const id = (
    await outdialOk(home, ["call", "start", "+9990000010", "--playbook", "talk", "--at", "in 1h", "-q"])
  ).trim();
  await outdialOk(home, ["call", "hangup", id]);
  expect((await daemon.call(id)).outcome).toMatchObject({ state: "cancelled" });
  const talking = (
    await outdialOk(home, ["call", "start", "+9990000010", "--playbook", "talk", "-q"])
  ).trim();
  await daemon.callIn(talking, ["in-progress"]);
  await outdialOk(home, ["call", "hangup", talking]);
  expect((await daemon.callIn(talking, ["closed"])).outcome).toMatchObject({
    cause: "operator-ended",
    hung_up_by: "operator",
  });
});

test("a call that waits for a person is resolved once, with a note", async () => {
  const id = (
    await outdialOk(home, ["call", "start", "+9990000010", "--playbook", "follow-up", "-q"])
  ).trim();
  await daemon.callIn(id, ["manual"], 30_000);
  expect((await outdialJson<CallRecord>(home, ["call", "view", id])).status).toBe("wmat");
  const listed = await outdialJson<readonly CallRecord[]>(home, ["call", "list", "--status", "wmat"]);
  expect(listed.map((call) => call.id)).toEqual([id]);
  await outdialOk(home, ["call", "resolve", id, "--as", "closed", "--note", "she called back"]);
  const resolved = await daemon.call(id);
  expect(resolved.outcome.state).toBe("closed");
  expect(JSON.stringify(resolved)).toContain("she called back");
  expect((await outdial(home, ["call", "resolve", id, "--as", "failed"])).code).toBe(10);
});
