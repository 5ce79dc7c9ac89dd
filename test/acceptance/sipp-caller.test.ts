import { afterAll, beforeAll, expect, test } from "vitest";
import { startProgram } from "../support/built-program.ts";
import type { ChildProgram } from "../support/child-program.ts";
import { freeUdpPort } from "../support/free-port.ts";
import { Sipp, type TracedMessage } from "../support/sipp.ts";
import * as sip from "../support/sipp-scenario.ts";
import { TempHome } from "../support/temp-home.ts";

let home: TempHome;
let sandbox: ChildProgram;
let target: string;

beforeAll(async () => {
  home = await TempHome.create();
  target = `127.0.0.1:${await freeUdpPort()}`;
  sandbox = startProgram("outdial", ["sandbox", "serve", "--listen", target], home);
  await sandbox.shows(new RegExp(target.replaceAll(".", "\\.")));
});

afterAll(async () => {
  await sandbox[Symbol.asyncDispose]();
  await home[Symbol.asyncDispose]();
});

/** Calls a sandbox number with sipp, by these steps after the INVITE. */
async function callSandbox(
  number: string,
  steps: readonly string[],
  options: { readonly calls?: number; readonly more?: readonly string[]; readonly withinMs?: number } = {},
): Promise<{ messages: readonly TracedMessage[]; received: readonly string[] }> {
  await using sipp = await Sipp.start({
    directory: home.directory,
    scenario: sip.callerScenario(number, ...steps),
    calls: options.calls ?? 1,
    target,
    more: options.more ?? [],
  });
  await sipp.passes(options.withinMs);
  const messages = await sipp.messages();
  const received = messages.filter(({ direction }) => direction === "received").map(({ kind }) => kind);
  return { messages, received };
}

const answered = [
  sip.receiveStatus(100, { optional: true }),
  sip.receiveStatus(180, { optional: true }),
  sip.receiveStatus(200, { dialog: true }),
  sip.ack(),
];
const weHangUp = [sip.wait(500), sip.callerBye(), sip.receiveStatus(200)];

test("001 rings, answers with audio and takes a BYE", async () => {
  const { received, messages } = await callSandbox("+9990000001", [...answered, ...weHangUp]);
  expect(received.filter((kind) => kind !== "100")).toEqual(["180", "200", "200"]);
  const answer = messages.find(({ kind, text }) => kind === "200" && text.includes("m=audio"))?.text ?? "";
  expect(answer).toMatch(/^m=audio [1-9]\d* RTP\/AVP 0 101/m);
  const ringing = messages.find(({ kind }) => kind === "180")?.at ?? 0;
  const picked = messages.find(({ kind }) => kind === "200")?.at ?? 0;
  expect(picked - ringing).toBeGreaterThan(500);
});

test("003 is busy", async () => {
  const { messages } = await callSandbox("+9990000003", [
    sip.receiveStatus(100, { optional: true }),
    sip.receiveStatus(486),
    sip.failureAck(),
  ]);
  expect(messages.find(({ kind }) => kind === "486")?.text).toMatch(/^Reason: Q\.850;cause=17/m);
});

test("006 does not exist, and says so with its Q.850 cause", async () => {
  const { messages } = await callSandbox("+9990000006", [
    sip.receiveStatus(100, { optional: true }),
    sip.receiveStatus(404),
    sip.failureAck(),
  ]);
  expect(messages.find(({ kind }) => kind === "404")?.text).toMatch(/^Reason: Q\.850;cause=1\b/m);
});

test("nobody lives at a number outside the sandbox", async () => {
  const { received } = await callSandbox("+34600111222", [
    sip.receiveStatus(100, { optional: true }),
    sip.receiveStatus(404),
    sip.failureAck(),
  ]);
  expect(received).toContain("404");
});

test("1xx answers after as many seconds as the number says", async () => {
  const { messages } = await callSandbox("+9990000102", [...answered, ...weHangUp]);
  const invited = messages[0]?.at ?? 0;
  const picked = messages.find(({ kind }) => kind === "200")?.at ?? 0;
  expect(picked - invited).toBeGreaterThanOrEqual(1_990);
  expect(picked - invited).toBeLessThan(4_000);
});

test("004 rings until it is cancelled", async () => {
  const { received } = await callSandbox(
    "+9990000004",
    [
      sip.receiveStatus(100, { optional: true }),
      sip.receiveStatus(180),
      sip.wait(300),
      sip.cancel(),
      sip.receiveStatus(487),
      sip.failureAck(),
      sip.wait(300),
    ],
    // The 200 of the CANCEL may come before or after the 487: no reason to give up.
    { more: ["-default_behaviors", "all,-abortunexp"] },
  );
  expect(received.slice(-2).toSorted()).toEqual(["200", "487"]);
});

test("fifty calls, ten a second, all go by the book", async () => {
  const { messages, received } = await callSandbox("+9990000101", [...answered, ...weHangUp], {
    calls: 50,
    more: ["-r", "10"],
    withinMs: 40_000,
  });
  expect(new Set(messages.map(({ callId }) => callId)).size).toBe(50);
  expect(received.filter((kind) => /^[3-6]/.test(kind))).toEqual([]);
  expect(sandbox.isRunning).toBe(true);
});
