import { open } from "node:fs/promises";
import { basename, join } from "node:path";

/** An open WAV file; `read` gives octets `from`..`to`, both inclusive. */
export interface OpenRecording {
  readonly sizeBytes: number;
  read(from: number, to: number): AsyncIterable<Uint8Array>;
  close(): Promise<void>;
}

const chunkBytes = 65_536;

/** Opens a recording by the name the store gave; undefined when the file is gone. */
export async function openRecording(directory: string, fileName: string): Promise<OpenRecording | undefined> {
  // Names are ours; that they stay inside the directory is checked all the same.
  const file = await open(join(directory, basename(fileName)), "r").catch((error: unknown) => {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return undefined;
    throw error;
  });
  if (file === undefined) return undefined;
  const opened = file;
  const { size } = await opened.stat();
  let closed = false;
  return { sizeBytes: size, read, close };

  async function* read(from: number, to: number): AsyncIterable<Uint8Array> {
    for (let at = from; at <= to;) {
      const chunk = new Uint8Array(Math.min(chunkBytes, to - at + 1));
      const { bytesRead } = await opened.read(chunk, 0, chunk.length, at);
      if (bytesRead === 0) return;
      yield chunk.subarray(0, bytesRead);
      at += bytesRead;
    }
  }

  async function close(): Promise<void> {
    if (closed) return;
    closed = true;
    await opened.close();
  }
}
