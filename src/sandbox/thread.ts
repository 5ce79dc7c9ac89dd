import { OutdialError } from "#base";
import { programFile } from "#host";
import { once } from "node:events";
import { Worker } from "node:worker_threads";
import type { CarrierEvent } from "./carrier-event.ts";

export interface CarrierOrder {
  readonly address: string;
  readonly port: number;
  /** Undefined: standard error. */
  readonly logFile?: string;
}

export type FromCarrier =
  | { readonly type: "listening"; readonly address: string; readonly port: number }
  | { readonly type: "failed"; readonly code: string; readonly message: string }
  | { readonly type: "event"; readonly event: CarrierEvent; readonly at: number };

export interface SandboxThread {
  readonly address: string;
  readonly port: number;
  /** Ends its calls and frees the port. */
  close(): Promise<void>;
}

/**
 * Runs the carrier in a thread of its own: its audio clock disturbs nobody and nobody disturbs it.
 * Rejects with `sip-port-busy` when the port is taken.
 */
export async function startSandbox(
  order: CarrierOrder & { readonly onEvent?: (event: CarrierEvent, at: number) => void },
): Promise<SandboxThread> {
  const { onEvent, ...workerData } = order;
  const worker = new Worker(programFile("sandbox/worker"), { workerData });
  const started = Promise.withResolvers<{ address: string; port: number }>();
  const exited = once(worker, "exit");
  worker.on("error", started.reject);
  worker.on("message", (message: FromCarrier) => {
    switch (message.type) {
      case "listening":
        return started.resolve(message);
      case "failed":
        return started.reject(new OutdialError(message.code, message.message));
      case "event":
        return onEvent?.(message.event, message.at);
    }
  });
  const { address, port } = await started.promise;
  return {
    address,
    port,
    close: async () => {
      worker.postMessage("close");
      await exited;
    },
  };
}
