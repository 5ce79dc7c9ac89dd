/*
 * A program that records until it is killed: `node recording-program.ts <path> paced|hurried`.
 * Says how many frames it has taken; when the recording fails, why.
 */
import { steadyClock } from "#host";
import { openRecorder } from "../../src/lines/recorder.ts";
import { startTicker } from "../../src/lines/ticker.ts";

const [, , path = "", pace = "paced"] = process.argv;
const say = (line: string): void => void process.stdout.write(`${line}\n`);
const recorder = openRecorder(path, { onFailure: (error) => say(`failed ${String(error)}`) });
const sound = new Int16Array(160);
let frames = 0;

const now = (): number => steadyClock.now();
if (pace === "paced") startTicker({ now, onTick: take });
else {
  for (let i = 0; i < 2000 && recorder.failure === undefined; i++) {
    take();
    await new Promise((next) => setImmediate(next));
  }
  await recorder.close();
  say(`recorded ${recorder.recordedMs}`);
}

function take(): void {
  sound.fill(1 + (frames % 1000));
  recorder.write(sound, sound);
  say(`frames ${++frames}`);
}
