import { realFiles, syncDirectory, type FileSystem } from "./file-system.ts";
import { FileCalls } from "./file-calls.ts";
import { takeOver } from "./in-use-mark.ts";
import { fileCalls, importSignatures, mismatch, nameImports } from "./wasm-imports.ts";
import { createRequire } from "node:module";
import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import {
  exportedMemory,
  runWasm,
  type WasmCall,
  type WasmImports,
  type WasmInstance,
} from "./web-assembly.ts";
import type { Database, InitSqlJsStatic, SqlJsStatic } from "sql.js";

/** sql.js with the real disk under it. */
export interface Disk {
  /** Opens or creates a database file, which nobody else can open until it is closed. */
  open(path: string): Database;
}

/**
 * Loads sql.js so that it works on real files: the hook `instantiateWasm` lets us answer the file calls of its
 * WebAssembly module. Rejects with `store-engine-mismatch` when the installed build is not the known one.
 */
export async function loadDisk(files: FileSystem = realFiles): Promise<Disk> {
  const require = createRequire(import.meta.url);
  // sql.js keeps the first module that it has loaded, with that one's files: ask for a fresh one.
  delete require.cache[require.resolve("sql.js")];
  const load: InitSqlJsStatic = require("sql.js");
  const wasm = new Uint8Array(readFileSync(require.resolve("sql.js/dist/sql-wasm.wasm")));
  const calls = new FileCalls(files);
  // An error thrown inside the hook would be printed by sql.js and never come back to us.
  const engine = await new Promise<SqlJsStatic>((resolve, reject) => {
    load({
      wasmBinary: wasm.buffer,
      instantiateWasm: (imports: WasmImports, done: (instance: WasmInstance) => void) => {
        try {
          done(instantiate(wasm, imports, calls));
        } catch (error) {
          reject(error instanceof Error ? error : new Error(String(error)));
        }
        return {};
      },
    }).then(resolve, reject);
  });
  return {
    open(path) {
      takeOver(files, path);
      calls.announce(path);
      return new engine.Database([]);
    },
  };
}

/**
 * Creates, commits and closes a small database in `directory` and reads the file with node:fs:
 * proof that what sql.js commits is on the disk. Throws `store-engine-mismatch` when it is not.
 */
export function testDisk(disk: Disk, directory: string, files: FileSystem = realFiles): void {
  const path = join(directory, `.store-test-${process.pid}`);
  const proof = "outdial wrote this";
  try {
    const database = disk.open(path);
    database.exec("pragma locking_mode = exclusive; pragma journal_mode = wal; create table proof (text)");
    database.exec(`insert into proof values ('${proof}')`);
    database.close();
    const written = readFileSync(path, "latin1");
    if (!written.startsWith("SQLite format 3\0") || !written.includes(proof))
      throw new Error("the file is another");
  } catch (error) {
    writePlainly(files, path); // Throws when it is the disk that fails.
    throw mismatch("what it commits does not reach the disk", error);
  } finally {
    for (const suffix of ["", "-live-wal", "-live-journal"]) files.rmSync(path + suffix, { force: true });
    syncDirectory(files, dirname(path));
  }
}

function writePlainly(files: FileSystem, path: string): void {
  const fd = files.openSync(path, "w", 0o600);
  try {
    files.writeSync(fd, new Uint8Array(8192), 0, 8192, 0);
    files.fdatasyncSync(fd);
  } finally {
    files.closeSync(fd);
  }
}

function instantiate(wasm: Uint8Array, imports: WasmImports, calls: FileCalls): WasmInstance {
  const [[space, glue] = [], ...others] = Object.entries(imports);
  if (space === undefined || glue === undefined || others.length > 0)
    throw mismatch("its imports are elsewhere");
  const keys = nameImports(Object.keys(glue), importSignatures(wasm));
  const replaced: Record<string, WasmCall> = { ...glue };
  for (const [name] of fileCalls) {
    const key = keys.get(name) ?? "";
    const original = glue[key];
    if (original === undefined) throw mismatch(`it has no ${name}`);
    replaced[key] = calls.import(name, original);
  }
  const instance = runWasm(wasm, { [space]: replaced });
  const memory = exportedMemory(instance);
  if (memory === undefined) throw mismatch("it exports no memory");
  calls.useMemory(memory);
  return instance;
}
