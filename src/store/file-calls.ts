import { constants } from "node:fs";
import { dirname, resolve } from "node:path";
import { syncDirectory, type FileSystem } from "./file-system.ts";
import { liveName, markFree, markInUse, showMagic, withMark } from "./in-use-mark.ts";
import type { FileCallName } from "./wasm-imports.ts";
import type { WasmCall, WasmMemory } from "./web-assembly.ts";

/** Declared as a method, so that each call may name its own kinds of numbers. */
type FileCall = { answer(...args: (number | bigint)[]): number | undefined }["answer"];

interface OpenFile {
  readonly fd: number;
  readonly path: string;
  readonly kind: "database" | "log" | "directory";
  position: number;
}

/** Numbers of WASI, which Emscripten uses for errno. */
const errno: Readonly<Record<string, number>> = {
  EACCES: 2,
  EBADF: 8,
  EBUSY: 10,
  EEXIST: 20,
  EINVAL: 28,
  EISDIR: 31,
  EMFILE: 33,
  ENOENT: 44,
  ENOSPC: 51,
  // A quota or a file size limit reached is the same to a person: no room.
  EDQUOT: 51,
  EFBIG: 51,
  ENOTDIR: 54,
  EPERM: 63,
  EROFS: 69,
};
const ioError = 29;

// Above any descriptor that Emscripten's own in-memory file system hands out.
const firstHandle = 100_000;
const statBytes = 96;

/**
 * The file calls of SQLite's WebAssembly, done on real files: what sql.js calls `dbfile_<n>` is the database
 * file announced with `announce`, beside it its log. Anything else goes on to Emscripten's own file system.
 */
export class FileCalls {
  readonly #files: FileSystem;
  readonly #open = new Map<number, OpenFile>();
  readonly #databases = new Map<string, string>();
  #nextHandle = firstHandle;
  #announced: string | undefined;
  #memory: WasmMemory | undefined;
  #bytes = new Uint8Array(0);
  #view = new DataView(new ArrayBuffer(0));
  #syncFailed = false;

  constructor(files: FileSystem) {
    this.#files = files;
  }

  useMemory(memory: WasmMemory): void {
    this.#memory = memory;
  }

  /** The next database that sql.js opens is this file. */
  announce(path: string): void {
    this.#announced = resolve(path);
  }

  /** `name` as the WebAssembly module is to import it: ours for our files, `original` for all others. */
  import(name: FileCallName, original: WasmCall): WasmCall {
    const own = this.#calls[name];
    // System calls answer an error as a negative number, WASI's `fd_` calls as a positive one.
    const sign = name.startsWith("fd_") ? 1 : -1;
    return (...args) => {
      this.#lookAtMemory();
      try {
        return own(...args) ?? original(...args);
      } catch (error) {
        return sign * errorNumber(error);
      }
    };
  }

  readonly #calls: Readonly<Record<FileCallName, FileCall>> = {
    __syscall_openat: (_directory: number, path: number, flags: number) =>
      this.#openPath(this.#text(path), flags),
    __syscall_stat64: (path: number, into: number) => this.#statPath(path, into),
    __syscall_lstat64: (path: number, into: number) => this.#statPath(path, into),
    __syscall_newfstatat: (_directory: number, path: number, into: number) => this.#statPath(path, into),
    __syscall_fstat64: (handle: number, into: number) => this.#statHandle(handle, into),
    __syscall_faccessat: (_directory: number, path: number, mode: number) => {
      const real = this.#realPath(this.#text(path));
      if (real === undefined) return undefined;
      this.#files.accessSync(real, mode & 7);
      return 0;
    },
    __syscall_unlinkat: (_directory: number, path: number) => {
      const real = this.#realPath(this.#text(path));
      if (real === undefined) return undefined;
      this.#files.unlinkSync(real);
      return 0;
    },
    // EINVAL: no symbolic link. Links in the real path were followed when it was announced.
    __syscall_readlinkat: (_directory: number, path: number) =>
      this.#realPath(this.#text(path)) === undefined ? undefined : -28,
    __syscall_utimensat: (_directory: number, path: number) =>
      this.#realPath(this.#text(path)) === undefined ? undefined : 0,
    __syscall_fchmod: (handle: number) => this.#forOurs(handle, () => 0),
    __syscall_fchown32: (handle: number) => this.#forOurs(handle, () => 0),
    __syscall_fcntl64: (handle: number, command: number, argument: number) =>
      this.#forOurs(handle, () => this.#lock(command, argument)),
    __syscall_ftruncate64: (handle: number, length: bigint) =>
      this.#forOurs(handle, (file) => {
        this.#refuseAfterFailedSync();
        this.#files.ftruncateSync(file.fd, Number(length));
        return 0;
      }),
    fd_close: (handle: number) => this.#forOurs(handle, (file) => this.#close(handle, file)),
    fd_read: (handle: number, vectors: number, count: number, into: number) =>
      this.#forOurs(handle, (file) =>
        this.#transfer(vectors, count, into, (at, length) => this.#read(file, at, length)),
      ),
    fd_write: (handle: number, vectors: number, count: number, into: number) =>
      this.#forOurs(handle, (file) =>
        this.#transfer(vectors, count, into, (at, length) => this.#write(file, at, length)),
      ),
    fd_seek: (handle: number, offset: bigint, whence: number, into: number) =>
      this.#forOurs(handle, (file) => {
        const base = [0, file.position, whence === 2 ? this.#files.fstatSync(file.fd).size : 0][whence] ?? 0;
        file.position = base + Number(offset);
        this.#view.setBigInt64(into, BigInt(file.position), true);
        return 0;
      }),
    fd_sync: (handle: number) => this.#forOurs(handle, (file) => this.#sync(file)),
  };

  #forOurs(handle: number, act: (file: OpenFile) => number): number | undefined {
    const file = this.#open.get(handle);
    return file === undefined ? undefined : act(file);
  }

  #openPath(path: string, flags: number): number | undefined {
    const real = this.#realPath(path);
    if (real === undefined) return path === "/" || path === "." ? this.#openDirectory() : undefined;
    const isNew = !this.#files.existsSync(real);
    const fd = this.#files.openSync(real, nodeFlags(flags), 0o600);
    const kind = /dbfile_\d+$/.test(path) ? "database" : "log";
    if (kind === "database" && (flags & 3) !== 0) {
      // SQLite makes the name of a log durable by itself, but not that of the database.
      if (isNew) syncDirectory(this.#files, dirname(real));
      markInUse(this.#files, fd);
    }
    return this.#keep({ fd, path: real, kind, position: 0 });
  }

  #openDirectory(): number | undefined {
    const database = [...this.#databases.values()].at(-1);
    if (database === undefined) return undefined;
    const path = dirname(database);
    return this.#keep({ fd: this.#files.openSync(path, "r"), path, kind: "directory", position: 0 });
  }

  #keep(file: OpenFile): number {
    const handle = this.#nextHandle++;
    this.#open.set(handle, file);
    return handle;
  }

  #close(handle: number, file: OpenFile): number {
    this.#open.delete(handle);
    try {
      if (file.kind === "database" && !this.#syncFailed) this.#free(file);
    } finally {
      this.#files.closeSync(file.fd);
    }
    return 0;
  }

  /** Gives the file back to other programs, unless a log still holds a part of it. */
  #free(file: OpenFile): void {
    const log = liveName(file.path, "-wal");
    if (this.#files.existsSync(log) && this.#files.statSync(log).size > 0) return;
    syncDirectory(this.#files, dirname(file.path)); // The log must be gone for good before a stranger may write.
    markFree(this.#files, file.fd);
  }

  #read(file: OpenFile, at: number, length: number): number {
    const read = this.#files.readSync(file.fd, this.#bytes, at, length, file.position);
    if (file.kind === "database" && file.position === 0 && read >= 16) showMagic(this.#bytes, at);
    file.position += read;
    return read;
  }

  #write(file: OpenFile, at: number, length: number): number {
    this.#refuseAfterFailedSync();
    const write = (): number => this.#files.writeSync(file.fd, this.#bytes, at, length, file.position);
    const isHead = file.kind === "database" && file.position === 0 && length >= 16;
    const written = isHead ? withMark(this.#bytes, at, write) : write();
    file.position += written;
    return written;
  }

  #sync(file: OpenFile): number {
    this.#refuseAfterFailedSync();
    try {
      if (file.kind === "directory") this.#files.fsyncSync(file.fd);
      else this.#files.fdatasyncSync(file.fd);
    } catch (error) {
      this.#syncFailed = true;
      throw error;
    }
    return 0;
  }

  /** After a failed fsync the kernel may drop the unwritten pages and report success the next time: write no more. */
  #refuseAfterFailedSync(): void {
    if (this.#syncFailed) throw Object.assign(new Error("an earlier fsync failed"), { code: "EIO" });
  }

  /** F_GETLK (12): nobody else has a lock, since the directory of the daemon is locked as a whole. */
  #lock(command: number, argument: number): number {
    if (command === 12) this.#view.setInt16(this.#view.getUint32(argument, true), 2, true);
    return 0;
  }

  #transfer(
    vectors: number,
    count: number,
    into: number,
    move: (at: number, length: number) => number,
  ): number {
    let total = 0;
    for (let index = 0; index < count; index++) {
      const at = this.#view.getUint32(vectors + 8 * index, true);
      const length = this.#view.getUint32(vectors + 8 * index + 4, true);
      const moved = length === 0 ? 0 : move(at, length);
      total += moved;
      if (moved < length) break;
    }
    this.#view.setUint32(into, total, true);
    return 0;
  }

  #statPath(path: number, into: number): number | undefined {
    const real = this.#realPath(this.#text(path));
    return real === undefined ? undefined : this.#writeStat(this.#files.statSync(real), into);
  }

  #statHandle(handle: number, into: number): number | undefined {
    return this.#forOurs(handle, (file) => this.#writeStat(this.#files.fstatSync(file.fd), into));
  }

  /** Emscripten's `struct stat` of wasm32. SQLite looks at kind, size, device and inode only. */
  #writeStat(
    stat: { dev: number; ino: number; mode: number; nlink: number; size: number },
    into: number,
  ): number {
    this.#bytes.fill(0, into, into + statBytes);
    this.#view.setUint32(into, stat.dev, true);
    this.#view.setUint32(into + 4, stat.mode, true);
    this.#view.setUint32(into + 8, stat.nlink, true);
    this.#view.setBigInt64(into + 24, BigInt(stat.size), true);
    this.#view.setInt32(into + 32, 4096, true);
    this.#view.setBigInt64(into + 88, BigInt(stat.ino), true);
    return 0;
  }

  #realPath(path: string): string | undefined {
    const [, name, suffix] = /^\/?(dbfile_\d+)(-wal|-journal)?$/.exec(path) ?? [];
    if (name === undefined) return undefined;
    if (this.#announced !== undefined && !this.#databases.has(name)) {
      this.#databases.set(name, this.#announced);
      this.#announced = undefined;
    }
    const database = this.#databases.get(name);
    return database === undefined || suffix === undefined ? database : liveName(database, suffix);
  }

  #text(at: number): string {
    return new TextDecoder().decode(this.#bytes.subarray(at, this.#bytes.indexOf(0, at)));
  }

  /** The memory's buffer is another one each time it has grown. */
  #lookAtMemory(): void {
    if (this.#memory === undefined || this.#bytes.buffer === this.#memory.buffer) return;
    this.#bytes = new Uint8Array(this.#memory.buffer);
    this.#view = new DataView(this.#memory.buffer);
  }
}

function nodeFlags(flags: number): number {
  let node = (flags & 3) === 0 ? constants.O_RDONLY : constants.O_RDWR;
  if ((flags & 0x40) !== 0) node |= constants.O_CREAT;
  if ((flags & 0x80) !== 0) node |= constants.O_EXCL;
  if ((flags & 0x200) !== 0) node |= constants.O_TRUNC;
  return node;
}

function errorNumber(error: unknown): number {
  const code = error instanceof Error && "code" in error ? String(error.code) : "";
  return errno[code] ?? ioError;
}
