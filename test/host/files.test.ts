import { ensurePrivateDir, lockDirectory, writeFileAtomic } from "#host";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { chmod, mkdir, mkdtemp, readFile, readdir, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";

let home: string;
beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), "outdial-files-"));
});
afterEach(() => rm(home, { recursive: true, force: true }));

test("a private directory is taken back from others", async () => {
  const path = join(home, "a", "b");
  await mkdir(path, { recursive: true });
  await chmod(path, 0o755);
  await ensurePrivateDir(path);
  expect((await stat(path)).mode & 0o777).toBe(0o700);
});

test("an atomic write replaces the file, owner-only, and leaves no draft", async () => {
  const path = join(home, "credentials.json");
  await writeFileAtomic(path, "one");
  await writeFileAtomic(path, "two");
  expect(await readFile(path, "utf8")).toBe("two");
  expect((await stat(path)).mode & 0o777).toBe(0o600);
  expect(await readdir(home)).toEqual(["credentials.json"]);
});

test("a second holder of a directory is refused, and welcome after the first let go", async () => {
  const first = await lockDirectory(home);
  await expect(lockDirectory(home)).rejects.toMatchObject({ code: "directory-in-use" });
  first[Symbol.dispose]();
  const second = await lockDirectory(home);
  second[Symbol.dispose]();
});

test("a stopped holder keeps the directory, a killed one frees it", async () => {
  const program = `const { lockDirectory } = await import("#host"); globalThis.held = await lockDirectory(process.argv[1]); console.log("held"); setInterval(() => {}, 1e6);`;
  const child = spawn(process.execPath, ["--input-type=module", "-e", program, home], {
    stdio: ["ignore", "pipe", "inherit"],
    cwd: join(import.meta.dirname, "../.."),
  });
  await once(child.stdout, "data");
  child.kill("SIGSTOP");
  await expect(lockDirectory(home)).rejects.toMatchObject({ code: "directory-in-use" });
  child.kill("SIGKILL");
  await once(child, "exit");
  const lock = await lockDirectory(home);
  lock[Symbol.dispose]();
});
