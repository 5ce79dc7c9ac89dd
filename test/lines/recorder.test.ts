import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readFile, rm, stat, truncate, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { describe, expect, onTestFinished, test } from "vitest";
import { openRecorder, repairWav } from "../../src/lines/recorder.ts";
import { readWavHeader } from "../../src/media/wav.ts";

const program = fileURLToPath(new URL("recording-program.ts", import.meta.url));

async function freshPath(): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), "outdial-recorder-"));
  onTestFinished(() => rm(directory, { recursive: true, force: true }));
  return join(directory, "call.wav");
}

function frame(value: number): Int16Array {
  return new Int16Array(160).fill(value);
}

/** The samples that the header promises; fails unless the file holds them all. */
async function soundOf(path: string): Promise<Int16Array> {
  const file = await readFile(path);
  const header = readWavHeader(file);
  if (!header.ok) throw new Error(header.problem.message);
  expect(header.value).toMatchObject({ channels: 2, sampleRateHz: 8000, dataOffset: 44 });
  expect(header.value.dataBytes % 4).toBe(0);
  expect(file.readUInt32LE(4)).toBe(header.value.dataBytes + 36);
  expect(file.length - 44).toBeGreaterThanOrEqual(header.value.dataBytes);
  return Int16Array.from({ length: header.value.dataBytes / 2 }, (_, i) => file.readInt16LE(44 + 2 * i));
}

describe("a recording", () => {
  test("has the agent on the left and the callee on the right, whole", async () => {
    const path = await freshPath();
    const recorder = openRecorder(path);
    for (let i = 0; i < 137; i++) recorder.write(frame(i), frame(-i));
    expect(recorder.recordedMs).toBe(2740);
    await recorder.close();
    const sound = await soundOf(path);
    expect(sound).toHaveLength(137 * 320);
    for (let i = 0; i < 137; i++) expect([sound[i * 320], sound[i * 320 + 319]]).toEqual([i, 0 - i]);
    expect((await stat(path)).mode & 0o777).toBe(0o600);
  });

  test("closes once, and takes nothing after", async () => {
    const path = await freshPath();
    const recorder = openRecorder(path);
    recorder.write(frame(1), frame(1));
    await Promise.all([recorder.close(), recorder.close()]);
    recorder.write(frame(2), frame(2));
    expect(await soundOf(path)).toHaveLength(320);
  });

  test("without any sound is an empty file that plays", async () => {
    const path = await freshPath();
    await openRecorder(path).close();
    expect(await soundOf(path)).toHaveLength(0);
  });

  test("that cannot be opened says so once, and the call goes on", async () => {
    const failures: Error[] = [];
    const recorder = openRecorder("/nowhere/at/all.wav", { onFailure: (error) => failures.push(error) });
    for (let i = 0; i < 100; i++) recorder.write(frame(1), frame(1));
    await recorder.close();
    expect(failures).toMatchObject([{ code: "ENOENT" }]);
    expect(recorder.failure).toBe(failures[0]);
    expect(recorder.recordedMs).toBe(0);
  });

  test("never takes the place of a file that is there", async () => {
    const path = await freshPath();
    await writeFile(path, "mine");
    const recorder = openRecorder(path);
    recorder.write(frame(1), frame(1));
    await recorder.close();
    expect(recorder.failure).toMatchObject({ code: "EEXIST" });
    expect(await readFile(path, "utf8")).toBe("mine");
  });

  test("of a process that is killed plays, and lacks less than a second", async () => {
    const path = await freshPath();
    const child = spawn(process.execPath, [program, path, "paced"], { stdio: ["ignore", "pipe", "inherit"] });
    onTestFinished(() => void child.kill("SIGKILL"));
    let frames = 0;
    for await (const line of createInterface({ input: child.stdout })) {
      frames = Number(line.split(" ")[1]);
      if (frames === 87) child.kill("SIGKILL");
    }
    const sound = await soundOf(path);
    const lostMs = frames * 20 - sound.length / 16;
    expect(lostMs).toBeGreaterThanOrEqual(0);
    expect(lostMs).toBeLessThanOrEqual(1000);
    for (let i = 0; i < sound.length; i += 320) expect(sound[i]).toBe(1 + i / 320);
    expect(await repairWav(path)).toBeGreaterThanOrEqual(sound.length / 16);
    await soundOf(path);
  });

  test("ends where the disk is full, playable, and says why", async () => {
    const path = await freshPath();
    // A file size limit makes write(2) fail as a full disk does.
    const script = `trap "" XFSZ; ulimit -f 200; exec "$0" "$1" "$2" hurried`;
    const child = spawn("bash", ["-c", script, process.execPath, program, path], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    const lines: string[] = [];
    createInterface({ input: child.stdout }).on("line", (line) => lines.push(line));
    const [code] = await once(child, "close");
    expect(code).toBe(0);
    expect(lines.filter((line) => line.startsWith("failed"))).toHaveLength(1);
    const sound = await soundOf(path);
    expect(sound.length / 16).toBeGreaterThan(5000);
    expect(sound.length * 2 + 44).toBeLessThanOrEqual(200 * 1024);
    expect(Math.abs(Number(lines.at(-1)!.split(" ")[1]) - sound.length / 16)).toBeLessThan(1);
  });
});

describe("mending a recording", () => {
  async function recorded(frames: number): Promise<string> {
    const path = await freshPath();
    const recorder = openRecorder(path);
    for (let i = 0; i < frames; i++) recorder.write(frame(i), frame(i));
    await recorder.close();
    return path;
  }

  test("takes in what was written after the last header, and leaves half a sample out", async () => {
    const path = await recorded(50);
    const file = await readFile(path);
    file.writeUInt32LE(0, 40);
    await writeFile(path, file);
    await truncate(path, 44 + 40 * 640 + 3);
    expect(await repairWav(path)).toBe(800);
    expect(await soundOf(path)).toHaveLength(40 * 320);
  });

  test("shortens a header that promises more than there is", async () => {
    const path = await recorded(50);
    await truncate(path, 44 + 10 * 640);
    expect(await repairWav(path)).toBe(200);
    expect(await soundOf(path)).toHaveLength(10 * 320);
  });

  test("leaves a whole file as it is", async () => {
    const path = await recorded(10);
    const before = await readFile(path);
    expect(await repairWav(path)).toBe(200);
    expect(await readFile(path)).toEqual(before);
  });

  test("refuses what is not a recording", async () => {
    const path = await freshPath();
    await expect(repairWav(path)).rejects.toMatchObject({ code: "recording-unreadable" });
    await writeFile(path, "RIFF but no more");
    await expect(repairWav(path)).rejects.toMatchObject({ code: "recording-unreadable" });
  });
});
