import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";

const root = join(import.meta.dirname, "../..");

test("the demo calls twelve contacts and ends with every outcome as expected, its recordings on disk", () => {
  const run = spawnSync(process.execPath, ["examples/demo.ts"], { cwd: root, encoding: "utf8" });
  expect(run.stdout).toContain("every outcome is the expected one");
  expect(run.status).toBe(0);
  const recordings = run.stdout.match(/\/\S+\.wav/g) ?? [];
  expect(recordings.length).toBeGreaterThanOrEqual(9);
  expect(recordings.every((file) => existsSync(file))).toBe(true);
  expect(run.stdout).toContain("Ana confirmó su cita");
}, 150_000);
