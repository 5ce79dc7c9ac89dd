import { OutdialError } from "#base";
import { copyFileSync, renameSync } from "node:fs";
import { dirname } from "node:path";
import { Migrator, sql, type Migration } from "kysely";
import { realFiles, syncDirectory } from "./file-system.ts";
import { markFree } from "./in-use-mark.ts";
import { migration0001 } from "./migration-0001.ts";
import { migration0002 } from "./migration-0002.ts";
import { migration0003 } from "./migration-0003.ts";
import type { Db } from "./schema.ts";

/** Migrations by name; run in the order of their names, each in a transaction. */
export type Migrations = Readonly<Record<string, Migration>>;

export const allMigrations: Migrations = {
  "0001-first": statements(migration0001),
  "0002-trunk-sip": statements(migration0002),
  "0003-sip-traces": statements(migration0003),
};

/**
 * Brings the open database `file` to the newest schema. An existing one is copied first, to `<file>.before-<migration>`.
 * Throws `store-newer` for a file that a newer program has written; a failing migration leaves nothing behind.
 */
export async function migrate(db: Db, file: string, migrations: Migrations = allMigrations): Promise<void> {
  const done = await doneMigrations(db);
  const unknown = done.filter((name) => !(name in migrations));
  if (unknown.length > 0) throw newerFile(file);
  const [next] = Object.keys(migrations)
    .filter((name) => !done.includes(name))
    .sort();
  if (next === undefined) return;
  if (done.length > 0) await keepCopy(db, file, `${file}.before-${next}`);
  const migrator = new Migrator({ db, provider: { getMigrations: async () => ({ ...migrations }) } });
  const { error } = await migrator.migrateToLatest();
  if (error !== undefined)
    throw error instanceof Error ? error : new Error("a migration failed", { cause: error });
}

function statements(texts: readonly string[]): Migration {
  return {
    async up(db) {
      for (const text of texts) await sql.raw(text).execute(db);
    },
  };
}

async function doneMigrations(db: Db): Promise<readonly string[]> {
  const table =
    await sql`select 1 from sqlite_master where type = 'table' and name = 'kysely_migration'`.execute(db);
  if (table.rows.length === 0) return [];
  const { rows } = await sql<{ name: string }>`select name from kysely_migration order by name`.execute(db);
  return rows.map((row) => row.name);
}

/** Everything is in the main file after the checkpoint, and nobody writes while we hold it. */
async function keepCopy(db: Db, file: string, copy: string): Promise<void> {
  await sql`pragma wal_checkpoint(truncate)`.execute(db);
  const draft = `${copy}.new`;
  copyFileSync(file, draft);
  const fd = realFiles.openSync(draft, "r+");
  try {
    markFree(realFiles, fd);
    realFiles.fsyncSync(fd);
  } finally {
    realFiles.closeSync(fd);
  }
  renameSync(draft, copy);
  syncDirectory(realFiles, dirname(copy));
}

function newerFile(file: string): OutdialError<"store-newer"> {
  return new OutdialError("store-newer", `${file} was written by a newer version of outdial.`, {
    hint: "Install that version again, or restore the copy that it made before (<file>.before-<migration>).",
  });
}
