import { createSpeechCache, openEspeak } from "#ai";
import { createTasks, steadyClock, systemEntropy, type Log } from "#host";
import { scriptDialog } from "#talk";
import { parentPort } from "node:worker_threads";
import { CallDesk } from "./call-desk.ts";
import type { CallParts } from "./carried-call.ts";
import { startPortDrain } from "./port-drain.ts";
import type { FromWorker, ToWorker } from "./protocol.ts";
import { Renderer } from "./renderer.ts";
import { startTicker } from "./ticker.ts";

/*
 * A call worker: the composition root of one thread. It carries the audio, the recordings and the conversations of many
 * calls on one 20 ms clock, and has a speech process of its own, so that no sound crosses a thread and a worker that dies
 * takes no other worker's voice with it (some 120 MB each).
 */

const post = (message: FromWorker): void => parentPort?.postMessage(message, []);
const log: Log = {
  debug: (message, fields) => post({ type: "log", level: "debug", message, fields }),
  info: (message, fields) => post({ type: "log", level: "info", message, fields }),
  warn: (message, fields) => post({ type: "log", level: "warn", message, fields }),
  error: (message, fields) => post({ type: "log", level: "error", message, fields }),
};

const tasks = createTasks(log);
const drain = startPortDrain();
const synthesizer = openEspeak({ log });
const renderer = new Renderer({
  synthesizer,
  engine: synthesizer.engine,
  store: createSpeechCache(),
  rateHz: 22_050,
  parallel: 3,
});
const parts: CallParts = {
  clock: steadyClock,
  entropy: systemEntropy,
  log,
  drain,
  renderer,
  dialogFor: (plan) => scriptDialog(plan.settings.script, plan),
};
const ticker = startTicker({
  now: () => steadyClock.now(),
  onLineFailed: (call, error) => desk.failed(call, error),
});
const desk = new CallDesk({ parts, ticker, tasks, post, onStopped: stop });

parentPort?.on("message", (message: ToWorker) => desk.take(message));
post({ type: "started" });

async function stop(): Promise<void> {
  ticker.close();
  drain.close();
  await synthesizer[Symbol.asyncDispose]();
  parentPort?.close();
}
