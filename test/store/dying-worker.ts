import { parentPort } from "node:worker_threads";
import type { ToThread } from "../../src/store/thread-protocol.ts";

/*
 * The store thread, with a way to die: when it is asked for the account "die", or at once for a file named so.
 */

parentPort?.on("message", (message: ToThread) => {
  if (message.type === "request" && message.args[0] === "die") process.exit(1);
  if (message.type === "request" && message.args[0] === "throw") throw new Error("a bug");
});

await import("../../src/store/worker.ts");
