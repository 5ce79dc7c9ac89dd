import { mkdir, readdir, readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { launcher, outdial, outdialJson } from "../support/built-program.ts";
import { plainEnvironment, runToEnd, succeeded, type Ran } from "../support/child-program.ts";
import { DaemonProcess } from "../support/daemon-process.ts";
import { TempHome } from "../support/temp-home.ts";

/** The remote service: somebody else's daemon, reached by its public API only. */
let service: TempHome;
let daemon: DaemonProcess;
let token: string;

beforeAll(async () => {
  service = await TempHome.create();
  daemon = await DaemonProcess.start(service);
  token = await daemon.createToken("laptop");
});

afterAll(async () => {
  await daemon[Symbol.asyncDispose]();
  await service[Symbol.asyncDispose]();
});

/** Runs a shell script in a session with a bus and an unlocked keychain of its own; `$outdial` is our program. */
async function inSession(home: TempHome, script: string, input = ""): Promise<Ran> {
  const runtime = home.path("session");
  await mkdir(runtime, { recursive: true, mode: 0o700 });
  const unlock = "printf ci | gnome-keyring-daemon --unlock --components=secrets >/dev/null";
  const ran = await runToEnd("dbus-run-session", ["--", "/bin/sh", "-ec", `${unlock}\n${script}`], {
    cwd: home.directory,
    env: plainEnvironment({
      HOME: home.directory,
      XDG_RUNTIME_DIR: runtime,
      OUTDIAL_HOME: home.path("outdial"),
      outdial: `${process.execPath} ${launcher("outdial")}`,
    }),
    input,
    withinMs: 30_000,
  });
  return succeeded(ran, script);
}

test("a token goes to the keychain, another process reads it there, and no file holds it", async () => {
  await using home = await TempHome.create();
  const login = await inSession(
    home,
    `$outdial auth login --host ${daemon.apiUrl} --token-stdin
     $outdial call list --profile remote --json --limit 1
     $outdial auth status --json`,
    token,
  );
  expect(login.stderr).not.toMatch(/plain text/);
  const [calls = "", status = ""] = login.stdout.trim().split("\n");
  expect(JSON.parse(calls)).toEqual([]);
  expect(JSON.parse(status)).toMatchObject([{ profile: "remote", kept_in: "keychain" }]);
  expect(login.stdout + login.stderr).not.toContain(token);
  expect(await filesHolding(home.directory, token.slice(24))).toEqual([]);

  const gone = await inSession(home, "$outdial auth logout --profile remote; $outdial auth status --json");
  expect(JSON.parse(gone.stdout)).toEqual([]);
});

test("a keychain that is not there any more is said, with what to do", async () => {
  await using home = await TempHome.create();
  await inSession(home, `$outdial auth login --host ${daemon.apiUrl} --token-stdin`, token);
  const ran = await runToEnd(process.execPath, [launcher("outdial"), "call", "list", "--profile", "remote"], {
    env: plainEnvironment({ HOME: home.directory, OUTDIAL_HOME: home.path("outdial") }),
  });
  expect(ran.code).toBe(4);
  expect(ran.stderr).toMatch(/expected in the keychain/);
  expect(ran.stderr).toMatch(/fix:/);
});

test("without a keychain the token is in a file that only its owner reads, and every login says so", async () => {
  await using home = await TempHome.create();
  const login = succeeded(
    await outdial(home, ["auth", "login", "--host", daemon.apiUrl, "--token-stdin"], { input: token }),
  );
  expect(login.stderr).toMatch(/plain text/);
  const [file = ""] = await filesHolding(home.directory, token);
  expect((await stat(file)).mode & 0o777).toBe(0o600);
  expect(login.stderr).toContain(file);
  expect(await outdialJson(home, ["call", "list", "--profile", "remote", "--limit", "1"])).toEqual([]);
  const status = await outdial(home, ["auth", "status"]);
  expect(status.stderr).toMatch(/plain text/);
  expect(status.stdout + status.stderr).not.toContain(token);
});

test("a token that the service does not know is not kept", async () => {
  await using home = await TempHome.create();
  const wrong = `${token.slice(0, -6)}abcdef`;
  const login = await outdial(home, ["auth", "login", "--host", daemon.apiUrl, "--token-stdin"], {
    input: wrong,
  });
  expect(login.code).toBe(4);
  expect(await filesHolding(home.directory, wrong)).toEqual([]);
});

async function filesHolding(directory: string, text: string): Promise<readonly string[]> {
  const entries = await readdir(directory, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
  const holding = await Promise.all(files.map(async (file) => (await readFile(file)).includes(text)));
  return files.filter((_, i) => holding[i]);
}
