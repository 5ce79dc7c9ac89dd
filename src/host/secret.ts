import { OutdialError } from "#base";
import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { readFile, stat } from "node:fs/promises";
import { fileURLToPath } from "node:url";

/** Where a secret is kept; never the secret. */
export type SecretPlace =
  | { readonly type: "env"; readonly name: string }
  | { readonly type: "file"; readonly path: string }
  /** A shell command whose standard output is the secret. */
  | { readonly type: "command"; readonly command: string }
  | { readonly type: "keychain"; readonly name: string };

const keychainMs = 3_000;
const commandMs = 10_000;

/** How a place is named in messages and maps: `env:NAME`, `file:PATH`, `command:…`, `keychain:NAME`. */
export function secretName(place: SecretPlace): string {
  return `${place.type}:${"name" in place ? place.name : "path" in place ? place.path : place.command}`;
}

/** Reads a secret from where it is. Rejects with `secret-unusable`: which place, and what to do; never what was read. */
export async function readSecret(place: SecretPlace): Promise<string> {
  const found = (await read(place)).trim();
  if (found !== "") return found;
  throw unusable(place, "is empty");
}

async function read(place: SecretPlace): Promise<string> {
  switch (place.type) {
    case "env":
      return process.env[place.name] ?? "";
    case "file":
      return readOwnFile(place);
    case "command":
      return outputOf(place, ["/bin/sh", "-c", place.command], commandMs);
    case "keychain":
      // In a child that can be killed: with a session bus that never answers the native call blocks for ever.
      return outputOf(
        place,
        [process.execPath, outdialProgram(), "__keyring", "get", place.name],
        keychainMs,
      );
  }
}

async function readOwnFile(place: SecretPlace & { type: "file" }): Promise<string> {
  try {
    const { mode } = await stat(place.path);
    if ((mode & 0o077) !== 0) throw unusable(place, "can be read by others", `chmod 600 ${place.path}`);
    return await readFile(place.path, "utf8");
  } catch (error) {
    if (error instanceof OutdialError) throw error;
    throw unusable(
      place,
      error instanceof Error && "code" in error ? `cannot be read (${String(error.code)})` : "cannot be read",
    );
  }
}

function outputOf(
  place: SecretPlace,
  [program = "", ...words]: readonly string[],
  withinMs: number,
): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  const child = spawn(program, words, { stdio: ["ignore", "pipe", "ignore"] });
  const timer = setTimeout(() => {
    child.kill("SIGKILL");
    reject(unusable(place, `gave no answer within ${withinMs / 1000} s`));
  }, withinMs);
  let output = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => (output += text));
  child.on("error", () => reject(unusable(place, "could not be asked")));
  child.on("close", (code) => {
    clearTimeout(timer);
    if (code === 0) resolve(output);
    else reject(unusable(place, `answered with exit code ${code}`));
  });
  return promise;
}

/** `bin/outdial` beside the bundle or the source tree. */
function outdialProgram(): string {
  const found = ["../bin/outdial", "../../bin/outdial"].map((path) =>
    fileURLToPath(new URL(path, import.meta.url)),
  );
  return found.find((path) => existsSync(path)) ?? "outdial";
}

function unusable(
  place: SecretPlace,
  what: string,
  hint = "Look at api_key of the provider in config.toml.",
): OutdialError {
  return new OutdialError("secret-unusable", `The secret ${secretName(place)} ${what}`, { hint });
}
