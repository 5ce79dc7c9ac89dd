import { readdir } from "node:fs/promises";
import { expect, test } from "vitest";
import type { CallRecord } from "#wire";
import { runToEnd } from "../support/child-program.ts";
import { DaemonProcess } from "../support/daemon-process.ts";
import { eventuallyTrue } from "../support/eventually.ts";
import { sayingPlaybook } from "../support/playbook-source.ts";
import { childrenOf, isAlive } from "../support/processes.ts";
import { Sipp, type TracedMessage } from "../support/sipp.ts";
import {
  accept,
  bye,
  label,
  receive,
  receiveInvite,
  receiveStatus,
  reply,
  scenario,
  stop,
  wait,
} from "../support/sipp-scenario.ts";
import { TempHome } from "../support/temp-home.ts";

const words = "This is a sentence of some seconds, so that the line is open for a while.";
const contacts = 60;
const crashes = 3;

/** Any number answers: those that end in 3 are busy, in 4 ring for ever, in 8 hang up; the others talk. */
const carrier = scenario(
  receiveInvite({ 3: "busy", 4: "rings", 8: "leaves" }),
  reply(180, "Ringing"),
  wait(200),
  reply(200, "OK", { sdp: true, retransMs: 500 }),
  receive("ACK", { withinMs: 10_000 }),
  receive("BYE", { withinMs: 40_000 }),
  accept(),
  stop(),
  label("busy"),
  reply(486, "Busy Here", { retransMs: 500 }),
  receive("ACK"),
  stop(),
  label("rings"),
  reply(180, "Ringing"),
  receive("CANCEL", { withinMs: 30_000 }),
  accept(),
  reply(487, "Request Terminated", { to: "invite", retransMs: 500 }),
  receive("ACK"),
  stop(),
  label("leaves"),
  reply(180, "Ringing"),
  reply(200, "OK", { sdp: true, retransMs: 500 }),
  receive("ACK", { withinMs: 10_000 }),
  wait(800),
  bye(),
  receiveStatus(200),
);

test("a daemon killed again and again loses nobody and calls nobody twice", async () => {
  await using home = await TempHome.create("ring_timeout_s = 5");
  await using sipp = await Sipp.start({ directory: home.directory, scenario: carrier });
  let daemon = await DaemonProcess.start(home);
  try {
    await daemon.applyPlaybook(sayingPlaybook("talk", words));
    await daemon.admin("POST", "/admin/trunks", {
      name: "carrier",
      kind: "ip",
      host: "127.0.0.1",
      port: sipp.port,
      caller_id: "+34910000000",
      max_calls: 10,
      calls_per_second: 20,
    });
    const launched = await daemon.launch({
      playbook_id: "talk",
      contacts: Array.from({ length: contacts }, (_, i) => ({
        phone: `+346000001${String(i).padStart(2, "0")}`,
      })),
      recall: [0],
    });
    const id = launched.campaign_id ?? "";
    const lostTogether: Lost[] = [];
    for (let n = 1; n <= crashes; n++) {
      const wanted = n * 15;
      await eventuallyTrue(
        `${wanted} calls reached the carrier`,
        async () => {
          const messages = await sipp.messages();
          return (
            new Set(invitesOf(messages).map(({ callId }) => callId)).size >= wanted &&
            liveOf(messages).length >= 5
          );
        },
        20_000,
      );
      const children = await childrenOf(daemon.pid);
      await daemon.crash();
      const live = liveOf(await sipp.messages(), Date.now());
      const restartedAt = Date.now();
      daemon = await DaemonProcess.start(home);
      lostTogether.push({ live, restartedAt, readyAt: Date.now() });
      await eventuallyTrue("the dead daemon's children have ended", () => !children.some(isAlive));
    }
    await eventuallyTrue(
      "the campaign is done",
      async () => (await daemon.campaign(id)).status === "done",
      45_000,
    );

    const messages = await sipp.messages();
    const calls = await Promise.all(
      (await daemon.calls(`?campaign_id=${id}&limit=1000`)).map((call) => daemon.call(call.id)),
    );
    expect.soft(calls).toHaveLength(contacts);
    checkWire(messages, calls);
    for (const lost of lostTogether) checkOrphans(messages, lost);
    await checkLost(daemon, home, calls, messages);
    expect.soft(calls.filter(({ outcome }) => outcome.state === "closed").length).toBeGreaterThan(15);
  } finally {
    await daemon[Symbol.asyncDispose]();
  }
});

interface Lost {
  /** Answered or ringing when the daemon died. */
  readonly live: readonly LiveCall[];
  readonly restartedAt: number;
  readonly readyAt: number;
}

interface LiveCall {
  readonly callId: string;
  /** The farewells that fit: of a call answered a moment before the crash nobody can know whether that was stored. */
  readonly farewells: readonly ("BYE" | "CANCEL")[];
}

const storedWithinMs = 300;

/** What the carrier's log and the daemon's records must agree on. */
function checkWire(messages: readonly TracedMessage[], calls: readonly CallRecord[]): void {
  const transactions = new Map<string, Set<string>>();
  for (const { callId, cseq, text } of invitesOf(messages)) {
    const branch = /branch=([^;\s]+)/.exec(text)?.[1] ?? "";
    transactions.set(callId, (transactions.get(callId) ?? new Set()).add(`${cseq} ${branch}`));
  }
  for (const [callId, invites] of transactions) expect.soft([callId, invites.size]).toEqual([callId, 1]);

  const recorded = new Set(calls.flatMap(({ attempts }) => attempts.map((attempt) => attempt.sip_call_id)));
  expect.soft([...transactions.keys()].filter((callId) => !recorded.has(callId))).toEqual([]);

  for (const call of calls) {
    const dials = new Set(
      invitesOf(messages)
        .filter(({ number }) => number === call.to)
        .map(({ callId }) => callId),
    );
    const wasLost = call.attempts.some(({ state }) => state === "lost");
    const recalled = ["3", "4"].includes(call.to.slice(-1));
    const atMost = recalled && !call.attempts[0]?.state.includes("lost") ? 2 : 1;
    expect.soft([call.to, dials.size <= atMost]).toEqual([call.to, true]);
    if (!wasLost) expect.soft([call.to, dials.size]).toEqual([call.to, recalled ? 2 : 1]);
    expect.soft(expectedStates(call, wasLost)).toContain(call.outcome.state);
  }
}

function expectedStates(call: CallRecord, wasLost: boolean): readonly string[] {
  if (wasLost) return ["manual"];
  if (call.to.endsWith("3")) return ["busy"];
  return call.to.endsWith("4") ? ["no-answer"] : ["closed"];
}

/** The phones that the dead daemon left ringing or talking are hung up at once. */
function checkOrphans(messages: readonly TracedMessage[], { live, restartedAt, readyAt }: Lost): void {
  for (const { callId, farewells } of live) {
    const ofCall = messages.filter((message) => message.callId === callId);
    const seen = ofCall
      .map(({ at, direction, kind }) => `${at - restartedAt} ${direction} ${kind}`)
      .join(", ");
    const theirs = ofCall.find(({ direction, kind }) => direction === "sent" && kind === "BYE");
    const farewell = ofCall.find(
      ({ direction, kind }) => direction === "received" && farewells.some((fitting) => fitting === kind),
    );
    if (farewell === undefined && theirs !== undefined && theirs.at <= readyAt) continue;
    expect.soft(farewell?.kind, seen).toBeOneOf([...farewells]);
    expect.soft((farewell?.at ?? Infinity) - restartedAt, seen).toBeLessThan(2_000 + (readyAt - restartedAt));
    if (farewell?.kind !== "CANCEL") continue;
    // RFC 3261 9.1: a CANCEL carries the Via of its INVITE, sender and branch.
    const invite = ofCall.find(({ kind }) => kind === "INVITE");
    expect.soft(viaOf(farewell.text)).toBe(viaOf(invite?.text ?? ""));
  }
}

/** A lost attempt is known as such, waits for a person and leaves a recording that plays. */
async function checkLost(
  daemon: DaemonProcess,
  home: TempHome,
  calls: readonly CallRecord[],
  messages: readonly TracedMessage[],
): Promise<void> {
  const lost = calls.filter(({ attempts }) => attempts.some(({ state }) => state === "lost"));
  expect.soft(lost.length).toBeGreaterThanOrEqual(crashes);
  const files = await readdir(home.recordingsDir);
  let played = 0;
  for (const call of lost) {
    const attempt = call.attempts.at(-1);
    expect.soft(attempt).toMatchObject({ state: "lost", outcome: { cause: "interrupted" } });
    const acknowledged = messages.find(
      ({ callId, kind }) => callId === attempt?.sip_call_id && kind === "ACK",
    );
    const file = files.find((name) => name === `${call.id}-${attempt?.n}.wav`);
    if (acknowledged === undefined || file === undefined || attempt?.answered_at === null) continue;
    const { stdout, stderr, code } = await runToEnd("soxi", ["-D", `${home.recordingsDir}/${file}`]);
    expect.soft([code, stderr]).toEqual([0, ""]);
    expect.soft(call.recording).toBe(Number(stdout) > 0);
    if (Number(stdout) === 0) continue;
    played++;
    const reply = await daemon.tryAdmin("GET", `/admin/calls/${call.id}/recording`);
    expect.soft([reply.status, reply.text.slice(0, 4)]).toEqual([200, "RIFF"]);
  }
  expect.soft(played).toBeGreaterThan(0);
}

function invitesOf(messages: readonly TracedMessage[]): readonly TracedMessage[] {
  return messages.filter(({ direction, kind }) => direction === "received" && kind === "INVITE");
}

/** Calls that are acknowledged or ring for ever, and have not ended. */
function liveOf(messages: readonly TracedMessage[], now = Infinity): readonly LiveCall[] {
  const byCall = new Map<string, { answeredAt: number | undefined; rings: boolean; over: boolean }>();
  for (const { at, callId, kind, direction, number } of messages) {
    const call = byCall.get(callId) ?? { answeredAt: undefined, rings: false, over: false };
    if (kind === "INVITE" && number.endsWith("4")) call.rings = true;
    if (kind === "ACK" && direction === "received") call.answeredAt = at;
    if (["BYE", "CANCEL", "486", "487"].includes(kind)) call.over = true;
    byCall.set(callId, call);
  }
  return [...byCall]
    .filter(([, { answeredAt, rings, over }]) => !over && (answeredAt !== undefined || rings))
    .map(([callId, { answeredAt }]) => ({ callId, farewells: farewellsOf(answeredAt, now) }));
}

function farewellsOf(answeredAt: number | undefined, now: number): LiveCall["farewells"] {
  if (answeredAt === undefined) return ["CANCEL"];
  return now - answeredAt > storedWithinMs ? ["BYE"] : ["BYE", "CANCEL"];
}

function viaOf(text: string): string {
  return /^Via:\s*(.*?)\s*$/im.exec(text)?.[1] ?? "";
}
