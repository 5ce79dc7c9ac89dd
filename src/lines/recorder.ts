import { open, type FileHandle } from "node:fs/promises";
import { OutdialError } from "#base";
import { frameMs, frameSamples, readWavHeader, sampleRateHz, wavHeader, wavHeaderBytes } from "#media";

const format = { sampleRateHz, channels: 2 };
const sampleBytes = 4; // both sides
const flushFrames = 20; // 400 ms: with the write under way, less than 1 s is ever unwritten
const chunkBytes = flushFrames * frameSamples * sampleBytes;
const mostWaiting = 150; // chunks: a disk that stalls for a minute has failed

/** A stereo WAV in the making: left = agent, right = callee, 8 kHz, 16 bit. */
export interface Recorder {
  /** Takes 20 ms of each side (160 samples); copies them. */
  write(agent: Int16Array, callee: Int16Array): void;
  readonly recordedMs: number;
  /** Why the recording ended early, when it did. */
  readonly failure: Error | undefined;
  /** Writes what is left and makes it durable. Idempotent; never rejects. */
  close(): Promise<void>;
}

export interface RecorderOptions {
  /** Called once when the file can no longer be written (full disk, path not writable): the call goes on. */
  readonly onFailure?: (error: Error) => void;
}

/**
 * Starts a recording in a new file that only its owner may read. The header is brought up to date with every flush,
 * so that the file of a process that was killed plays, short of its last second at most.
 */
export function openRecorder(path: string, options: RecorderOptions = {}): Recorder {
  return new WavRecorder(path, options.onFailure);
}

/**
 * Brings the sizes in the header of a recording into line with what the file holds, after its writer died.
 * Resolves with the length in ms; rejects OutdialError `recording-unreadable`.
 */
export async function repairWav(path: string): Promise<number> {
  const file = await open(path, "r+").catch((cause: unknown) => {
    throw new OutdialError("recording-unreadable", `cannot open the recording ${path}`, { cause });
  });
  try {
    const head = Buffer.alloc(wavHeaderBytes);
    await file.read(head, 0, wavHeaderBytes, 0);
    const read = readWavHeader(head);
    if (!read.ok || read.value.dataOffset !== wavHeaderBytes) {
      throw new OutdialError("recording-unreadable", `${path} is not a recording: its header is not ours`);
    }
    const { dataBytes, channels, sampleRateHz: rate } = read.value;
    const frameBytes = 2 * channels;
    const there = (await file.stat()).size - wavHeaderBytes;
    const whole = there - (there % frameBytes);
    if (whole !== dataBytes) {
      await file.write(wavHeader({ channels, sampleRateHz: rate }, whole), 0, wavHeaderBytes, 0);
      await file.datasync();
    }
    return (whole / frameBytes / rate) * 1000;
  } finally {
    await file.close();
  }
}

class WavRecorder implements Recorder {
  readonly #file: Promise<FileHandle | undefined>;
  readonly #onFailure: ((error: Error) => void) | undefined;
  readonly #waiting: { readonly chunk: DataView; readonly bytes: number }[] = [];
  readonly #spare: DataView[] = [];
  #chunk: DataView = new DataView(new ArrayBuffer(chunkBytes));
  #filled = 0;
  #flushAt: number;
  #frames = 0;
  #written = 0;
  #pumping: Promise<void> | undefined;
  #closing: Promise<void> | undefined;
  #failure: Error | undefined;

  constructor(path: string, onFailure: ((error: Error) => void) | undefined) {
    this.#onFailure = onFailure;
    // The first flush comes early, and not for all lines in the same tick.
    this.#flushAt = (1 + (checksum(path) % flushFrames)) * frameSamples * sampleBytes;
    this.#file = this.#create(path);
  }

  get recordedMs(): number {
    return this.#failure === undefined
      ? this.#frames * frameMs
      : this.#written / sampleBytes / (sampleRateHz / 1000);
  }

  get failure(): Error | undefined {
    return this.#failure;
  }

  write(agent: Int16Array, callee: Int16Array): void {
    if (this.#failure !== undefined || this.#closing !== undefined) return;
    const chunk = this.#chunk;
    let at = this.#filled;
    for (let i = 0; i < frameSamples; i++) {
      chunk.setInt16(at, agent[i] ?? 0, true);
      chunk.setInt16(at + 2, callee[i] ?? 0, true);
      at += sampleBytes;
    }
    this.#filled = at;
    this.#frames++;
    if (at >= this.#flushAt) this.#flush();
  }

  close(): Promise<void> {
    this.#closing ??= this.#finish();
    return this.#closing;
  }

  async #create(path: string): Promise<FileHandle | undefined> {
    try {
      const file = await open(path, "wx", 0o600);
      await file.write(wavHeader(format, 0), 0, wavHeaderBytes, 0);
      return file;
    } catch (error) {
      this.#fail(error);
      return undefined;
    }
  }

  #flush(): void {
    this.#waiting.push({ chunk: this.#chunk, bytes: this.#filled });
    this.#chunk = this.#spare.pop() ?? new DataView(new ArrayBuffer(chunkBytes));
    this.#filled = 0;
    this.#flushAt = chunkBytes;
    if (this.#waiting.length > mostWaiting)
      this.#fail(new Error("the disk does not keep up with the recording"));
    else this.#pumping ??= this.#pump();
  }

  /** Writes chunk after chunk; the header follows each, so that it never promises more than is there. */
  async #pump(): Promise<void> {
    const file = await this.#file;
    try {
      for (let next = this.#waiting.shift(); next !== undefined; next = this.#waiting.shift()) {
        if (file === undefined) break; // It could not be opened; `#create` told so.
        await this.#append(file, next.chunk, next.bytes);
        await this.#sign(file);
        this.#spare.push(next.chunk);
      }
    } catch (error) {
      this.#fail(error);
      if (file !== undefined) await this.#sign(file).catch(ignore);
    }
    this.#pumping = undefined;
  }

  async #append(file: FileHandle, chunk: DataView, bytes: number): Promise<void> {
    let done = 0;
    while (done < bytes) {
      const { bytesWritten } = await file.write(chunk, done, bytes - done, wavHeaderBytes + this.#written);
      done += bytesWritten;
      this.#written += bytesWritten;
    }
  }

  /** Brings the header up to date. */
  async #sign(file: FileHandle): Promise<void> {
    const whole = this.#written - (this.#written % sampleBytes);
    await file.write(wavHeader(format, whole), 0, wavHeaderBytes, 0);
  }

  async #finish(): Promise<void> {
    if (this.#filled > 0 && this.#failure === undefined) this.#flush();
    await this.#pumping;
    const file = await this.#file;
    try {
      await file?.datasync();
    } catch (error) {
      this.#fail(error);
    }
    await file?.close().catch(ignore);
  }

  /** The recording ends here; what was written stays. */
  #fail(error: unknown): void {
    if (this.#failure !== undefined) return;
    this.#failure = error instanceof Error ? error : new Error(String(error));
    this.#waiting.length = 0;
    this.#onFailure?.(this.#failure);
  }
}

function checksum(text: string): number {
  let sum = 0;
  for (let i = 0; i < text.length; i++) sum = (sum * 31 + text.charCodeAt(i)) >>> 0;
  return sum;
}

function ignore(): void {}
