/**
 * The durable memory of the daemon: SQL in a thread of its own, on one SQLite file that only this
 * process may open. A write has been fsynced when its promise resolves; it is there whole or not at all,
 * whatever kills the process. A call attempt that may have rung is never handed out a second time.
 */
export type { Store } from "./contract.ts";
export { openStore } from "./open-store.ts";
