import { dirname } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { launcher, outdial, outdialOk } from "../support/built-program.ts";
import { runToEnd, succeeded, type Ran } from "../support/child-program.ts";
import { DaemonProcess } from "../support/daemon-process.ts";
import { freeTcpPort } from "../support/free-port.ts";
import { askingPlaybook } from "../support/playbook-source.ts";
import { TempHome } from "../support/temp-home.ts";
import { mkdir, rm, writeFile } from "node:fs/promises";
import { existsSync } from "node:fs";

let home: TempHome;
let daemon: DaemonProcess;

beforeAll(async () => {
  home = await TempHome.create("ring_timeout_s = 5");
  daemon = await DaemonProcess.start(home);
  await outdialOk(home, ["playbook", "apply", "-", "-m", "first"], { input: askingPlaybook("ask") });
});

afterAll(async () => {
  await daemon[Symbol.asyncDispose]();
  await home[Symbol.asyncDispose]();
});

/** As cron does it: through a shell, with a home and a path and nothing else. */
function asCron(directory: string, command: string, withinMs = 30_000): Promise<Ran> {
  return runToEnd("/bin/sh", ["-c", command], {
    cwd: directory,
    env: {
      HOME: directory,
      PATH: `${dirname(process.execPath)}:${dirname(launcher("outdial"))}:/usr/bin:/bin`,
    },
    withinMs,
  });
}

const outcomes: readonly (readonly [number: string, exitCode: number, status: string])[] = [
  ["+9990000001", 0, "closed"],
  ["+9990000002", 21, "voicemail"],
  ["+9990000004", 22, "no-answer"],
  ["+9990000003", 23, "busy"],
  ["+9990000006", 24, "wrong-phone-format"],
];

test.each(outcomes)(
  "calling %s and waiting exits with %i",
  { concurrent: true },
  async (number, exitCode, status) => {
    const ran = await outdial(home, ["call", "start", number, "--playbook", "ask", "--wait", "--json"], {
      withinMs: 60_000,
    });
    expect([ran.code, ran.stderr]).toEqual([exitCode, expect.not.stringContaining("error:")]);
    expect(JSON.parse(ran.stdout)).toMatchObject({ to: number, status });
    expect(ran.stdout + ran.stderr).not.toContain("\u001b");
  },
);

test("a job with only HOME and PATH finds the daemon that a login shell started", async () => {
  await using user = await TempHome.create();
  const config = user.path(".config", "outdial");
  await mkdir(config, { recursive: true });
  await writeFile(`${config}/config.toml`, `[daemon]\nlisten = "127.0.0.1:${await freeTcpPort()}"\n`);
  // Only where the system keeps one for each user does a login shell have this variable.
  const runtime = `/run/user/${process.getuid?.()}`;
  const login = existsSync(runtime) ? `XDG_RUNTIME_DIR=${runtime} ` : "";
  const wasThere = existsSync(`${runtime}/outdial`);
  try {
    const started = succeeded(await asCron(user.directory, `${login}outdial daemon start --json`));
    const { pid } = JSON.parse(started.stdout) as { pid: number };
    const found = succeeded(await asCron(user.directory, "outdial daemon status --json --no-start"));
    expect(JSON.parse(found.stdout)).toMatchObject({ pid });
  } finally {
    await asCron(user.directory, "outdial daemon stop --now");
    if (!wasThere && existsSync(`${runtime}/outdial`)) await rm(`${runtime}/outdial`, { recursive: true });
  }
});

test("without a terminal nothing is asked: the command says which flag is missing", async () => {
  const contacts = Array.from({ length: 30 }, (_, i) => `Name ${i},+99900001${String(i).padStart(2, "0")}`);
  await writeFile(home.path("many.csv"), ["first_name,phone", ...contacts].join("\n"));
  const ran = await outdial(home, ["campaign", "launch", "many.csv", "--playbook", "ask"]);
  expect(ran.code).toBe(2);
  expect(ran.stderr).toMatch(/--yes/);
  expect(await daemon.admin("GET", "/admin/campaigns")).toEqual([]);
});

test("the same key launches a campaign once a day, however often cron runs", async () => {
  await writeFile(home.path("two.csv"), "first_name,phone\nAna,+9990000006\nLuis,+9990000003\n");
  const words = [
    "campaign",
    "launch",
    "two.csv",
    "--playbook",
    "ask",
    "--key",
    "daily-2026-11-21",
    "--yes",
    "-q",
  ];
  const first = await outdialOk(home, words);
  expect(first.trim()).toMatch(/^[0-9a-f-]{36}$/);
  expect(await outdialOk(home, words)).toBe(first);
  expect(await daemon.admin("GET", "/admin/campaigns")).toHaveLength(1);
});

test("a number that cannot be called is refused before anything rings", async () => {
  const ran = await outdial(home, ["call", "start", "600", "--playbook", "ask", "--wait"]);
  expect(ran.code).toBe(2);
  expect(ran.stdout).toBe("");
  expect(ran.stderr).toMatch(/^error: /);
});
