import { setPriority } from "node:os";
import { createInterface } from "node:readline";
import type { Engine } from "./espeak-engine.ts";
import { loadEspeakPackage } from "./espeak-package.ts";
import { findEspeakProgram } from "./espeak-program.ts";
import type { SpeechReply, PieceRequest } from "./speech-protocol.ts";

/*
 * The speech process: reads requests from standard input, one JSON line each, speaks them in order and ends with its
 * input. A process of its own because synthesis blocks (20 to 400 ms) and because eSpeak NG is a GPL program.
 */

/** Whoever paces audio on this machine goes first. */
const niceness = 5;

setPriority(niceness);
const engine = await chooseEngine(process.argv.slice(2));
if (engine !== undefined) await serve(engine);

/** Engines by name, in the order given; the default order is `package`, `program`. */
async function chooseEngine(wanted: readonly string[]): Promise<Engine | undefined> {
  const reasons: string[] = [];
  for (const name of wanted.length > 0 ? wanted : ["package", "program"]) {
    try {
      return await (name === "program" ? findEspeakProgram() : loadEspeakPackage());
    } catch (error) {
      reasons.push(messageOf(error));
    }
  }
  say({ type: "missing", reason: reasons.join("; ") });
  return undefined;
}

async function serve(engine: Engine): Promise<void> {
  await warmUp(engine);
  say({ type: "ready", engine: engine.name });
  for await (const line of createInterface({ input: process.stdin })) {
    const request: PieceRequest = JSON.parse(line);
    await answer(engine, request);
  }
}

/** The first sentence costs ten times a later one: nobody should wait for it on the phone. */
async function warmUp(engine: Engine): Promise<void> {
  const text = "Good morning, this is the warm-up: one, two, three.";
  await engine.speak({ id: 0, voice: "en-us", pitch: 50, range: 50, rate: 165, text }, () => undefined);
}

async function answer(engine: Engine, request: PieceRequest): Promise<void> {
  const { id } = request;
  try {
    await engine.speak(request, (pcm, words) =>
      say({ type: "audio", id, bytes: pcm.byteLength, words }, pcm),
    );
    say({ type: "done", id });
  } catch (error) {
    say({ type: "failed", id, message: messageOf(error) });
    // After a trap the engine's memory is not to be trusted: the next process starts clean.
    if (error instanceof Error && error.name === "RuntimeError") throw error;
  }
}

/** Pipes are written at once on POSIX systems, so the first sound leaves while the rest is still being made. */
function say(reply: SpeechReply, pcm?: Int16Array): void {
  process.stdout.write(`${JSON.stringify(reply)}\n`);
  if (pcm !== undefined) process.stdout.write(Buffer.from(pcm.buffer, pcm.byteOffset, pcm.byteLength));
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
