import { createSpeechCache, decodeVoiceConfig, openEspeak, openVoiceStack } from "#ai";
import { OutdialError } from "#base";
import { createTasks, steadyClock, systemEntropy, type Log } from "#host";
import { parentPort } from "node:worker_threads";
import { CallDesk } from "./call-desk.ts";
import type { CallParts } from "./carried-call.ts";
import { startPortDrain } from "./port-drain.ts";
import type { FromWorker, ToWorker, VoiceOrder } from "./protocol.ts";
import { Renderer } from "./renderer.ts";
import { startTicker } from "./ticker.ts";
import { Voices, type VoiceSource } from "./voices.ts";

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
const store = createSpeechCache();
const stopping = new AbortController();
const voices = new Voices({
  log,
  now: () => steadyClock.now(),
  embedded: new Renderer({ synthesizer, engine: synthesizer.engine, store, rateHz: 22_050, parallel: 3 }),
  openSource,
  // Most providers deliver 24 kHz; a rendering waits for them, not for the processor.
  rendererFor: async (provided) =>
    Renderer.open({ synthesizer: provided, engine: provided.engine, store, rateHz: 24_000, parallel: 16 }),
});
const parts: CallParts = {
  clock: steadyClock,
  entropy: systemEntropy,
  log,
  drain,
  voiceFor: async (plan, order) => voices.voiceFor(plan, order),
};
const ticker = startTicker({
  now: () => steadyClock.now(),
  onLineFailed: (call, error) => desk.failed(call, error),
});
const desk = new CallDesk({ parts, ticker, tasks, post, onStopped: stop });

parentPort?.on("message", (message: ToWorker) => desk.take(message));
post({ type: "started" });

/** The providers of a configuration; secrets come along with it. */
function openSource({ config, secrets }: VoiceOrder): VoiceSource {
  const decoded = decodeVoiceConfig(config);
  if (!decoded.ok) throw new OutdialError("config-invalid", decoded.problem.message);
  return openVoiceStack(decoded.value, {
    log,
    signal: stopping.signal,
    embedded: synthesizer,
    async secret(ref) {
      const name = `${ref.type}:${"name" in ref ? ref.name : "path" in ref ? ref.path : ref.command}`;
      const found = Object.hasOwn(secrets, name) ? secrets[name] : undefined;
      if (found !== undefined) return found;
      throw new OutdialError("secret-unusable", `The secret ${name} was not given to the call worker`);
    },
  });
}

async function stop(): Promise<void> {
  ticker.close();
  drain.close();
  await voices[Symbol.asyncDispose]();
  stopping.abort(new DOMException("The worker is stopping", "AbortError"));
  await synthesizer[Symbol.asyncDispose]();
  parentPort?.close();
}
