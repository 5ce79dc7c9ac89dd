import { existsSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { describe, expect, it } from "vitest";
import { loadDisk, testDisk } from "../../src/store/disk.ts";
import { realFiles } from "../../src/store/file-system.ts";
import { nodeDatabase } from "../../src/store/node-database.ts";
import { temporaryDirectory } from "./temporary-store.ts";

const exclusive = "pragma locking_mode=exclusive; pragma journal_mode=wal; pragma synchronous=full;";
const head = (file: string): string => readFileSync(file, "latin1").slice(0, 15);

/** The rows that a program of its own finds in a file. */
function foreignRows(file: string): number {
  const foreign = new DatabaseSync(file);
  try {
    return Number(foreign.prepare("select count(*) as n from t").get()?.["n"]);
  } finally {
    foreign.close();
  }
}

describe("sql.js on a real file", () => {
  it("leaves an ordinary SQLite file when closed", async () => {
    using directory = temporaryDirectory();
    const file = directory.file("a.db");
    const database = (await loadDisk()).open(file);
    database.exec(`${exclusive} create table t (a, b text); insert into t values (1, 'ñ😀')`);
    database.close();
    expect(readdirSync(directory.path)).toEqual(["a.db"]);
    const foreign = new DatabaseSync(file);
    expect({ ...foreign.prepare("select a, b from t").get() }).toEqual({ a: 1, b: "ñ😀" });
    foreign.close();
  });

  it("reads what another SQLite has written", async () => {
    using directory = temporaryDirectory();
    const file = directory.file("a.db");
    const foreign = new DatabaseSync(file);
    foreign.exec("create table t (a); insert into t values (42)");
    foreign.close();
    const database = (await loadDisk()).open(file);
    expect(database.exec("select a from t")).toEqual([{ columns: ["a"], values: [[42]] }]);
    database.close();
  });

  it("holds several files at once", async () => {
    using directory = temporaryDirectory();
    const disk = await loadDisk();
    const databases = ["a.db", "b.db"].map((name) => disk.open(directory.file(name)));
    for (const [n, database] of databases.entries())
      database.exec(`${exclusive} create table t (a); insert into t values (${n})`);
    expect(databases.map((database) => database.exec("select a from t")[0]?.values)).toEqual([[[0]], [[1]]]);
    for (const database of databases) database.close();
  });

  it("passes its own test, and leaves nothing of it", async () => {
    using directory = temporaryDirectory();
    testDisk(await loadDisk(), directory.path);
    expect(readdirSync(directory.path)).toEqual([]);
  });

  it("fails its own test when what it writes does not arrive", async () => {
    using directory = temporaryDirectory();
    let files = 0;
    // As if the file calls were mixed up: what goes to the database goes elsewhere.
    const astray = {
      ...realFiles,
      openSync: ((path: string, ...rest: [string | number]) =>
        realFiles.openSync(
          path.endsWith(`-${process.pid}`) ? directory.file(`astray-${files++}`) : path,
          ...rest,
        )) as typeof realFiles.openSync,
    };
    const disk = await loadDisk(astray);
    expect(() => testDisk(disk, directory.path, astray)).toThrow(
      expect.objectContaining({ code: "store-engine-mismatch" }),
    );
  });
});

describe("a foreign program", () => {
  it("cannot open the live file, and destroys nothing", async () => {
    using directory = temporaryDirectory();
    const file = directory.file("live.db");
    const database = (await loadDisk()).open(file);
    // Wide rows: the file grows, so that its first page is in the log with SQLite's own first octets.
    database.exec(`${exclusive} create table t (a text)`);
    const add = (): void => {
      for (let n = 0; n < 50; n++) database.run("insert into t values (?)", ["x".repeat(2000)]);
    };
    add();
    database.exec("pragma wal_checkpoint(truncate)");
    add();
    const before = readdirSync(directory.path);
    expect(before).toEqual(["live.db", "live.db-live-wal"]);
    const log = readFileSync(`${file}-live-wal`);
    expect(() => foreignRows(file)).toThrow(/file is not a database/);
    expect(() => new DatabaseSync(file, { readOnly: true }).exec("select * from t")).toThrow(
      /file is not a database/,
    );
    expect(readdirSync(directory.path)).toEqual(before);
    expect(readFileSync(`${file}-live-wal`).equals(log)).toBe(true);
    add();
    expect(
      database.exec("select count(*) from t; pragma integrity_check").map((result) => result.values),
    ).toEqual([[[150]], [["ok"]]]);
    database.close();
    expect(foreignRows(file)).toBe(150);
  });

  it("is kept out after a crash too, until we have closed the file", async () => {
    using directory = temporaryDirectory();
    const file = directory.file("live.db");
    const killed = (await loadDisk()).open(file);
    killed.exec(`${exclusive} create table t (a); insert into t values (1)`);
    // Never closed: what is on disk now is what a kill -9 leaves.
    expect(head(file)).toBe("outdial in use ");
    expect(() => foreignRows(file)).toThrow(/file is not a database/);
    const next = (await loadDisk()).open(file);
    next.exec(`${exclusive} insert into t values (2)`);
    next.close();
    expect(foreignRows(file)).toBe(2);
  });
});

describe("the other engine", () => {
  it("takes over the file and the log of a sql.js that was killed, and gives them back", async () => {
    using directory = temporaryDirectory();
    const file = directory.file("live.db");
    const killed = (await loadDisk()).open(file);
    killed.exec(`${exclusive} create table t (a); insert into t values (1)`);
    const other = nodeDatabase(file);
    other.exec(`${exclusive} insert into t values (2)`);
    expect(head(file)).toBe("SQLite format 3");
    // Killed as well: its log stays, under SQLite's own name.
    expect(existsSync(`${file}-wal`)).toBe(true);
    const back = (await loadDisk()).open(file);
    back.exec(`${exclusive} insert into t values (3)`);
    expect(back.exec("select a from t")[0]?.values).toEqual([[1], [2], [3]]);
    back.close();
    expect(readdirSync(directory.path)).toEqual(["live.db"]);
    other.prepare("select 1").all([]);
  });

  it("refuses a file with two logs rather than lose one", async () => {
    using directory = temporaryDirectory();
    const file = directory.file("live.db");
    writeFileSync(`${file}-wal`, "one");
    writeFileSync(`${file}-live-wal`, "two");
    const disk = await loadDisk();
    expect(() => disk.open(file)).toThrow(expect.objectContaining({ code: "store-failed" }));
    expect(() => nodeDatabase(file)).toThrow(expect.objectContaining({ code: "store-failed" }));
    expect(readFileSync(`${file}-wal`, "utf8") + readFileSync(`${file}-live-wal`, "utf8")).toBe("onetwo");
  });
});
