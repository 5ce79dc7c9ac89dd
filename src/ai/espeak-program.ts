import { spawn } from "node:child_process";
import type { Emit, Engine } from "./espeak-engine.ts";
import { speechRate, type PieceRequest } from "./speech-protocol.ts";
import { escapeForSsml } from "./speech-text.ts";

const programName = "espeak-ng";
/** 0.1 s, the size the package delivers. */
const chunkBytes = (speechRate / 10) * 2;

/** Finds the `espeak-ng` program (1.50 or later) on PATH; rejects when there is none. It gives no word positions. */
export async function findEspeakProgram(): Promise<Engine> {
  const version = await run(["--version"], "");
  return {
    name: `${version.toString("utf8").split("\n")[0]?.split("  ")[0] ?? "eSpeak NG"} (espeak-ng program)`,
    speak,
  };
}

async function speak(request: PieceRequest, emit: Emit): Promise<void> {
  const options = ["-v", request.voice, "-p", String(request.pitch), "-s", String(request.rate)];
  // The pitch range has no option before 1.52, but SSML has it.
  const ssml = `<speak><prosody range="${request.range}">${escapeForSsml(request.text).text}</prosody></speak>`;
  const wav = await run([...options, "-m", "-b", "1", "--stdin", "--stdout"], ssml);
  const pcm = pcmOf(wav);
  for (let at = 0; at < pcm.length; at += chunkBytes) {
    const part = pcm.subarray(at, at + chunkBytes);
    const samples = new Int16Array(part.length >> 1);
    Buffer.from(samples.buffer).set(part.subarray(0, samples.byteLength));
    emit(samples, []);
  }
}

/** The samples of a WAV written to a pipe, whose lengths are therefore not to be believed. */
function pcmOf(wav: Buffer): Buffer {
  const data = wav.indexOf("data");
  const rate = wav.length >= 28 ? wav.readUInt32LE(24) : 0;
  if (data < 0 || rate !== speechRate) throw new Error("espeak-ng made no sound at 22050 Hz");
  return wav.subarray(data + 8);
}

function run(args: readonly string[], input: string): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const program = spawn(programName, args, { stdio: "pipe" });
    const output: Buffer[] = [];
    let complaint = "";
    program.stdout.on("data", (chunk: Buffer) => output.push(chunk));
    program.stderr.on(
      "data",
      (chunk: Buffer) => (complaint = `${complaint}${chunk.toString("utf8")}`.slice(-500)),
    );
    program.on("error", reject);
    program.on("close", (code) => {
      if (code === 0 && output.length > 0) resolve(Buffer.concat(output));
      else
        reject(new Error(`espeak-ng ended with ${code ?? "a signal"}: ${complaint.trim() || "no output"}`));
    });
    program.stdin.on("error", () => undefined); // It may end without reading; its exit code tells why.
    program.stdin.end(input);
  });
}
