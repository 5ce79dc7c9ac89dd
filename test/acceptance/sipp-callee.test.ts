import { createHash } from "node:crypto";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { CallRecord } from "#wire";
import { outdialJson, outdialOk } from "../support/built-program.ts";
import { DaemonProcess } from "../support/daemon-process.ts";
import { sayingPlaybook } from "../support/playbook-source.ts";
import { Sipp, type TracedMessage } from "../support/sipp.ts";
import * as sip from "../support/sipp-scenario.ts";
import { TempHome } from "../support/temp-home.ts";
import { readWavFile } from "../support/wav-file.ts";

const answer = sip.reply(200, "OK", { sdp: true, retransMs: 500 });
const patience = { withinMs: 15_000 };

let home: TempHome;
let daemon: DaemonProcess;

beforeAll(async () => {
  home = await TempHome.create("ring_timeout_s = 5");
  daemon = await DaemonProcess.start(home);
  await outdialOk(home, ["playbook", "apply", "-", "-m", "first"], {
    input: sayingPlaybook("short", "Hello."),
  });
});

afterAll(async () => {
  await daemon[Symbol.asyncDispose]();
  await home[Symbol.asyncDispose]();
});

/** Calls a sipp that follows these steps, and gives what both sides say about it. */
async function callSipp(
  name: string,
  steps: readonly string[],
  options: { readonly echo?: boolean; readonly password?: string; readonly more?: readonly string[] } = {},
): Promise<{ call: CallRecord; messages: readonly TracedMessage[]; sippPort: number }> {
  const { password, ...rest } = options;
  await using sipp = await Sipp.start({
    directory: home.directory,
    scenario: sip.calleeScenario(...steps),
    calls: 1,
    ...rest,
  });
  const digest = password === undefined ? [] : ["--username", "alice", "--password-stdin"];
  await outdialOk(
    home,
    ["trunk", "add", name, "--server", `127.0.0.1:${sipp.port}`, "--caller-id", "+34910000000", ...digest],
    { input: password ?? "" },
  );
  const id = (
    await outdialOk(home, ["call", "start", "+34600111222", "--playbook", "short", "--trunk", name, "-q"])
  ).trim();
  await daemon.callIn(id, ["closed", "failed", "no-answer", "busy", "wrong-number", "voicemail"], 30_000);
  await sipp.passes();
  const call = await outdialJson<CallRecord>(home, ["call", "view", id]);
  return { call, messages: await sipp.messages(), sippPort: sipp.port };
}

/** `INVITE 1` … as they came in, repetitions left out. */
function requests(messages: readonly TracedMessage[]): readonly string[] {
  const received = messages
    .filter(({ direction }) => direction === "received")
    .map(({ kind, cseq }) => `${kind} ${cseq.split(" ")[0]}`);
  return received.filter((line, i) => line !== received[i - 1]);
}

test("an answered call is acknowledged once, speaks, and ends with a BYE of ours", async () => {
  const { call, messages, sippPort } = await callSipp(
    "answers",
    [
      sip.reply(180, "Ringing"),
      sip.wait(300),
      answer,
      sip.receive("ACK", patience),
      sip.receive("BYE", patience),
      sip.accept(),
    ],
    { echo: true },
  );
  expect(requests(messages)).toEqual(["INVITE 1", "ACK 1", "BYE 2"]);
  expect(call).toMatchObject({
    status: "closed",
    success: true,
    recording: true,
    outcome: { state: "closed", cause: "completed", hung_up_by: "agent" },
  });
  const invite = messages[0]?.text ?? "";
  expect(invite).toContain(`INVITE sip:+34600111222@127.0.0.1:${sippPort} SIP/2.0`);
  expect(invite).toMatch(/^From: .*sip:\+34910000000@/m);
  expect(invite).toMatch(/^m=audio \d+ RTP\/AVP 0 8 101/m);
  const dialogs = new Set(messages.slice(3).map(({ text }) => /^To: .*;tag=(\S+)/m.exec(text)?.[1]));
  expect([...dialogs]).toEqual(["sipp1"]);
  expect(call.attempts[0]?.sip_call_id).toBe(messages[0]?.callId);
});

test("what the callee sends is on the right channel of the recording", async () => {
  const { call } = await callSipp(
    "echoes",
    [answer, sip.receive("ACK", patience), sip.receive("BYE", patience), sip.accept()],
    { echo: true },
  );
  await outdialOk(home, ["call", "recording", call.id, "--out", home.path("echo.wav")]);
  const [agent, callee] = (await readWavFile(home.path("echo.wav"))).channels;
  for (const side of [agent, callee]) expect(side?.some((sample) => Math.abs(sample) > 2_000)).toBe(true);
});

test("a callee who hangs up gets his 200, and the call says who hung up", async () => {
  const { call, messages } = await callSipp("leaves", [
    sip.reply(180, "Ringing"),
    answer,
    sip.receive("ACK", patience),
    sip.wait(400),
    sip.bye(),
    sip.receiveStatus(200),
  ]);
  expect(requests(messages)).toEqual(["INVITE 1", "ACK 1", "200 7"]);
  expect(call.outcome).toMatchObject({ state: "closed", cause: "hung-up", hung_up_by: "callee" });
});

test("486 is acknowledged and means busy", async () => {
  const { call, messages } = await callSipp("busy", [
    sip.reply(486, "Busy Here", { retransMs: 500 }),
    sip.receive("ACK", patience),
  ]);
  expect(requests(messages)).toEqual(["INVITE 1", "ACK 1"]);
  expect(call).toMatchObject({ status: "busy", outcome: { state: "busy", cause: "busy", sip_status: 486 } });
  expect(branchOf(messages, "ACK")).toBe(branchOf(messages, "INVITE"));
});

test("480 after ringing means that nobody answered", async () => {
  const { call } = await callSipp("away", [
    sip.reply(180, "Ringing"),
    sip.wait(500),
    sip.reply(480, "Temporarily Unavailable", { retransMs: 500 }),
    sip.receive("ACK", patience),
  ]);
  expect(call).toMatchObject({ status: "no-answer", outcome: { cause: "no-answer", sip_status: 480 } });
});

test("the Q.850 cause of a refusal decides", async () => {
  const { call } = await callSipp("unallocated", [
    sip.reply(480, "Temporarily Unavailable", {
      retransMs: 500,
      headers: ['Reason: Q.850;cause=1;text="Unallocated number"'],
    }),
    sip.receive("ACK", patience),
  ]);
  expect(call).toMatchObject({ status: "wrong-phone-format", outcome: { cause: "unallocated", q850: 1 } });
});

test("a proxy that asks for credentials gets an MD5 digest in a second INVITE of the same call", async () => {
  const { call, messages } = await callSipp(
    "digest",
    [
      sip.reply(407, "Proxy Authentication Required", {
        retransMs: 500,
        headers: [
          'Proxy-Authenticate: Digest realm="trunk.test", nonce="47ebe028cda119c3", algorithm=MD5, qop="auth"',
        ],
      }),
      sip.receive("ACK", patience),
      sip.receive("INVITE", patience),
      answer,
      sip.receive("ACK", patience),
      sip.receive("BYE", patience),
      sip.accept(),
    ],
    { password: "pw-alice" },
  );
  expect(requests(messages)).toEqual(["INVITE 1", "ACK 1", "INVITE 2", "ACK 2", "BYE 3"]);
  expect(new Set(messages.map(({ callId }) => callId)).size).toBe(1);
  const invite = messages.find(({ kind, cseq }) => kind === "INVITE" && cseq.startsWith("2"))?.text ?? "";
  const said = digestFields(invite);
  expect(said).toMatchObject({ username: "alice", realm: "trunk.test", qop: "auth", nc: "00000001" });
  expect(said["uri"]).toBe(/^INVITE (\S+) /.exec(invite)?.[1]);
  // RFC 2617 3.2.2.1
  const secret = md5(`alice:trunk.test:pw-alice`);
  const request = md5(`INVITE:${said["uri"]}`);
  const proof = md5(`${secret}:47ebe028cda119c3:00000001:${said["cnonce"]}:auth:${request}`);
  expect(said["response"]).toBe(proof);
  expect(call.outcome).toMatchObject({ state: "closed", cause: "completed" });
});

test("wrong credentials are tried once, not again and again", async () => {
  const challenge = (nonce: string): string =>
    sip.reply(407, "Proxy Authentication Required", {
      retransMs: 500,
      headers: [`Proxy-Authenticate: Digest realm="trunk.test", nonce="${nonce}", algorithm=MD5, qop="auth"`],
    });
  const { call, messages } = await callSipp(
    "wrong-digest",
    [
      challenge("one"),
      sip.receive("ACK", patience),
      sip.receive("INVITE", patience),
      challenge("two"),
      sip.receive("ACK", patience),
    ],
    { password: "wrong" },
  );
  expect(requests(messages)).toEqual(["INVITE 1", "ACK 1", "INVITE 2", "ACK 2"]);
  expect(call).toMatchObject({ status: "failed", outcome: { cause: "auth-failed", sip_status: 407 } });
});

test("a 200 that comes again is acknowledged again", async () => {
  const { call, messages } = await callSipp(
    "repeats",
    [
      sip.reply(200, "OK", { sdp: true }),
      sip.reply(200, "OK", { sdp: true }),
      sip.receive("ACK", patience),
      sip.receive("BYE", patience),
      sip.accept(),
    ],
    // Both ACKs are the same: sipp takes one of them for a repetition, or for one that comes too soon.
    { more: ["-default_behaviors", "all,-abortunexp"] },
  );
  const acks = messages.filter(({ kind }) => kind === "ACK");
  expect(acks).toHaveLength(2);
  // What follows the blank line is sipp's own remark about the repetition.
  const [first, again] = acks.map(({ text }) => text.split(/\r?\n\r?\n/)[0]);
  expect(again).toBe(first);
  expect(call.outcome.cause).toBe("completed");
});

test("a phone that rings too long is cancelled in its own transaction", async () => {
  const { call, messages } = await callSipp("rings", [
    sip.reply(180, "Ringing"),
    sip.receive("CANCEL", patience),
    sip.accept(),
    sip.reply(487, "Request Terminated", { to: "invite", retransMs: 500 }),
    sip.receive("ACK", patience),
  ]);
  expect(requests(messages)).toEqual(["INVITE 1", "CANCEL 1", "ACK 1"]);
  expect(branchOf(messages, "CANCEL")).toBe(branchOf(messages, "INVITE"));
  expect(call).toMatchObject({
    status: "no-answer",
    outcome: { cause: "ring-timeout", hung_up_by: "agent" },
  });
  const [invited, cancelled] = ["INVITE", "CANCEL"].map(
    (kind) => messages.find((one) => one.kind === kind)?.at ?? 0,
  );
  expect((cancelled ?? 0) - (invited ?? 0)).toBeGreaterThan(4_900);
});

test("a phone that is picked up while it is cancelled is hung up at once", async () => {
  const { call, messages } = await callSipp("crosses", [
    sip.reply(180, "Ringing"),
    sip.receive("CANCEL", patience),
    sip.accept(),
    sip.reply(200, "OK", { sdp: true, to: "invite", retransMs: 500 }),
    sip.receive("ACK", patience),
    sip.receive("BYE", patience),
    sip.accept(),
  ]);
  expect(requests(messages)).toEqual(["INVITE 1", "CANCEL 1", "ACK 1", "BYE 2"]);
  expect(call.outcome.state).toBe("no-answer");
});

function branchOf(messages: readonly TracedMessage[], kind: string): string | undefined {
  const message = messages.find((one) => one.direction === "received" && one.kind === kind);
  return /branch=([^;\s]+)/.exec(message?.text ?? "")?.[1];
}

function digestFields(invite: string): Readonly<Record<string, string>> {
  const header = /^Proxy-Authorization: Digest (.*?)\r?$/im.exec(invite)?.[1] ?? "";
  return Object.fromEntries(
    [...header.matchAll(/(\w+)=(?:"([^"]*)"|([^,\s]+))/g)].map(([, name = "", quoted, plain]) => [
      name,
      quoted ?? plain ?? "",
    ]),
  );
}

function md5(text: string): string {
  return createHash("md5").update(text).digest("hex");
}
