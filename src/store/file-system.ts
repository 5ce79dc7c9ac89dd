import fs from "node:fs";

/** The calls of node:fs that the store makes on its files: a test may put faults or a record of them in between. */
export type FileSystem = Pick<
  typeof fs,
  | "accessSync"
  | "closeSync"
  | "existsSync"
  | "fdatasyncSync"
  | "fstatSync"
  | "fsyncSync"
  | "ftruncateSync"
  | "openSync"
  | "readSync"
  | "renameSync"
  | "rmSync"
  | "statSync"
  | "unlinkSync"
  | "writeSync"
>;

export const realFiles: FileSystem = fs;

/** Makes the names in a directory durable. Ignored where a directory cannot be opened (Windows). */
export function syncDirectory(files: FileSystem, path: string): void {
  let fd: number;
  try {
    fd = files.openSync(path, "r");
  } catch {
    return;
  }
  try {
    files.fsyncSync(fd);
  } finally {
    files.closeSync(fd);
  }
}
