import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { FindingView, SipMessageView } from "#wire";
import { outdial, outdialJson, outdialOk, startProgram } from "../support/built-program.ts";
import { DaemonProcess } from "../support/daemon-process.ts";
import { sayingPlaybook } from "../support/playbook-source.ts";
import { TempHome } from "../support/temp-home.ts";

let home: TempHome;
let daemon: DaemonProcess;

beforeAll(async () => {
  home = await TempHome.create();
  daemon = await DaemonProcess.start(home);
  await outdialOk(home, ["playbook", "apply", "-", "-m", "first"], {
    input: sayingPlaybook("talk", "Good morning."),
  });
});

afterAll(async () => {
  await daemon[Symbol.asyncDispose]();
  await home[Symbol.asyncDispose]();
});

test("all calls are followed over a restart of the daemon", async () => {
  await using tail = startProgram("outdial", ["call", "tail", "--events", "status", "--since", "1m"], home);
  const first = await daemon.startCall({ phone: "+9990000003", playbook_id: "talk" });
  await tail.shows(new RegExp(`call-ended.*${first}`));
  await daemon.stop();
  await tail.shows(/the daemon has gone/);
  daemon = await DaemonProcess.start(home);
  await tail.shows(/started anew/);
  const second = await daemon.startCall({ phone: "+9990000003", playbook_id: "talk" });
  await tail.shows(new RegExp(`call-ended.*${second}`));
  const told = tail.stdout
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as { type: string; call_id: string });
  expect(told.map(({ type, call_id: id }) => `${type} ${id}`)).toEqual([
    `call-dialing ${first}`,
    `call-ended ${first}`,
    `call-dialing ${second}`,
    `call-ended ${second}`,
  ]);
});

test("a call keeps what was on the wire, without the network seeing more of it", async () => {
  const id = await daemon.startCall({ phone: "+9990000001", playbook_id: "talk" });
  const record = await daemon.callIn(id, ["closed"]);
  const messages = await daemon.admin<readonly SipMessageView[]>("GET", `/admin/calls/${id}/sip`);
  expect(messages.map(({ direction, first_line: line }) => `${direction} ${line.split(" sip:")[0]}`)).toEqual(
    [
      "sent INVITE",
      "received SIP/2.0 100 Trying",
      "received SIP/2.0 180 Ringing",
      "received SIP/2.0 200 OK",
      "sent ACK",
      expect.stringMatching(/^(?:sent|received) BYE$/),
      expect.stringMatching(/^(?:sent|received) SIP\/2\.0 200 OK$/),
    ],
  );
  expect(messages[0]?.text).toContain(`Call-ID: ${record.attempts[0]?.sip_call_id}`);
  const view = await outdialOk(home, ["call", "view", id, "--sip", "--pcap", home.path("call.pcap")]);
  expect(view).toMatch(/INVITE \(SDP\) ─+▶ {2}CSeq 1 INVITE/);
  expect(view).toMatch(/answered_at\t\d{4}-/);
  const { stdout } = await promisify(execFile)("tcpdump", ["-nn", "-r", home.path("call.pcap")]);
  expect(stdout.trimEnd().split("\n")).toHaveLength(7);
  const traced = await outdialOk(home, ["trunk", "trace", "sandbox", "--call", id]);
  expect(traced.trimEnd().split("\n")).toHaveLength(7);
});

test("every live call is ended at once, waiting ones stay", async () => {
  const later = await daemon.startCall({ phone: "+9990000010", playbook_id: "talk", at: "2099-01-01 10:00" });
  const live = await Promise.all(
    ["+9990000110", "+9990000111"].map((phone) => daemon.startCall({ phone, playbook_id: "talk" })),
  );
  await Promise.all(live.map((id) => daemon.callIn(id, ["dialing", "ringing", "in-progress"])));
  const ended = await outdialOk(home, ["call", "hangup", "--all-live", "--yes", "-q"]);
  expect(ended.trimEnd().split("\n").toSorted()).toEqual(live.toSorted());
  for (const id of live) await daemon.callIn(id, ["cancelled", "closed"]);
  expect((await daemon.call(later)).outcome.state).toBe("scheduled");
});

test("a playbook is checked before it is applied, the machine before it is blamed", async () => {
  const broken = await outdial(home, ["playbook", "lint", "-", "--json"], {
    input: `---\nname: x\nopening: "Hi {{course}}"\noutput:\n  type: object\n  properties: { a: { type: strng } }\n---\n`,
  });
  expect(broken.code).toBe(9);
  const findings = JSON.parse(broken.stdout) as readonly FindingView[];
  expect(findings.map(({ severity, line }) => `${severity} ${line}`)).toEqual([
    "warning 2",
    "warning 3",
    "error 6",
  ]);
  const checks = await outdialJson<readonly { check: string; state: string }[]>(home, ["doctor"]);
  expect(checks.filter(({ state }) => state === "failed")).toEqual([]);
});
