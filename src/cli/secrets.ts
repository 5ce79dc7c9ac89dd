import { ensurePrivateDir, writeFileAtomic, type Paths } from "#host";
import { spawn } from "node:child_process";
import { readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { CommandError } from "./command-error.ts";
import type { Profile, SecretPlace } from "./config.ts";
import type { Io } from "./io.ts";
import { askKeyring } from "./keyring.ts";
import type { Notes } from "./notes.ts";

export interface SecretStore {
  readonly io: Io;
  readonly paths: Paths;
  readonly notes: Notes;
}

/** A token and where it was found, for `auth status`. */
export interface FoundSecret {
  readonly token: string;
  readonly place: string;
}

/**
 * Looks for a token: OUTDIAL_TOKEN_COMMAND, OUTDIAL_TOKEN_FILE, OUTDIAL_TOKEN, then what the profile names
 * (command, file), then the keychain or the credentials file. Undefined when there is none anywhere.
 */
export async function findToken(
  store: SecretStore,
  name: string | undefined,
  profile: Profile | undefined,
): Promise<FoundSecret | undefined> {
  const { env } = store.io;
  const command = env["OUTDIAL_TOKEN_COMMAND"] || profile?.tokenCommand;
  const file = env["OUTDIAL_TOKEN_FILE"] || profile?.tokenFile;
  if (env["OUTDIAL_TOKEN_COMMAND"] && command)
    return { token: await outputOf(store.io, command), place: "command" };
  if (env["OUTDIAL_TOKEN_FILE"] && file) return { token: await secretFile(file), place: file };
  if (env["OUTDIAL_TOKEN"]) return { token: env["OUTDIAL_TOKEN"], place: "OUTDIAL_TOKEN" };
  if (command) return { token: await outputOf(store.io, command), place: "command" };
  if (file) return { token: await secretFile(file), place: file };
  if (name === undefined) return undefined;
  if (profile?.tokenIn === "keychain") return keptInKeychain(store, name);
  const token = await keptInFile(store.paths, name);
  return token === undefined ? undefined : { token, place: tokensFile(store.paths) };
}

/** Puts a token into the keychain, or (with a warning) into the owner-only file, and says where. */
export async function keepToken(store: SecretStore, name: string, token: string): Promise<SecretPlace> {
  const mode = store.io.env["OUTDIAL_KEYRING"] ?? "auto";
  if (mode === "auto") {
    const answer = await askKeyring(store.io, "set", name, token);
    if (answer.type === "done") {
      await changeCredentials(store.paths, name, undefined);
      return "keychain";
    }
    store.notes.warn(`no keychain: ${answer.why}`);
  }
  await changeCredentials(store.paths, name, token);
  store.notes.warn(plainTextWarning(store.paths));
  return "file";
}

/** Removes a token from wherever it is. */
export async function forgetToken(
  store: SecretStore,
  name: string,
  place: SecretPlace | undefined,
): Promise<void> {
  if (place === "keychain") {
    const answer = await askKeyring(store.io, "delete", name);
    if (answer.type === "unavailable") {
      throw new CommandError("unexpected", "the token is still in the keychain", { why: answer.why });
    }
  }
  await changeCredentials(store.paths, name, undefined);
}

/** Said at every write of, and every look at, a token in a file. */
export function plainTextWarning(paths: Paths): string {
  return `the token is kept as plain text in ${tokensFile(paths)} (readable by you only)`;
}

async function keptInKeychain(store: SecretStore, name: string): Promise<FoundSecret> {
  const answer = await askKeyring(store.io, "get", name);
  if (answer.type === "done" && answer.secret !== undefined)
    return { token: answer.secret, place: "keychain" };
  throw new CommandError(
    "auth",
    `the token of profile ${name} is expected in the keychain, but cannot be read`,
    {
      why: answer.type === "done" ? "the keychain is locked, or the entry is gone" : answer.why,
      fix: "unlock the keychain, give OUTDIAL_TOKEN_FILE, or outdial auth login again",
    },
  );
}

/** A file with one secret. Others may not read it. */
export async function secretFile(path: string): Promise<string> {
  const text = (await readOwn(path)).trim();
  if (text === "") throw new CommandError("usage", `${path} is empty`, { fix: "write the secret into it" });
  return text;
}

async function readOwn(path: string): Promise<string> {
  const info = await stat(path).catch((cause: unknown) => {
    throw new CommandError("usage", `cannot read ${path}`, { why: messageOf(cause), cause });
  });
  if ((info.mode & 0o077) !== 0 && info.isFile()) {
    throw new CommandError("usage", `${path} can be read by others`, { fix: `chmod 600 ${path}` });
  }
  return readFile(path, "utf8");
}

async function keptInFile(paths: Paths, name: string): Promise<string | undefined> {
  const present = await stat(tokensFile(paths)).catch(() => undefined);
  if (present === undefined) return undefined;
  const token = wholeFile(await readOwn(tokensFile(paths)), paths)[name];
  return typeof token === "string" ? token : undefined;
}

async function changeCredentials(paths: Paths, name: string, token: string | undefined): Promise<void> {
  const present = await stat(tokensFile(paths)).catch(() => undefined);
  if (present === undefined && token === undefined) return;
  const file: Record<string, unknown> =
    present === undefined ? {} : { ...wholeFile(await readOwn(tokensFile(paths)), paths) };
  if (token === undefined && !Object.hasOwn(file, name)) return;
  if (token === undefined) delete file[name];
  else file[name] = token;
  await ensurePrivateDir(paths.configDir);
  await writeFileAtomic(tokensFile(paths), JSON.stringify(file, undefined, 2), 0o600);
}

/** Not the daemon's file of trunk passwords: it holds that one in memory and writes it whole. */
function tokensFile(paths: Paths): string {
  return join(paths.configDir, "tokens.json");
}

function wholeFile(text: string, paths: Paths): Readonly<Record<string, unknown>> {
  try {
    const value = JSON.parse(text) as unknown;
    if (typeof value === "object" && value !== null && !Array.isArray(value)) return { ...value };
  } catch {
    // Reported below, with the name of the file.
  }
  throw new CommandError("usage", `${tokensFile(paths)} is not JSON`, { fix: "repair or remove the file" });
}

function outputOf(io: Io, command: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const child = spawn(command, {
      shell: true,
      stdio: ["ignore", "pipe", "inherit"],
      env: { ...io.env },
    });
    let out = "";
    child.stdout.setEncoding("utf8").on("data", (text: string) => (out += text));
    child.on("error", reject);
    child.on("close", (code) => {
      if (code === 0 && out.trim() !== "") resolve(out.trim());
      else
        reject(
          new CommandError("auth", `the token command gave no token (it exited with ${code ?? "a signal"})`),
        );
    });
  });
}

function messageOf(cause: unknown): string {
  return cause instanceof Error ? cause.message : String(cause);
}
