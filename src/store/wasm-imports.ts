import { OutdialError } from "#base";

/*
 * The production build of sql.js names its WebAssembly imports a, b, c…, but lists them in the alphabetical
 * order of their real names, as the debug build of the same package does with the real names. This is that
 * list for sql.js 1.16.0; a test derives it again from the installed package.
 */
export const importNames = [
  "__assert_fail",
  "__syscall_chmod",
  "__syscall_faccessat",
  "__syscall_fchmod",
  "__syscall_fchown32",
  "__syscall_fcntl64",
  "__syscall_fstat64",
  "__syscall_ftruncate64",
  "__syscall_getcwd",
  "__syscall_geteuid32",
  "__syscall_lstat64",
  "__syscall_mkdirat",
  "__syscall_newfstatat",
  "__syscall_openat",
  "__syscall_readlinkat",
  "__syscall_rmdir",
  "__syscall_stat64",
  "__syscall_unlinkat",
  "__syscall_utimensat",
  "_abort_js",
  "_emscripten_runtime_keepalive_clear",
  "_localtime_js",
  "_mmap_js",
  "_munmap_js",
  "_setitimer_js",
  "_tzset_js",
  "emscripten_date_now",
  "emscripten_get_heap_max",
  "emscripten_get_now",
  "emscripten_resize_heap",
  "environ_get",
  "environ_sizes_get",
  "fd_close",
  "fd_fdstat_get",
  "fd_read",
  "fd_seek",
  "fd_sync",
  "fd_write",
  "proc_exit",
  "warnLegacyFunction",
] as const;

/** The imports answered from the real disk, with their types: i is i32, j is i64, result first. */
export const fileCalls = [
  ["__syscall_faccessat", "i(iiii)"],
  ["__syscall_fchmod", "i(ii)"],
  ["__syscall_fchown32", "i(iii)"],
  ["__syscall_fcntl64", "i(iii)"],
  ["__syscall_fstat64", "i(ii)"],
  ["__syscall_ftruncate64", "i(ij)"],
  ["__syscall_lstat64", "i(ii)"],
  ["__syscall_newfstatat", "i(iiii)"],
  ["__syscall_openat", "i(iiii)"],
  ["__syscall_readlinkat", "i(iiii)"],
  ["__syscall_stat64", "i(ii)"],
  ["__syscall_unlinkat", "i(iii)"],
  ["__syscall_utimensat", "i(iiii)"],
  ["fd_close", "i(i)"],
  ["fd_read", "i(iiii)"],
  ["fd_seek", "i(ijii)"],
  ["fd_sync", "i(i)"],
  ["fd_write", "i(iiii)"],
] as const;

export type FileCallName = (typeof fileCalls)[number][0];

/** What `wasm` wants from outside: signature by import key. Reads the type and import sections only. */
export function importSignatures(wasm: Uint8Array): ReadonlyMap<string, string> {
  const reader = sectionReader(wasm);
  const types: string[] = [];
  const imports = new Map<string, string>();
  for (let section = reader.next(); section !== undefined; section = reader.next()) {
    if (section === 1) reader.times(() => types.push(readType(reader)));
    if (section === 2) reader.times(() => readImport(reader, types, imports));
    if (section > 2) break;
  }
  return imports;
}

/**
 * Real name → key of every import, `keys` being the glue's own list in its order.
 * Throws `store-engine-mismatch` when the build is not the one this program knows.
 */
export function nameImports(
  keys: readonly string[],
  signatures: ReadonlyMap<string, string>,
): ReadonlyMap<string, string> {
  if (keys.length !== importNames.length) {
    throw mismatch(`it has ${keys.length} imports where ${importNames.length} are known`);
  }
  const named = new Map(importNames.map((name, index) => [name as string, keys[index] ?? ""]));
  for (const [name, expected] of fileCalls) {
    const found = signatures.get(named.get(name) ?? "");
    if (found !== expected) throw mismatch(`${name} is ${found ?? "absent"} where ${expected} is known`);
  }
  return named;
}

/** The refusal to run on a sql.js whose inside is not the expected one. */
export function mismatch(what: string, cause?: unknown): OutdialError<"store-engine-mismatch"> {
  return new OutdialError("store-engine-mismatch", `This is not the sql.js outdial was built for: ${what}.`, {
    hint: 'Install outdial again, or set store.engine to "node-sqlite".',
    cause,
  });
}

interface SectionReader {
  next(): number | undefined;
  times(read: () => void): void;
  byte(): number;
  number(): number;
  text(): string;
}

function sectionReader(wasm: Uint8Array): SectionReader {
  let at = 8; // Behind the magic number and the version.
  let end = at;
  const byte = (): number => wasm[at++] ?? 0;
  function number(): number {
    let value = 0;
    for (let shift = 0; ; shift += 7) {
      const octet = byte();
      value |= (octet & 0x7f) << shift;
      if ((octet & 0x80) === 0) return value >>> 0;
    }
  }
  return {
    next() {
      at = end;
      if (at >= wasm.length) return undefined;
      const id = byte();
      const length = number();
      end = at + length;
      return id;
    },
    times(read) {
      for (let left = number(); left > 0; left--) read();
    },
    byte,
    number,
    text() {
      const length = number();
      at += length;
      return new TextDecoder().decode(wasm.subarray(at - length, at));
    },
  };
}

const letters: Readonly<Record<number, string>> = { 0x7f: "i", 0x7e: "j", 0x7d: "f", 0x7c: "d" };

function readType(reader: SectionReader): string {
  reader.byte(); // 0x60: a function, the only kind here.
  const list = (): string => {
    let text = "";
    reader.times(() => (text += letters[reader.byte()] ?? "?"));
    return text;
  };
  const parameters = list();
  return `${list()}(${parameters})`;
}

function readImport(reader: SectionReader, types: readonly string[], into: Map<string, string>): void {
  reader.text(); // Module: one for all.
  const key = reader.text();
  const kind = reader.byte();
  if (kind !== 0) throw mismatch(`import ${key} is no function`);
  into.set(key, types[reader.number()] ?? "");
}
