import { programFile } from "#host";
import { Worker } from "node:worker_threads";
import { openLinePool, type Lines, type LinesOptions } from "./pool.ts";

/** Starts the call workers; resolves when all of them run. */
export async function openLines(options: Omit<LinesOptions, "startWorker" | "clock">): Promise<Lines> {
  return openLinePool({ ...options, startWorker: () => new Worker(programFile("lines/worker")) });
}
