import { afterAll, beforeAll, expect, test } from "vitest";
import type { CallRecord, VersionView } from "#wire";
import { outdial, outdialJson, outdialOk } from "../support/built-program.ts";
import { DaemonProcess } from "../support/daemon-process.ts";
import { sayingPlaybook } from "../support/playbook-source.ts";
import { TempHome } from "../support/temp-home.ts";

let home: TempHome;
let daemon: DaemonProcess;

beforeAll(async () => {
  home = await TempHome.create();
  daemon = await DaemonProcess.start(home);
});

afterAll(async () => {
  await daemon[Symbol.asyncDispose]();
  await home[Symbol.asyncDispose]();
});

interface Shown {
  readonly id: string;
  readonly production_version_id: string | null;
}

function apply(name: string, words: string, message?: string): Promise<Shown> {
  const making = message === undefined ? [] : ["-m", message];
  return outdialJson<Shown>(home, ["playbook", "apply", "-", ...making], {
    input: sayingPlaybook(name, words),
  });
}

function versions(name: string): Promise<readonly VersionView[]> {
  return outdialJson<readonly VersionView[]>(home, ["playbook", "version", "list", name]);
}

/** Starts a call that is due at once, or in two seconds, and gives its id. */
async function startCall(name: string, more: readonly string[] = []): Promise<string> {
  const words = ["call", "start", "+9990000010", "--playbook", name, "-q", ...more];
  return (await outdialOk(home, words)).trim();
}

test("the first version is production; later ones wait for a promotion", async () => {
  await apply("growing", "One.", "first words");
  const [first] = await versions("growing");
  expect(first).toMatchObject({ message: "first words", production: true });
  await apply("growing", "Two.", "second words");
  const both = await versions("growing");
  expect(both.map(({ message, production }) => [message, production])).toEqual([
    ["second words", false],
    ["first words", true],
  ]);
  await outdialOk(home, ["playbook", "version", "promote", "growing", both[0]?.id ?? ""]);
  expect((await versions("growing")).map(({ production }) => production)).toEqual([true, false]);
});

test("applying the same file again changes nothing, and without -m makes no version", async () => {
  await apply("same", "Here I am.", "once");
  await apply("same", "Here I am.");
  await apply("same", "Here I am, changed.");
  expect(await versions("same")).toHaveLength(1);
});

test("a queued call keeps the version it was created with", async () => {
  await apply("kept", "Old words.", "old");
  const [old] = await versions("kept");
  const queued = await startCall("kept", ["--at", "in 4s"]);
  await apply("kept", "New words.", "new");
  const [made] = await versions("kept");
  await outdialOk(home, ["playbook", "version", "promote", "kept", made?.id ?? ""]);
  const later = await startCall("kept");
  const spoken = await Promise.all([queued, later].map((id) => daemon.callIn(id, ["closed"], 30_000)));
  expect(spoken.map(({ version_id }) => version_id)).toEqual([old?.id, made?.id]);
  expect(spoken[0]?.transcript).toContain("Old words.");
  expect(spoken[1]?.transcript).toContain("New words.");
});

test("a call may name any version; one that does not exist gives way to production without a word", async () => {
  await apply("chosen", "Production words.", "production");
  await apply("chosen", "Draft words.", "draft");
  const [draft, production] = await versions("chosen");
  const token = await daemon.createToken("chooser");
  const ids = [draft?.id, "0190a000-0000-7000-8000-000000000000", "no version at all"];
  const calls: CallRecord[] = [];
  for (const version of ids) {
    const reply = await daemon.api<{ id: string }>("POST", "/call", {
      token,
      body: {
        phone: "+9990000010",
        playbook_id: draft === undefined ? "" : await idOf("chosen"),
        version_id: version,
      },
    });
    expect(reply.status).toBe(200);
    calls.push(await daemon.call(reply.body.id));
  }
  expect(calls.map(({ version_id }) => version_id)).toEqual([draft?.id, production?.id, production?.id]);
  const closed = await daemon.callIn(calls[0]?.id ?? "", ["closed"], 30_000);
  expect(closed.transcript).toContain("Draft words.");
  for (const { id } of calls.slice(1)) await outdial(home, ["call", "hangup", id]);
});

async function idOf(name: string): Promise<string> {
  return (await outdialJson<Shown>(home, ["playbook", "view", name])).id;
}

test("a file with a mistake is refused with the place of it", async () => {
  const ran = await outdial(home, ["playbook", "apply", "-"], {
    input: '---\nname: broken\nscript:\n  start:\n    ask: What?\n    digits: { "1": nowhere }\n---\n',
  });
  expect(ran.code).toBe(2);
  expect(ran.stderr).toMatch(/nowhere/);
});
