import { OutdialError } from "#base";
import { chmod, mkdir, open, rename, rm, stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import { DatabaseSync } from "node:sqlite";

/** Makes a directory (and its parents) that only its owner may enter; takes others' rights away from an existing one. */
export async function ensurePrivateDir(path: string): Promise<void> {
  await mkdir(path, { recursive: true, mode: 0o700 });
  const { mode } = await stat(path);
  if ((mode & 0o077) !== 0) await chmod(path, 0o700);
}

/** Replaces a file in one step, durable when the promise resolves; `mode` defaults to owner-only. */
export async function writeFileAtomic(
  path: string,
  content: string | Uint8Array,
  mode = 0o600,
): Promise<void> {
  const draft = `${path}.${process.pid}.new`;
  try {
    await writeDurably(draft, content, mode);
    await rename(draft, path);
  } catch (error) {
    await rm(draft, { force: true });
    throw error;
  }
  await syncDirectory(dirname(path));
}

/**
 * Takes the directory for this process, or rejects with `directory-in-use` at once. The lock is an exclusive
 * transaction on a file of its own: the system frees it on kill -9 and keeps it while the process is stopped.
 */
export async function lockDirectory(path: string): Promise<Disposable> {
  await ensurePrivateDir(path);
  const lock = new DatabaseSync(join(path, "lock"));
  try {
    lock.exec("pragma busy_timeout = 0; begin exclusive");
  } catch (cause) {
    lock.close();
    throw new OutdialError("directory-in-use", `Another daemon is using ${path}`, {
      hint: "Use the running one (outdial status), or stop it first (outdial daemon stop).",
      cause,
    });
  }
  return { [Symbol.dispose]: () => lock.close() };
}

async function writeDurably(path: string, content: string | Uint8Array, mode: number): Promise<void> {
  const file = await open(path, "w", mode);
  try {
    await file.chmod(mode);
    await file.writeFile(content);
    await file.sync();
  } finally {
    await file.close();
  }
}

async function syncDirectory(path: string): Promise<void> {
  const directory = await open(path, "r");
  try {
    await directory.sync();
  } finally {
    await directory.close();
  }
}
