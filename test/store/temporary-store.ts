import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Store } from "../../src/store/contract.ts";
import { realFiles, type FileSystem } from "../../src/store/file-system.ts";
import { openStoreFile, type FileOptions } from "../../src/store/open-file.ts";
import { storeOver } from "../../src/store/store-over.ts";
import { furnish } from "./sample-rows.ts";

/** A new directory that is gone at the end. */
export function temporaryDirectory(): Disposable & { readonly path: string; file(name: string): string } {
  const path = mkdtempSync(join(tmpdir(), "outdial-store-"));
  return {
    path,
    file: (name) => join(path, name),
    [Symbol.dispose]: () => rmSync(path, { recursive: true, force: true }),
  };
}

/** A store in this thread, on a file that stays when it is closed. */
export async function openHere(options: Partial<FileOptions> & { readonly file: string }): Promise<Store> {
  const file = await openStoreFile({ engine: "sqljs", ...options });
  return storeOver(file.invoke, file.close);
}

/** The real disk without waiting for it: for tests in which nothing dies. */
export const hurriedFiles: FileSystem = {
  ...realFiles,
  fdatasyncSync: () => undefined,
  fsyncSync: () => undefined,
};

/** A store with an account and a playbook, in a directory of its own; closed and gone at the end. */
export async function temporaryStore(
  options: Partial<FileOptions> = {},
): Promise<AsyncDisposable & { readonly store: Store; readonly file: string }> {
  const directory = temporaryDirectory();
  const file = directory.file("outdial.db");
  const store = await openHere({ files: hurriedFiles, ...options, file });
  await furnish(store);
  return {
    store,
    file,
    async [Symbol.asyncDispose]() {
      await store.close();
      directory[Symbol.dispose]();
    },
  };
}
