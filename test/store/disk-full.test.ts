import { execFileSync } from "node:child_process";
import { DatabaseSync } from "node:sqlite";
import { describe, expect, it } from "vitest";
import { startChild } from "./child.ts";
import { temporaryDirectory } from "./temporary-store.ts";

const limitKiB = 3000;

describe("a file system without room", () => {
  it(
    "refuses the write, loses nothing, and is written again when there is room",
    { timeout: 60_000 },
    async () => {
      using directory = temporaryDirectory();
      const file = directory.file("a.db");
      const child = startChild(new URL("filling-child.ts", import.meta.url), [file], limitKiB);
      const [what, stored, code] = (await child.line())?.split(" ") ?? [];
      expect([what, code]).toEqual(["full", "store-full"]);
      expect(Number(stored)).toBeGreaterThan(20);
      execFileSync("bash", ["-c", `prlimit --pid ${child.pid} --fsize=unlimited`]);
      child.tell("go on");
      expect(await child.line()).toBe("again");
      const plain = new DatabaseSync(file);
      expect({ ...plain.prepare("select count(*) as n from calls").get() }).toEqual({
        n: Number(stored) + 1,
      });
      expect({ ...plain.prepare("pragma integrity_check").get() }).toEqual({ integrity_check: "ok" });
      plain.close();
    },
  );
});
