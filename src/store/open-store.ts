import { OutdialError } from "#base";
import { programFile } from "#host";
import type { Store } from "./contract.ts";
import type { StoreEngine } from "./open-file.ts";
import type { Invoke } from "./operations.ts";
import { storeOver } from "./store-over.ts";
import { startThread, type StoreThread } from "./store-thread.ts";

export interface StoreOptions {
  /** Path of the database; created when it is not there. Its directory must be locked by the caller. */
  readonly file: string;
  /** Program of the thread; default: the one that belongs to this build. */
  readonly workerUrl?: URL;
  /** Default `sqljs`. */
  readonly engine?: StoreEngine;
}

/**
 * Opens the store in a thread of its own. A thread that dies is started anew; what it was doing rejects with
 * `store-restarted` (retryable: whether it was done is unknown, so every write is a compare-and-set or has a key).
 * Rejects with `store-newer`, `store-engine-mismatch`, `store-full` or `store-failed` when the file cannot be opened.
 */
export async function openStore(options: StoreOptions): Promise<Store> {
  const { file, workerUrl = programFile("store/worker"), engine = "sqljs" } = options;
  const start = (): Promise<StoreThread> => startThread(workerUrl, { file, engine }, restart);
  let isClosed = false;
  let couldNotStart = false;
  let current = Promise.resolve(await start());

  function restart(): void {
    if (isClosed) return;
    couldNotStart = false;
    current = start();
    // Whoever asks for something meanwhile is told; the next one after that makes us try again.
    current.catch(() => (couldNotStart = true));
  }

  const invoke: Invoke = (name, args) => {
    if (isClosed) return Promise.reject(closedStore());
    if (couldNotStart) restart();
    return current.then((thread) => thread.invoke(name, args));
  };

  return storeOver(invoke, async () => {
    if (isClosed) return;
    isClosed = true;
    const thread = await current.catch(() => undefined); // One that did not start has nothing open.
    await thread?.close();
  });
}

function closedStore(): OutdialError<"store-closed"> {
  return new OutdialError("store-closed", "The store is closed.", {
    hint: "The daemon is stopping; start it again.",
  });
}
