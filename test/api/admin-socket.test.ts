import { startAdminApi } from "#api";
import { silentLog } from "#host";
import { chmod, mkdtemp, rm, stat, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { spawnSync } from "node:child_process";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { MemoryService } from "../support/memory-service.ts";

let directory: string;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), "outdial-socket-"));
});
afterEach(async () => rm(directory, { recursive: true }));

async function start(socketPath: string) {
  const api = await startAdminApi({ service: new MemoryService(), socketPath, log: silentLog });
  return { [Symbol.asyncDispose]: async () => api.close() };
}

async function modeOf(path: string): Promise<string> {
  return ((await stat(path)).mode & 0o777).toString(8);
}

describe("the owner's socket", () => {
  test("and its directory can be opened by nobody else, whatever the umask", async () => {
    const before = process.umask(0);
    try {
      await using _ = await start(join(directory, "run", "daemon.sock"));
      expect(await modeOf(join(directory, "run"))).toBe("700");
      expect(await modeOf(join(directory, "run", "daemon.sock"))).toBe("600");
    } finally {
      process.umask(before);
    }
  });

  test("closes a directory that was open to others", async () => {
    await chmod(directory, 0o755);
    await using _ = await start(join(directory, "daemon.sock"));
    expect(await modeOf(directory)).toBe("700");
  });

  test("is refused in a directory that others share, and that directory stays as it is", async () => {
    await chmod(directory, 0o1777);
    await expect(start(join(directory, "daemon.sock"))).rejects.toMatchObject({ code: "socket-unsafe" });
    expect(await modeOf(directory)).toBe("777");
  });

  test("replaces one that a crash left behind", async () => {
    const path = join(directory, "daemon.sock");
    // Killed at once: the system does not remove its socket.
    spawnSync(process.execPath, [
      "-e",
      `require("net").createServer().listen(${JSON.stringify(path)}, () => process.kill(process.pid, 9))`,
    ]);
    expect((await stat(path)).isSocket()).toBe(true);
    await using _ = await start(path);
    expect(await modeOf(path)).toBe("600");
  });

  test("is not taken from a daemon that answers", async () => {
    const path = join(directory, "daemon.sock");
    const other = createServer().listen(path);
    await new Promise((resolve) => other.once("listening", resolve));
    await expect(start(path)).rejects.toMatchObject({ code: "socket-in-use", hint: expect.any(String) });
    expect((await stat(path)).isSocket()).toBe(true);
    other.close();
  });

  test("does not delete a file that is no socket", async () => {
    const path = join(directory, "daemon.sock");
    await writeFile(path, "mine");
    await expect(start(path)).rejects.toMatchObject({ code: "socket-unsafe" });
    expect((await stat(path)).isFile()).toBe(true);
  });

  test("is gone after closing", async () => {
    const path = join(directory, "daemon.sock");
    {
      await using _ = await start(path);
    }
    await expect(stat(path)).rejects.toMatchObject({ code: "ENOENT" });
  });
});
