import { parentPort, workerData } from "node:worker_threads";
import { openStoreFile, type OpenStoreFile } from "./open-file.ts";
import type { Job } from "./group-commit.ts";
import { storeError } from "./store-errors.ts";
import { toSent, type FromThread, type ThreadData, type ToThread } from "./thread-protocol.ts";

/*
 * The store thread: opens the file, then does what the main thread asks for.
 */

const port = parentPort;
if (port === null) throw new Error("store/worker runs as a thread of the daemon");
const send = (message: FromThread): void => port.postMessage(message);

try {
  const data: ThreadData = workerData;
  serve(await openStoreFile(data));
  send({ type: "opened" });
} catch (error) {
  send({ type: "not-opened", error: toSent(storeError(error)) });
}

function serve(store: OpenStoreFile): void {
  port?.on("message", (message: ToThread) => {
    const { id } = message;
    const failed = (error: Error): void => send({ type: "refusal", id, error: toSent(error) });
    const done = (value: unknown): void => send({ type: "answer", id, value });
    if (message.type === "request") store.put({ name: message.name, args: message.args, done, failed });
    else void close(store, { done, failed });
  });
}

async function close(store: OpenStoreFile, job: Pick<Job, "done" | "failed">): Promise<void> {
  try {
    await store.close();
    job.done(undefined);
  } catch (error) {
    job.failed(storeError(error));
  }
  port?.close();
}
