import { createServer } from "node:net";
import { once } from "node:events";
import { expect, test } from "vitest";
import { outdial, outdialOk, startProgram } from "../support/built-program.ts";
import { DaemonProcess } from "../support/daemon-process.ts";
import { freeTcpPort } from "../support/free-port.ts";
import { TempHome } from "../support/temp-home.ts";

/** Starts one more daemon in a home, which must refuse: gives what it said and how long that took. */
async function refusal(home: TempHome): Promise<{ code: number | null; stderr: string; tookMs: number }> {
  const start = performance.now();
  await using program = startProgram("outdiald", ["run"], home);
  const { code } = await program.ends(5_000);
  return { code, stderr: program.stderr, tookMs: performance.now() - start };
}

/** One line that names the problem, perhaps one that says what to do; never a stack. */
function expectOneSentence(stderr: string, what: RegExp): void {
  const [first = "", ...more] = stderr.trim().split("\n");
  expect(first).toMatch(/^error: /);
  expect(first).toMatch(what);
  expect(more.length).toBeLessThanOrEqual(1);
  expect(stderr).not.toMatch(/^\s+at /m);
}

test("a second daemon on the same home refuses at once", async () => {
  await using home = await TempHome.create();
  await using first = await DaemonProcess.start(home);
  const second = await refusal(home);
  expect(second.code).toBeGreaterThan(0);
  expectOneSentence(second.stderr, /another daemon is using/i);
  // A second for the refusal, besides the start of the program itself.
  expect(second.tookMs).toBeLessThan(1_000 + (await startupMs(home)));
  expect(first.isRunning).toBe(true);
  expect((await first.tryAdmin("GET", "/admin/status")).status).toBe(200);
});

test("it refuses just as well while the first is stopped", async () => {
  await using home = await TempHome.create();
  await using first = await DaemonProcess.start(home);
  first.signal("SIGSTOP");
  try {
    const second = await refusal(home);
    expect(second.code).toBeGreaterThan(0);
    expectOneSentence(second.stderr, /another daemon is using/i);
    expect(second.tookMs).toBeLessThan(1_000 + (await startupMs(home)));
  } finally {
    first.signal("SIGCONT");
  }
  expect((await first.tryAdmin("GET", "/admin/status")).status).toBe(200);
});

test("a killed daemon leaves the home free at once", async () => {
  await using home = await TempHome.create();
  const first = await DaemonProcess.start(home);
  await first.crash();
  await using second = await DaemonProcess.start(home);
  expect((await second.tryAdmin("GET", "/admin/status")).status).toBe(200);
});

test("a port that is in use is one sentence", async () => {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  const port = typeof address === "object" ? address?.port : undefined;
  try {
    await using home = await TempHome.create(`listen = "127.0.0.1:${port}"`);
    const { code, stderr } = await refusal(home);
    expect(code).toBeGreaterThan(0);
    expectOneSentence(stderr, new RegExp(`${port}`));
  } finally {
    server.close();
  }
});

test("a mistake in the configuration is one sentence with the key", async () => {
  await using home = await TempHome.create("ring_timeout_s = 1");
  const { code, stderr } = await refusal(home);
  expect(code).toBeGreaterThan(0);
  expectOneSentence(stderr, /ring_timeout_s/);
});

test("without a daemon, --no-start exits with 6 and starts none", async () => {
  await using home = await TempHome.create();
  const ran = await outdial(home, ["call", "list", "--no-start"]);
  expect(ran.code).toBe(6);
  expect(ran.stdout).toBe("");
  expect(ran.stderr).toMatch(/^error: .*daemon/m);
  expect((await outdial(home, ["daemon", "status"])).code).toBe(6);
});

test("commands start the daemon by themselves, once, and stop it on request", async () => {
  await using home = await TempHome.create(`listen = "127.0.0.1:${await freeTcpPort()}"`);
  try {
    const lists = await Promise.all([1, 2, 3].map(() => outdial(home, ["call", "list", "--json"])));
    expect(lists.map(({ code, stdout }) => [code, stdout.trim()])).toEqual(lists.map(() => [0, "[]"]));
    const status = JSON.parse(await outdialOk(home, ["daemon", "status", "--json"])) as { pid: number };
    expect(status.pid).toBeGreaterThan(1);
  } finally {
    await outdialOk(home, ["daemon", "stop", "--now"]);
  }
  expect((await outdial(home, ["daemon", "status"])).code).toBe(6);
});

/** How long the program takes to begin on this machine now, and do nothing. */
async function startupMs(home: TempHome): Promise<number> {
  const start = performance.now();
  await using program = startProgram("outdiald", ["--help"], home);
  await program.ends();
  return performance.now() - start;
}
