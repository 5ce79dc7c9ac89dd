import { afterAll, beforeAll, expect, test } from "vitest";
import type { CallRecord } from "#wire";
import { outdial, outdialJson, outdialOk } from "../support/built-program.ts";
import { DaemonProcess } from "../support/daemon-process.ts";
import { TempHome } from "../support/temp-home.ts";

const playbook = `---
name: asking
language: es
rtt: true
opening: "Hola."
script:
  ask:
    ask: "¿Le viene bien?"
    text: { "sí": done }
    otherwise: done
    silence: done
  done:
    say: "Gracias."
    end: { success: true }
---
`;
const toSandbox = ["call", "start", "+9990000001", "--playbook", "asking"];

let home: TempHome;
let daemon: DaemonProcess;

beforeAll(async () => {
  home = await TempHome.create();
  daemon = await DaemonProcess.start(home);
  await outdialOk(home, ["playbook", "apply", "-"], { input: playbook });
  await outdialOk(home, ["trunk", "add", "real", "--server", "127.0.0.1:9", "--caller-id", "+34910000000"]);
});

afterAll(async () => {
  await daemon[Symbol.asyncDispose]();
  await home[Symbol.asyncDispose]();
});

test("a sandbox number is refused on a real trunk, and nothing is stored", async () => {
  const run = await outdial(home, [...toSandbox, "--trunk", "real"]);
  expect(run).toMatchObject({ code: 12, stdout: "" });
  expect(run.stderr).toContain("is a sandbox number");
  expect(await outdialJson(home, ["call", "list"])).toEqual([]);
});

test("a real number is refused on the sandbox trunk, and nothing is stored", async () => {
  const run = await outdial(home, [
    "call",
    "start",
    "+34600111222",
    "--playbook",
    "asking",
    "--trunk",
    "sandbox",
  ]);
  expect(run).toMatchObject({ code: 12, stdout: "" });
  expect(run.stderr).toContain("+34600111222");
  expect(await outdialJson(home, ["call", "list"])).toEqual([]);
});

test("who typed that they want no more calls is recorded as opted out and never called again", async () => {
  const words = ["call", "start", "+9990000009", "--playbook", "asking"];
  const first = await outdial(home, [...words, "--wait", "-q"]);
  const id = first.stdout.trim().split("\n").at(-1) ?? "";
  const call = await outdialJson<CallRecord>(home, ["call", "view", id]);
  expect(call).toMatchObject({ status: "closed", success: false, outcome: { cause: "opted-out" } });
  const again = await outdial(home, words);
  expect(again).toMatchObject({ code: 12, stdout: "" });
  expect(again.stderr).toContain("asked not to be called");
});
