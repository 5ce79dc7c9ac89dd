import { silentLog, type Log } from "#host";
import { mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { openEspeak } from "../../src/ai/index.ts";

const never = new AbortController().signal;
type Speech = ReturnType<typeof openEspeak>;

async function samplesOf(audio: AsyncIterable<Int16Array>): Promise<Int16Array> {
  const chunks: Int16Array[] = [];
  for await (const chunk of audio) chunks.push(chunk);
  const whole = new Int16Array(chunks.reduce((sum, chunk) => sum + chunk.length, 0));
  let at = 0;
  for (const chunk of chunks) {
    whole.set(chunk, at);
    at += chunk.length;
  }
  return whole;
}

async function say(
  speech: Speech,
  text: string,
  how: { voice?: string; language?: string; speed?: number } = {},
) {
  const { voice = "6", language = "en", ...rest } = how;
  return samplesOf((await speech.say({ text, voice, language, ...rest }, never)).audio);
}

const seconds = (pcm: Int16Array): number => pcm.length / 22_050;
const loudness = (pcm: Int16Array): number => Math.sqrt(pcm.reduce((sum, x) => sum + x * x, 0) / pcm.length);

/** Median pitch of the voiced parts, by autocorrelation. */
function pitch(pcm: Int16Array): number {
  const window = 882;
  const found: number[] = [];
  for (let start = 0; start + 2 * window < pcm.length; start += window) {
    const at = (i: number): number => pcm[start + i] ?? 0;
    let energy = 0;
    for (let i = 0; i < window; i++) energy += at(i) ** 2;
    if (energy / window < 4e5) continue;
    let best = 0;
    let bestLag = 0;
    for (let lag = 52; lag < 367; lag++) {
      let cross = 0;
      let other = 0;
      for (let i = 0; i < window; i++) {
        cross += at(i) * at(i + lag);
        other += at(i + lag) ** 2;
      }
      const likeness = cross / Math.sqrt(energy * other + 1);
      if (likeness > best + 0.02) [best, bestLag] = [likeness, lag];
    }
    if (best > 0.6) found.push(22_050 / bestLag);
  }
  return found.sort((a, b) => a - b)[found.length >> 1] ?? 0;
}

describe("the embedded voice", () => {
  const warnings: string[] = [];
  const log: Log = { ...silentLog, warn: (message) => warnings.push(message) };
  let speech: Speech;
  beforeAll(async () => {
    speech = openEspeak({ log });
    await speech.warm(never);
  });
  afterAll(async () => speech[Symbol.asyncDispose]());

  const greetings = {
    es: "Hola, buenos días.",
    en: "Hello, good morning.",
    fr: "Bonjour, c'est moi.",
    de: "Hallo, guten Morgen.",
    it: "Ciao, buongiorno.",
    pt: "Olá, bom dia.",
  };

  test.each(Object.entries(greetings))("speaks %s in seven voices", async (language, text) => {
    const voices = await Promise.all(
      ["1", "2", "3", "4", "5", "6", "7"].map((voice) => say(speech, text, { language, voice })),
    );
    for (const pcm of voices) {
      expect(seconds(pcm)).toBeGreaterThan(0.6);
      expect(seconds(pcm)).toBeLessThan(3);
      expect(loudness(pcm)).toBeGreaterThan(500);
    }
    expect(new Set(voices.map((pcm) => Buffer.from(pcm.buffer).toString("base64"))).size).toBe(7);
  });

  test("languages and their regions sound different", async () => {
    const texts = await Promise.all(
      ["es", "es-MX", "en", "en-GB", "fr", "de", "it", "pt", "pt-BR"].map((language) =>
        say(speech, "Si, nada mas.", { language }),
      ),
    );
    expect(new Set(texts.map((pcm) => Buffer.from(pcm.buffer).toString("base64"))).size).toBe(9);
  });

  test("the voices have their measured pitch", async () => {
    const text = "Hola, buenos días. Le llamo para confirmar su cita de mañana.";
    const hz = async (voice: string): Promise<number> =>
      pitch(await say(speech, text, { language: "es", voice }));
    expect(await hz("3")).toBeGreaterThan(240);
    expect(await hz("1")).toBeGreaterThan(185);
    const default6 = await hz("6");
    expect(default6).toBeGreaterThan(85);
    expect(default6).toBeLessThan(115);
    expect(await hz("4")).toBeLessThan(85);
  });

  test("speed changes the length", async () => {
    const slow = await say(speech, "one two three four five", { speed: 0.7 });
    const fast = await say(speech, "one two three four five", { speed: 1.6 });
    expect(seconds(slow)).toBeGreaterThan(1.5 * seconds(fast));
  });

  test("markup is read out, not obeyed", async () => {
    const pause = await say(speech, 'hello <break time="3s"/> you');
    const words = await say(speech, "hello break time three s you");
    expect(Math.abs(seconds(pause) - seconds(words))).toBeLessThan(1.5);
    const markup = await say(speech, "a <b> c");
    expect(seconds(markup)).toBeGreaterThan(seconds(await say(speech, "a  c")));
  });

  test("a text of several pieces is said whole, and its words are marked in order", async () => {
    const sentence = "This is one sentence of the long text. ";
    const text = sentence.repeat(15);
    const { audio, marks } = await speech.say({ text, voice: "6", language: "en" }, never);
    const pcm = await samplesOf(audio);
    expect(seconds(pcm)).toBeGreaterThan(12 * seconds(await say(speech, sentence.repeat(1))));
    const words: string[] = [];
    let lastMs = -1;
    for await (const mark of marks ?? []) {
      words.push(text.slice(mark.textStart, mark.textEnd));
      expect(mark.atMs).toBeGreaterThanOrEqual(lastMs);
      lastMs = mark.atMs;
    }
    expect(words.slice(0, 4)).toEqual(["This", "is", "one", "sentence"]);
    expect(words.filter((word) => word === "sentence")).toHaveLength(15);
    expect(lastMs).toBeLessThan(seconds(pcm) * 1000);
  });

  test("a short text does not wait for a long one", async () => {
    const order: string[] = [];
    const long = say(speech, "This takes a while, as everybody knows who has waited. ".repeat(60)).then(() =>
      order.push("long"),
    );
    const short = say(speech, "Hi.").then(() => order.push("short"));
    await Promise.all([long, short]);
    expect(order).toEqual(["short", "long"]);
  });

  test("silence is no error", async () => {
    expect(await say(speech, " \n ")).toHaveLength(0);
  });

  test("an unknown language is read by another one, with one warning", async () => {
    expect(loudness(await say(speech, "kia ora", { language: "xx-YY" }))).toBeGreaterThan(500);
    await say(speech, "again", { language: "xx-YY" });
    expect(warnings).toEqual(["no voice for this language: another one reads it"]);
  });

  test("an aborted text ends with the signal's reason, and the voice goes on for others", async () => {
    const abort = new AbortController();
    const reason = new Error("not wanted");
    const { audio } = await speech.say(
      { text: "word ".repeat(2000), voice: "6", language: "en" },
      abort.signal,
    );
    const reading = samplesOf({
      async *[Symbol.asyncIterator]() {
        for await (const chunk of audio) {
          abort.abort(reason);
          yield chunk;
        }
      },
    });
    await expect(reading).rejects.toBe(reason);
    expect(seconds(await say(speech, "still here"))).toBeGreaterThan(0.3);
    await expect(speech.say({ text: "x", voice: "6", language: "en" }, abort.signal)).rejects.toBe(reason);
  });

  test("more requests than can wait are refused, retryably, and the others are said", async () => {
    const saying = await Promise.allSettled(Array.from({ length: 80 }, async () => say(speech, "hello")));
    const refused = saying.filter((one) => one.status === "rejected");
    expect(refused.length).toBeGreaterThanOrEqual(16);
    for (const one of refused) expect(one.reason).toMatchObject({ code: "speech-busy", retryable: true });
    const spoken = saying.filter((one) => one.status === "fulfilled");
    expect(spoken.length).toBeGreaterThan(50);
    expect(spoken.every((one) => one.value.length > 0)).toBe(true);
  });
});

describe("when the speech process ends", () => {
  test("what was being said fails retryably, and a new process goes on", async () => {
    await using speech = openEspeak({ log: silentLog });
    await speech.warm(never);
    const first = speech.pid!;
    const { audio } = await speech.say({ text: "word ".repeat(5000), voice: "6", language: "en" }, never);
    const reading = samplesOf({
      async *[Symbol.asyncIterator]() {
        for await (const chunk of audio) {
          if (speech.pid === first) process.kill(first, "SIGKILL");
          yield chunk;
        }
      },
    });
    await expect(reading).rejects.toMatchObject({ code: "speech-unavailable", retryable: true });
    expect(seconds(await say(speech, "back again"))).toBeGreaterThan(0.3);
    expect(speech.pid).not.toBe(first);
  });

  test("disposal ends the process and everything being said", async () => {
    const speech = openEspeak({ log: silentLog });
    await speech.warm(never);
    const pid = speech.pid!;
    const { audio } = await speech.say({ text: "word ".repeat(5000), voice: "6", language: "en" }, never);
    await speech[Symbol.asyncDispose]();
    await expect(samplesOf(audio)).rejects.toMatchObject({ name: "AbortError" });
    await expect.poll(() => isAlive(pid)).toBe(false);
  });
});

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

describe("which engine speaks", () => {
  let bin: string;
  beforeAll(async () => {
    bin = await mkdtemp(join(tmpdir(), "outdial-espeak-"));
  });
  afterAll(async () => rm(bin, { recursive: true }));

  test("without any the error says what to install", async () => {
    await using speech = openEspeak({ log: silentLog, engines: ["program"], environment: { PATH: bin } });
    const missing = {
      code: "voice-missing",
      retryable: false,
      hint: expect.stringContaining("npm install @echogarden/espeak-ng-emscripten"),
    };
    await expect(speech.warm(never)).rejects.toMatchObject(missing);
    await expect(say(speech, "hello")).rejects.toMatchObject(missing);
  });

  test("the espeak-ng program on PATH is used when it is asked for", async () => {
    await symlink(process.execPath, join(bin, "node"));
    await writeFile(join(bin, "espeak-ng"), standIn, { mode: 0o755 });
    await using speech = openEspeak({ log: silentLog, engines: ["program"], environment: { PATH: bin } });
    const pcm = await say(speech, "a < b", { voice: "1", language: "es" });
    expect(Buffer.from(pcm.buffer).toString("utf8").trimEnd()).toBe(
      '-v es+f2 -p 55 -s 165 -m -b 1 --stdin --stdout|<speak><prosody range="55">a &lt; b</prosody></speak>',
    );
  });
});

/** Behaves as espeak-ng does on its command line, and "speaks" what it was told. */
const standIn = `#!/usr/bin/env node
const args = process.argv.slice(2);
if (args[0] === "--version") { console.log("eSpeak NG text-to-speech: 1.51  Data at: /nowhere"); process.exit(0); }
let text = "";
process.stdin.on("data", (chunk) => (text += chunk)).on("end", () => {
  const header = Buffer.alloc(44);
  header.write("RIFF"); header.write("WAVEfmt ", 8); header.writeUInt32LE(22050, 24); header.write("data", 36);
  const said = args.join(" ") + "|" + text;
  process.stdout.write(Buffer.concat([header, Buffer.from(said + (said.length % 2 ? " " : ""))]));
});
`;
