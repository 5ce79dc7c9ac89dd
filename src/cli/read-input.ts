import { readFile } from "node:fs/promises";
import type { Io } from "./io.ts";

/** All of a file, or of standard input for `-`, as UTF-8 text. */
export async function readWhole(io: Io, file: string): Promise<string> {
  if (file !== "-") return readFile(file, "utf8");
  const decoder = new TextDecoder();
  let text = "";
  for await (const chunk of io.stdin) {
    text += typeof chunk === "string" ? chunk : decoder.decode(chunk, { stream: true });
  }
  return text + decoder.decode();
}
