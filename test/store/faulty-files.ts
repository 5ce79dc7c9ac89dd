import { realFiles, type FileSystem } from "../../src/store/file-system.ts";

/** The real disk, with faults to switch on and a count of what it was asked to make durable. */
export interface FaultyFiles extends FileSystem {
  /** From now on no file grows. */
  full: boolean;
  /** From now on nothing becomes durable. */
  broken: boolean;
  syncs: number;
}

export function faultyFiles(): FaultyFiles {
  const failure = (code: string): Error => Object.assign(new Error(`${code}: made by a test`), { code });
  const files: FaultyFiles = {
    ...realFiles,
    full: false,
    broken: false,
    syncs: 0,
    fdatasyncSync(fd: number) {
      if (files.broken) throw failure("EIO");
      files.syncs++;
      realFiles.fdatasyncSync(fd);
    },
    writeSync: ((fd: number, bytes: Uint8Array, at: number, length: number, position: number) => {
      if (files.full && position + length > realFiles.fstatSync(fd).size) throw failure("ENOSPC");
      return realFiles.writeSync(fd, bytes, at, length, position);
    }) as FileSystem["writeSync"],
  };
  return files;
}
