import { chmod, mkdtemp, readFile, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { openSecrets } from "../../src/daemon/secrets.ts";

let home: string;
beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), "outdial-secrets-"));
});
afterEach(() => rm(home, { recursive: true, force: true }));

test("a secret survives, owner-only, until it is removed", async () => {
  const file = join(home, "config", "secrets.json");
  await (await openSecrets(file)).set("trunk:1", "s3cret");
  expect((await stat(file)).mode & 0o777).toBe(0o600);
  const again = await openSecrets(file);
  expect(again.find("trunk:1")).toBe("s3cret");
  await again.remove("trunk:1");
  expect(await readFile(file, "utf8")).not.toContain("s3cret");
});

test("a file that others may read is refused", async () => {
  const file = join(home, "secrets.json");
  await (await openSecrets(file)).set("trunk:1", "s3cret");
  await chmod(file, 0o644);
  await expect(openSecrets(file)).rejects.toMatchObject({ code: "secrets-exposed" });
});
