import { openEspeak } from "#ai";
import { OutdialError } from "#base";
import { createLog, steadyClock, systemEntropy } from "#host";
import { resample } from "#media";
import { parentPort, workerData } from "node:worker_threads";
import { openCarrier } from "./carrier.ts";
import type { CarrierOrder, FromCarrier } from "./thread.ts";
import type { Voice } from "./voice.ts";

const phoneRateHz = 8_000;
const order: CarrierOrder = workerData;
const port = parentPort;
if (port === null) throw new Error("the sandbox runs in a worker thread");

const tell = (message: FromCarrier): void => port.postMessage(message);
const log = createLog({
  level: "warn",
  component: "sandbox",
  ...(order.logFile === undefined ? {} : { file: order.logFile }),
});
const speech = openEspeak({ log });

try {
  const carrier = await openCarrier({
    address: order.address,
    port: order.port,
    clock: steadyClock,
    entropy: systemEntropy,
    log,
    voice: voiceOf(speech),
    onEvent: (event) => tell({ type: "event", event, at: Date.now() }),
  });
  tell({ type: "listening", address: carrier.address, port: carrier.port });
  port.once("message", () => {
    void carrier
      .close()
      .then(() => speech[Symbol.asyncDispose]())
      .then(() => process.exit());
  });
} catch (error) {
  const code = error instanceof OutdialError ? error.code : "sandbox-failed";
  tell({ type: "failed", code, message: error instanceof Error ? error.message : String(error) });
  await speech[Symbol.asyncDispose]();
  process.exit();
}

/** The embedded synthesiser as a callee's voice. */
function voiceOf(synthesizer: ReturnType<typeof openEspeak>): Voice {
  return {
    async say(text, language) {
      const { audio, rateHz } = await synthesizer.say(
        { text, voice: "4", language },
        new AbortController().signal,
      );
      const chunks: Int16Array[] = [];
      for await (const chunk of audio) chunks.push(chunk);
      return resample(joined(chunks), rateHz, phoneRateHz);
    },
  };
}

function joined(chunks: readonly Int16Array[]): Int16Array {
  const whole = new Int16Array(chunks.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const chunk of chunks) {
    whole.set(chunk, at);
    at += chunk.length;
  }
  return whole;
}
