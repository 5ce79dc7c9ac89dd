import { spawnSync } from "node:child_process";
import { cpSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";

const root = join(import.meta.dirname, "../..");
let home: string;

beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), "outdial-launcher-"));
  // What the launcher would see on an older Node; the pinned one it starts does not load this.
  writeFileSync(
    join(home, "old.cjs"),
    'Object.defineProperty(process, "versions", { value: { ...process.versions, node: "20.20.2" } });',
  );
});
afterEach(() => rmSync(home, { recursive: true, force: true }));

test("on an older Node the launcher continues on the pinned node package", () => {
  const run = spawnSync(
    process.execPath,
    ["-r", join(home, "old.cjs"), join(root, "bin/outdial"), "--version"],
    {
      encoding: "utf8",
    },
  );
  expect(run).toMatchObject({ status: 0, stderr: "" });
  expect(run.stdout).toMatch(/^outdial \d+\.\d+\.\d+\n$/);
});

test("the exit code comes through the older Node", () => {
  const run = spawnSync(
    process.execPath,
    ["-r", join(home, "old.cjs"), join(root, "bin/outdial"), "call", "dance"],
    {
      encoding: "utf8",
    },
  );
  expect(run.status).toBe(2);
});

test("without that package it says in one line which Node is needed, and ends with 1", () => {
  cpSync(join(root, "bin"), join(home, "bin"), { recursive: true });
  const run = spawnSync(process.execPath, ["-r", join(home, "old.cjs"), join(home, "bin/outdiald"), "run"], {
    encoding: "utf8",
    cwd: home,
  });
  expect(run.status).toBe(1);
  expect(run.stderr).toMatch(/^error: outdial needs Node 24\.11 or newer, this is 20\.20\.2 \(.*\)\n$/);
});
