import { isDiskError, storeError } from "./store-errors.ts";
import { operations, type Operation, type RequestName, type Urgency } from "./operations.ts";
import type { Db } from "./schema.ts";
import type { SqlDatabase } from "./sql-database.ts";

/** One operation that waits for its turn, and what to tell about its end. */
export interface Job {
  readonly name: RequestName;
  readonly args: readonly unknown[];
  /** A method, so that whoever waits may expect the operation's own type. */
  done(value: unknown): void;
  failed(error: Error): void;
}

interface Connection {
  readonly db: Db;
  readonly database: SqlDatabase;
}

// A batch of this many short writes takes about 20 ms.
const longestBatch = 128;
const readTurnMs = 5;

/** Does the jobs put into it, most urgent first; writes that wait together share one commit. */
export interface WorkQueue {
  readonly put: (job: Job) => void;
  /** Resolves when nothing waits or runs. */
  idle(): Promise<void>;
}

/** Runs on one connection of which it is the only user. */
export function createWorkQueue(connection: Connection): WorkQueue {
  const waiting: Readonly<Record<Urgency, Job[]>> = { dial: [], write: [], bulk: [], read: [] };
  const sleepers: (() => void)[] = [];
  let isRunning = false;
  let broken: Error | undefined;

  function put(job: Job): void {
    waiting[operations[job.name].urgency].push(job);
    if (isRunning) return;
    isRunning = true;
    startTurn(); // Not at once: what has arrived together shall be committed together.
  }

  function startTurn(): void {
    setImmediate(() => void turn());
  }

  async function turn(): Promise<void> {
    const batch = waiting.dial.splice(0, longestBatch);
    batch.push(...waiting.write.splice(0, longestBatch - batch.length));
    if (batch.length < longestBatch) batch.push(...waiting.bulk.splice(0, 1));
    if (batch.length > 0) await write(batch);
    const until = performance.now() + readTurnMs;
    for (let job = waiting.read.shift(); job !== undefined; job = waiting.read.shift()) {
      await read(job);
      if (performance.now() > until) break;
    }
    // Not in a loop: new, perhaps more urgent jobs come in between.
    if (Object.values(waiting).some((queue) => queue.length > 0)) return startTurn();
    isRunning = false;
    for (const wake of sleepers.splice(0)) wake();
  }

  async function write(batch: readonly Job[]): Promise<void> {
    if (broken !== undefined) return rejectAll(batch, broken);
    const settle: (() => void)[] = [];
    try {
      connection.database.exec("begin immediate");
      for (const job of batch) settle.push(await writeOne(job));
      connection.database.exec("commit");
    } catch (error) {
      rollBack();
      const failure = storeError(error);
      // One that does not fit on the disk must not take the small ones with it.
      if ("code" in failure && failure.code === "store-full" && batch.length > 1) {
        for (const job of batch) await write([job]);
        return;
      }
      // What the disk holds is unknown after a failed write or fsync: write no more until a new start has looked.
      if ("code" in failure && failure.code === "store-failed") broken = failure;
      return rejectAll(batch, failure);
    }
    for (const tell of settle) tell();
  }

  /** One job inside the open transaction; its answer must wait for the commit. Throws when the disk fails. */
  async function writeOne(job: Job): Promise<() => void> {
    connection.database.exec("savepoint job");
    try {
      const value = await run(job);
      connection.database.exec("release job");
      return () => job.done(value);
    } catch (error) {
      if (isDiskError(error)) throw error;
      connection.database.exec("rollback to job");
      connection.database.exec("release job");
      return () => job.failed(storeError(error));
    }
  }

  async function read(job: Job): Promise<void> {
    try {
      job.done(await run(job));
    } catch (error) {
      job.failed(storeError(error));
    }
  }

  function run(job: Job): Promise<unknown> {
    const operation: Operation<readonly unknown[], unknown> = operations[job.name];
    return operation.run(connection.db, job.args);
  }

  function rollBack(): void {
    try {
      connection.database.exec("rollback");
    } catch {
      // SQLite has rolled back by itself: it does so when the disk fails.
    }
  }

  return {
    put,
    idle: () => (isRunning ? new Promise((resolve) => sleepers.push(resolve)) : Promise.resolve()),
  };
}

function rejectAll(jobs: readonly Job[], error: Error): void {
  for (const job of jobs) job.failed(error);
}
