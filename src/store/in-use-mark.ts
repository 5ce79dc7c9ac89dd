import { OutdialError } from "#base";
import type { FileSystem } from "./file-system.ts";

/*
 * The locks of SQLite compiled to WebAssembly hold nobody off, so a foreign program could open the live file,
 * read half a state and delete the log. Two things keep it out: the first 16 octets on disk are not SQLite's
 * while we are in (a foreign program says "file is not a database"), and the log has a name of our own,
 * which SQLite would neither read nor remove.
 */

const magic = new TextEncoder().encode("SQLite format 3\0");
const mark = new TextEncoder().encode("outdial in use \0");
const markBytes = 16;

/** File in which the write-ahead log (`-wal`) or rollback journal (`-journal`) of `database` is kept while in use. */
export function liveName(database: string, suffix: string): string {
  return `${database}-live${suffix}`;
}

/** Marks an open database file; a new, empty one is marked with its first write. Durable on return. */
export function markInUse(files: FileSystem, fd: number): void {
  if (replaceHead(files, fd, magic, mark)) files.fdatasyncSync(fd);
}

/** The other way round: any SQLite program may open the file again. Durable on return. */
export function markFree(files: FileSystem, fd: number): void {
  if (replaceHead(files, fd, mark, magic)) files.fdatasyncSync(fd);
}

/** Shows SQLite its own first octets in a buffer read from the start of a marked file. */
export function showMagic(memory: Uint8Array, at: number): void {
  if (startsWith(memory, at, mark)) memory.set(magic, at);
}

/** Runs `write` with the mark in place of SQLite's first octets, which are there again afterwards. */
export function withMark<T>(memory: Uint8Array, at: number, write: () => T): T {
  if (!startsWith(memory, at, magic)) return write();
  memory.set(mark, at);
  try {
    return write();
  } finally {
    memory.set(magic, at);
  }
}

/** Before sql.js opens `database`: a log that an ordinary SQLite left behind becomes ours. */
export function takeOver(files: FileSystem, database: string): void {
  moveLog(files, `${database}-wal`, liveName(database, "-wal"));
  moveLog(files, `${database}-journal`, liveName(database, "-journal"));
  files.rmSync(`${database}-shm`, { force: true });
}

/** Before an ordinary SQLite opens `database`: the log and the mark of a sql.js that was killed are undone. */
export function handOver(files: FileSystem, database: string): void {
  moveLog(files, liveName(database, "-wal"), `${database}-wal`);
  moveLog(files, liveName(database, "-journal"), `${database}-journal`);
  if (!files.existsSync(database)) return;
  const fd = files.openSync(database, "r+");
  try {
    markFree(files, fd);
  } finally {
    files.closeSync(fd);
  }
}

function moveLog(files: FileSystem, from: string, to: string): void {
  if (!files.existsSync(from)) return;
  if (files.statSync(from).size === 0) {
    files.rmSync(from);
    return;
  }
  if (files.existsSync(to) && files.statSync(to).size > 0) {
    throw new OutdialError("store-failed", `The store has two logs, ${from} and ${to}.`, {
      hint: "Two programs have written to it. Restore a backup, or move the log that is not wanted away.",
    });
  }
  files.renameSync(from, to);
}

function replaceHead(files: FileSystem, fd: number, from: Uint8Array, to: Uint8Array): boolean {
  const head = new Uint8Array(markBytes);
  if (files.readSync(fd, head, 0, markBytes, 0) < markBytes || !startsWith(head, 0, from)) return false;
  files.writeSync(fd, to, 0, markBytes, 0);
  return true;
}

function startsWith(memory: Uint8Array, at: number, head: Uint8Array): boolean {
  return head.every((octet, index) => memory[at + index] === octet);
}
