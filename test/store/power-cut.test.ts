import { rmSync, writeFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { loadDisk, type Disk } from "../../src/store/disk.ts";
import { connectionSettings } from "../../src/store/open-file.ts";
import { sqljsDatabase } from "../../src/store/sqljs-database.ts";
import type { SqlDatabase } from "../../src/store/sql-database.ts";
import { hurriedFiles, temporaryDirectory } from "./temporary-store.ts";
import { PoweredDisk, tracedFiles, type DiskStep } from "./traced-files.ts";

// Small, so that pages are written early and the log is moved into the file often.
const tight = "pragma wal_autocheckpoint = 30; pragma cache_size = -200;";

function seeded(seed: number): () => number {
  let state = seed;
  return () => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (state >>> 0) / 2 ** 32;
  };
}

/** Transactions of several rows, growing and shrinking, each acknowledged when its commit has returned; then a clean close. */
function work(database: SqlDatabase, random: () => number, note: (step: DiskStep) => void): void {
  database.exec(
    "create table rows (key integer primary key, txn integer, n integer, pad text); create index by_txn on rows (txn)",
  );
  database.exec("create table done (txn integer, total integer); insert into done values (0, 0)");
  note({ type: "acknowledged", n: 0 });
  const add = database.prepare("insert into rows (txn, n, pad) values (?, ?, ?)");
  const change = database.prepare("update rows set pad = ? where key = ?");
  const count = database.prepare("update done set txn = ?, total = total + ?");
  for (let txn = 1; txn <= 150; txn++) {
    const n = 1 + Math.floor(random() * 12);
    database.exec("begin immediate");
    for (let row = 0; row < n; row++) add.run([txn, n, "p".repeat(random() * 3000)]);
    for (let row = 0; row < 6; row++)
      change.run(["q".repeat(random() * 2500), 1 + Math.floor(random() * txn * 6)]);
    count.run([txn, n]);
    database.exec("commit");
    note({ type: "acknowledged", n: txn });
  }
  database.close();
}

/** What is wrong with the files that a cut has left, opened as the next start would. */
function fault(disk: Disk, file: string, acknowledged: number): string | undefined {
  let database: SqlDatabase | undefined;
  try {
    database = sqljsDatabase(disk.open(file));
    database.exec(connectionSettings);
    const [whole] = database.prepare("pragma integrity_check").all([]) as { integrity_check: string }[];
    if (whole?.integrity_check !== "ok") return "corrupt";
    const [done] = database.prepare("select txn, total from done").all([]) as {
      txn: number;
      total: number;
    }[];
    if (done === undefined || done.txn < acknowledged) return "lost";
    const partial = database.prepare("select txn from rows group by txn having count(*) <> max(n)").all([]);
    const [rows] = database.prepare("select count(*) as n from rows").all([]) as { n: number }[];
    return partial.length > 0 || rows?.n !== done.total ? "partial" : undefined;
  } catch (error) {
    return `not opened: ${String(error)}`;
  } finally {
    database?.close();
  }
}

/** Cuts the power at `cuts` moments of the work; the faults found. */
async function cutPower(cuts: number, seed: number, settings: string): Promise<string[]> {
  using live = temporaryDirectory();
  using left = temporaryDirectory();
  const random = seeded(seed);
  const steps: DiskStep[] = [];
  const database = sqljsDatabase(
    (await loadDisk(tracedFiles((step) => steps.push(step)))).open(live.file("a.db")),
  );
  database.exec(connectionSettings + tight + settings);
  work(database, random, (step) => steps.push(step));

  const first = steps.findIndex((step) => step.type === "acknowledged");
  const moments = new Set(
    Array.from({ length: cuts }, () => first + 1 + Math.floor(random() * (steps.length - first - 1))),
  );
  moments.add(steps.length - 1);
  const powered = new PoweredDisk(random);
  const disk = await loadDisk(hurriedFiles);
  const faults: string[] = [];
  let acknowledged = -1;
  for (const [index, step] of steps.entries()) {
    if (moments.has(index)) {
      for (const suffix of ["", "-live-wal", "-live-journal", "-wal", "-shm"])
        rmSync(left.file(`a.db${suffix}`), { force: true });
      for (const [path, bytes] of powered.cut(live.path))
        writeFileSync(path.replace(live.path, left.path), bytes);
      const found = fault(disk, left.file("a.db"), acknowledged);
      if (found !== undefined) faults.push(`${found} at step ${index} of ${steps.length}`);
    }
    powered.take(step);
    if (step.type === "acknowledged") acknowledged = step.n;
  }
  return faults;
}

describe("a power cut at any moment", { timeout: 60_000 }, () => {
  it("leaves everything acknowledged, nothing torn and nothing half done", async () => {
    expect(await cutPower(100, 7, "")).toEqual([]);
  });

  it("would be noticed by this test if the store did not wait for the disk", async () => {
    const faults = await cutPower(30, 7, "pragma synchronous = off;");
    expect(faults.length).toBeGreaterThan(10);
  });

  it("would be noticed by this test if the log were not synced with every commit", async () => {
    const faults = await cutPower(40, 7, "pragma synchronous = normal;");
    expect(faults.some((found) => found.startsWith("lost"))).toBe(true);
  });
});
