import { OutdialError } from "#base";
import { ensurePrivateDir, writeFileAtomic } from "#host";
import { readFile, stat } from "node:fs/promises";
import { dirname } from "node:path";

/** Passwords of trunks, by name. The store only knows the names. */
export interface Secrets {
  /** Undefined when there is none of that name. */
  find(name: string): string | undefined;
  set(name: string, value: string): Promise<void>;
  remove(name: string): Promise<void>;
}

/**
 * Keeps secrets in an owner-only JSON file. Rejects with `secrets-exposed` when others may read it:
 * what is written there then has to count as known.
 */
export async function openSecrets(file: string): Promise<Secrets> {
  const values = new Map(Object.entries(await readSecrets(file)));
  return { find: (name) => values.get(name), set, remove };

  async function set(name: string, value: string): Promise<void> {
    values.set(name, value);
    await save();
  }

  async function remove(name: string): Promise<void> {
    if (values.delete(name)) await save();
  }

  async function save(): Promise<void> {
    await ensurePrivateDir(dirname(file));
    await writeFileAtomic(file, `${JSON.stringify(Object.fromEntries(values), null, 2)}\n`);
  }
}

async function readSecrets(file: string): Promise<Record<string, string>> {
  try {
    const { mode } = await stat(file);
    if ((mode & 0o077) !== 0) {
      throw new OutdialError("secrets-exposed", `${file} can be read by others`, {
        hint: `Change the passwords in it, then: chmod 600 ${file}`,
      });
    }
    const content: unknown = JSON.parse(await readFile(file, "utf8"));
    return Object.fromEntries(Object.entries(content ?? {}).filter((entry) => typeof entry[1] === "string"));
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return {};
    throw error;
  }
}
