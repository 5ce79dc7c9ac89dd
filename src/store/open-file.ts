import { Kysely } from "kysely";
import { dirname } from "node:path";
import { cancelStoppedChunk, dropImportChunk, unfinishedCampaigns } from "./campaign-import.ts";
import { StoreDialect } from "./dialect.ts";
import { loadDisk, testDisk } from "./disk.ts";
import { realFiles, type FileSystem } from "./file-system.ts";
import { createWorkQueue, type Job } from "./group-commit.ts";
import { allMigrations, migrate, type Migrations } from "./migrate.ts";
import type { Invoke } from "./operations.ts";
import type { Db, Tables } from "./schema.ts";
import type { SqlDatabase } from "./sql-database.ts";
import { sqljsDatabase } from "./sqljs-database.ts";
import { storeError } from "./store-errors.ts";

/** Which SQLite runs: `sqljs` in WebAssembly, `node-sqlite` the one inside Node. Both write the same file. */
export type StoreEngine = "sqljs" | "node-sqlite";

export interface FileOptions {
  readonly file: string;
  readonly engine: StoreEngine;
  /** sql.js only. */
  readonly files?: FileSystem;
  readonly migrations?: Migrations;
}

/** A database file, open in this thread. */
export interface OpenStoreFile {
  readonly put: (job: Job) => void;
  readonly invoke: Invoke;
  /** Ends what was begun, moves the log into the file and gives it free. */
  readonly close: () => Promise<void>;
}

/**
 * Opens or creates a store: migrated, with what an earlier process left unfinished brought to an end.
 * Rejects with an OutdialError: `store-newer`, `store-engine-mismatch`, `store-full` or `store-failed`.
 */
export async function openStoreFile(options: FileOptions): Promise<OpenStoreFile> {
  let database: SqlDatabase | undefined;
  try {
    database = await openDatabase(options);
    database.exec(connectionSettings);
    const db = new Kysely<Tables>({ dialect: new StoreDialect(database) });
    await migrate(db, options.file, options.migrations ?? allMigrations);
    await finishCampaigns(db, database);
    return serve(db, database);
  } catch (error) {
    closeQuietly(database);
    throw storeError(error);
  }
}

/** Exclusive first: without shared memory SQLite can keep its log only for one connection. */
export const connectionSettings = `
  pragma locking_mode = exclusive;
  pragma journal_mode = wal;
  pragma synchronous = full;
  pragma temp_store = memory;
  pragma cache_size = -65536;
  pragma foreign_keys = on;
`;

async function openDatabase({ file, engine, files = realFiles }: FileOptions): Promise<SqlDatabase> {
  if (engine === "node-sqlite") {
    // Loaded only when asked for: its interface is not final, and old Nodes warn about it.
    const { nodeDatabase } = await import("./node-database.ts");
    return nodeDatabase(file);
  }
  const disk = await loadDisk(files);
  testDisk(disk, dirname(file), files);
  return sqljsDatabase(disk.open(file));
}

function serve(db: Db, database: SqlDatabase): OpenStoreFile {
  const queue = createWorkQueue({ db, database });
  let isClosed = false;
  return {
    put: queue.put,
    invoke: (name, args) =>
      new Promise((done, failed) => {
        queue.put({ name, args, done, failed });
      }),
    close: async () => {
      if (isClosed) return;
      isClosed = true;
      await queue.idle();
      database.close();
    },
  };
}

/** In steps of their own, so that the log stays small. */
async function finishCampaigns(db: Db, database: SqlDatabase): Promise<void> {
  const { importing, stopped } = await unfinishedCampaigns(db);
  const inSteps = async (step: () => Promise<boolean>): Promise<void> => {
    for (let isMore = true; isMore;) {
      database.exec("begin immediate");
      isMore = await step();
      database.exec("commit");
    }
  };
  for (const id of importing) await inSteps(() => dropImportChunk(db, id));
  for (const id of stopped) await inSteps(() => cancelStoppedChunk(db, id));
}

function closeQuietly(database: SqlDatabase | undefined): void {
  try {
    database?.close();
  } catch {
    // The error that kept it from opening is the one to report.
  }
}
