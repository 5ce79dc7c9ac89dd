import { dirname, resolve } from "node:path";
import { realFiles, type FileSystem } from "../../src/store/file-system.ts";

/** What was asked of the disk, in order. */
export type DiskStep =
  | { readonly type: "create" | "unlink" | "sync"; readonly path: string }
  | { readonly type: "write"; readonly path: string; readonly at: number; readonly bytes: Uint8Array }
  | { readonly type: "truncate"; readonly path: string; readonly length: number }
  | { readonly type: "sync-names" }
  | { readonly type: "acknowledged"; readonly n: number };

/** The real disk, telling each change to `note`; what is to be durable is only told. */
export function tracedFiles(note: (step: DiskStep) => void): FileSystem {
  const paths = new Map<number, string>();
  const pathOf = (fd: number): string => paths.get(fd) ?? "";
  return {
    ...realFiles,
    openSync: ((path: string, flags: string | number, mode?: number) => {
      const isNew = !realFiles.existsSync(path);
      const fd = realFiles.openSync(path, flags, mode);
      if (isNew) note({ type: "create", path: resolve(path) });
      paths.set(fd, resolve(path));
      return fd;
    }) as FileSystem["openSync"],
    writeSync: ((fd: number, bytes: Uint8Array, from: number, length: number, at: number) => {
      const written = realFiles.writeSync(fd, bytes, from, length, at);
      note({ type: "write", path: pathOf(fd), at, bytes: bytes.slice(from, from + written) });
      return written;
    }) as FileSystem["writeSync"],
    ftruncateSync(fd, length) {
      realFiles.ftruncateSync(fd, length);
      note({ type: "truncate", path: pathOf(fd), length: length ?? 0 });
    },
    unlinkSync(path) {
      realFiles.unlinkSync(path);
      note({ type: "unlink", path: resolve(String(path)) });
    },
    rmSync(path, options) {
      if (realFiles.existsSync(path)) note({ type: "unlink", path: resolve(String(path)) });
      realFiles.rmSync(path, options);
    },
    fdatasyncSync(fd) {
      note({ type: "sync", path: pathOf(fd) });
    },
    fsyncSync() {
      note({ type: "sync-names" });
    },
  };
}

interface ModelFile {
  /** What is certainly on the disk. */
  readonly durable: Image;
  isDurable: boolean;
  /** What has been asked for since. */
  readonly pending: Exclude<DiskStep, { type: "sync-names" | "acknowledged" }>[];
  exists: boolean;
}

/** The content of a file, changed in place. */
class Image {
  #bytes: Uint8Array;
  #length: number;

  constructor(bytes: Uint8Array = new Uint8Array(0)) {
    this.#bytes = bytes.slice();
    this.#length = bytes.length;
  }

  get bytes(): Uint8Array {
    return this.#bytes.subarray(0, this.#length);
  }

  resize(length: number): void {
    if (length > this.#bytes.length) {
      const grown = new Uint8Array(length * 2);
      grown.set(this.bytes);
      this.#bytes = grown;
    }
    if (length < this.#length) this.#bytes.fill(0, length, this.#length);
    this.#length = length;
  }

  write(at: number, bytes: Uint8Array): void {
    if (at + bytes.length > this.#length) this.resize(at + bytes.length);
    this.#bytes.set(bytes, at);
  }
}

/**
 * A disk that obeys fsync and nothing else: at a power cut, what was not synced is there, lost or torn at random;
 * names made or removed since the last sync of the directory may be back.
 */
export class PoweredDisk {
  readonly #files = new Map<string, ModelFile>();
  readonly #random: () => number;

  constructor(random: () => number) {
    this.#random = random;
  }

  take(step: DiskStep): void {
    switch (step.type) {
      case "acknowledged":
        return;
      case "sync-names":
        for (const file of this.#files.values()) file.isDurable = file.exists;
        return;
      case "create": {
        const { isDurable } = this.#file(step.path);
        this.#files.set(step.path, { durable: new Image(), isDurable, pending: [], exists: true });
        return;
      }
      case "unlink":
        this.#file(step.path).exists = false;
        return;
      case "sync": {
        const file = this.#file(step.path);
        for (const pending of file.pending.splice(0)) apply(file.durable, pending, () => true);
        return;
      }
      case "write":
      case "truncate":
        this.#file(step.path).pending.push(step);
    }
  }

  /** The files of `directory` as a power cut now could leave them; call as often as wanted. */
  cut(directory: string): ReadonlyMap<string, Uint8Array> {
    const chance = this.#random();
    const keep = chance < 0.15 ? 0 : chance < 0.3 ? 1 : this.#random();
    const left = new Map<string, Uint8Array>();
    for (const [path, file] of this.#files) {
      const exists = this.#random() < 0.5 ? file.exists : file.isDurable;
      if (!exists || dirname(path) !== directory) continue;
      const image = new Image(file.durable.bytes);
      for (const step of file.pending) {
        if (this.#random() >= keep) continue;
        const isTorn = this.#random() < 0.2;
        apply(image, step, () => !isTorn || this.#random() < 0.5);
      }
      left.set(path, image.bytes);
    }
    return left;
  }

  #file(path: string): ModelFile {
    const file = this.#files.get(path) ?? {
      durable: new Image(),
      isDurable: false,
      pending: [],
      exists: false,
    };
    this.#files.set(path, file);
    return file;
  }
}

/** One change, sector by sector as far as `reaches` says. */
function apply(image: Image, step: ModelFile["pending"][number], reaches: () => boolean): void {
  if (step.type === "truncate") image.resize(step.length);
  if (step.type !== "write") return;
  for (let at = 0; at < step.bytes.length; at += 512) {
    if (reaches()) image.write(step.at + at, step.bytes.subarray(at, at + 512));
  }
}
