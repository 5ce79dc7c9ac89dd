import { open } from "node:fs/promises";

/** The whole lines in the last so many bytes of a file; empty when there is no such file. */
export async function lastText(path: string, bytes: number): Promise<string> {
  const file = await open(path, "r").catch(() => undefined);
  if (file === undefined) return "";
  try {
    const { size } = await file.stat();
    const block = new Uint8Array(Math.min(bytes, size));
    await file.read(block, 0, block.length, size - block.length);
    const text = new TextDecoder().decode(block);
    return block.length < size ? text.slice(text.indexOf("\n") + 1) : text;
  } finally {
    await file.close();
  }
}
