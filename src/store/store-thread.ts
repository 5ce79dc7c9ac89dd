import { OutdialError } from "#base";
import { Worker } from "node:worker_threads";
import type { Invoke } from "./operations.ts";
import { fromSent, type FromThread, type ThreadData, type ToThread } from "./thread-protocol.ts";

export interface StoreThread {
  readonly invoke: Invoke;
  close(): Promise<void>;
}

interface Pending {
  done(value: unknown): void;
  failed(error: Error): void;
}

/** Starts a store thread and waits until it has opened the file. `onDeath` is called when it ends by itself after that. */
export function startThread(program: URL, data: ThreadData, onDeath: () => void): Promise<StoreThread> {
  const worker = new Worker(program, { workerData: data, name: "store" });
  const pending = new Map<number, Pending>();
  let lastId = 0;
  let state: "opening" | "open" | "closing" | "dead" = "opening";

  const send = (message: ToThread): void => worker.postMessage(message);
  const ask = <Result>(message: (id: number) => ToThread): Promise<Result> =>
    new Promise((done, failed) => {
      if (state !== "open" && state !== "closing") return failed(restarted());
      const id = ++lastId;
      send(message(id)); // Throws on what cannot be cloned, before anybody waits for an answer.
      pending.set(id, { done, failed });
    });
  const thread: StoreThread = {
    invoke: (name, args) => ask((id) => ({ type: "request", id, name, args })),
    async close() {
      if (state === "open") state = "closing";
      const gone = new Promise<void>((resolve) => worker.once("exit", () => resolve()));
      await ask<void>((id) => ({ type: "close", id }));
      await gone;
    },
  };

  return new Promise((opened, notOpened) => {
    worker.on("message", (message: FromThread) => {
      switch (message.type) {
        case "opened":
          state = "open";
          return opened(thread);
        case "not-opened":
          return notOpened(fromSent(message.error));
        case "answer":
          take(message.id)?.done(message.value);
          return;
        case "refusal":
          take(message.id)?.failed(fromSent(message.error));
      }
    });
    worker.on("error", (error) => end(error));
    worker.on("exit", () => end(undefined));

    function end(error: unknown): void {
      if (state === "dead") return;
      const wasOpen = state === "open";
      state = "dead";
      notOpened(threadFailed(error));
      for (const job of pending.values()) job.failed(restarted(error));
      pending.clear();
      if (wasOpen) onDeath();
    }
  });

  function take(id: number): Pending | undefined {
    const job = pending.get(id);
    pending.delete(id);
    return job;
  }
}

function restarted(cause?: unknown): OutdialError<"store-restarted"> {
  return new OutdialError(
    "store-restarted",
    "The store had to be restarted; whether this was done is unknown.",
    {
      hint: "Ask again.",
      retryable: true,
      cause,
    },
  );
}

function threadFailed(cause: unknown): OutdialError<"store-failed"> {
  return new OutdialError("store-failed", "The store thread does not start.", {
    hint: "See the log of the daemon; install outdial again if files of it are missing.",
    cause,
  });
}
