import type { Paths } from "#host";
import { access, constants, readFile, stat, statfs } from "node:fs/promises";
import { join } from "node:path";
import { isPrivate, modeText, type Check } from "./doctor-check.ts";

const mebibyte = 1024 * 1024;
/** Half an hour of a hundred recorded calls. */
const wantedBytes = 1024 * mebibyte;
/** The store refuses to write with hardly more. */
const neededBytes = 100 * mebibyte;

/** config.toml and what is kept beside it. */
export async function checkConfig(paths: Paths): Promise<readonly Check[]> {
  return [await checkToml(paths.configFile), ...(await checkSecretFiles(paths))];
}

async function checkToml(file: string): Promise<Check> {
  const check = "config";
  const text = await readFile(file, "utf8").catch((error: unknown) => error);
  if (typeof text !== "string") {
    const missing = text instanceof Error && "code" in text && text.code === "ENOENT";
    if (missing) return { check, state: "ok", finding: "no config.toml; everything is as it comes" };
    return { check, state: "failed", finding: `${file} cannot be read`, fix: `chmod u+r ${file}` };
  }
  const { parse } = await import("smol-toml");
  try {
    parse(text);
  } catch (error) {
    const why = error instanceof Error ? (error.message.split("\n")[0] ?? "") : "";
    return { check, state: "failed", finding: `${file} is no TOML: ${why}`, fix: "correct the file" };
  }
  const { mode } = await stat(file);
  if ((mode & 0o022) !== 0) {
    const finding = `${file} can be changed by others (mode ${modeText(mode)})`;
    return { check, state: "failed", finding, fix: `chmod go-w ${file}` };
  }
  return { check, state: "ok", finding: file };
}

async function checkSecretFiles({ configDir, credentialsFile }: Paths): Promise<readonly Check[]> {
  const checks: Check[] = [];
  for (const file of [credentialsFile, join(configDir, "trunk-secrets.json")]) {
    const mode = await modeOf(file);
    if (mode === undefined || isPrivate(mode)) continue;
    const finding = `${file} can be read by others (mode ${modeText(mode)})`;
    checks.push({ check: "secrets", state: "failed", finding, fix: `chmod 600 ${file}` });
  }
  return checks;
}

/** Where calls and recordings are kept: room, and nobody else's eyes. */
export async function checkData({ dataDir }: Paths): Promise<Check> {
  const check = "data";
  const mode = await modeOf(dataDir);
  if (mode === undefined)
    return { check, state: "skipped", finding: `${dataDir} is made at the first start of the daemon` };
  try {
    await access(dataDir, constants.W_OK | constants.X_OK);
  } catch {
    return {
      check,
      state: "failed",
      finding: `${dataDir} cannot be written`,
      fix: `chown or chmod ${dataDir}`,
    };
  }
  if (!isPrivate(mode)) {
    const finding = `${dataDir} is open to others (mode ${modeText(mode)})`;
    return { check, state: "failed", finding, fix: `chmod 700 ${dataDir}` };
  }
  const { bavail, bsize } = await statfs(dataDir);
  const freeBytes = bavail * bsize;
  const finding = `${dataDir}, ${sizeText(freeBytes)} free`;
  const fix = "make room, or move the directory: OUTDIAL_HOME";
  if (freeBytes < neededBytes) return { check, state: "failed", finding, fix };
  return freeBytes < wantedBytes
    ? { check, state: "warning", finding, fix }
    : { check, state: "ok", finding };
}

/** The owner's interface must be the owner's. */
export async function checkSocket(
  { socketPath, runDir }: Pick<Paths, "socketPath" | "runDir">,
  answers: boolean,
): Promise<Check> {
  const check = "socket";
  const socket = await stat(socketPath).catch(() => undefined);
  if (socket === undefined) {
    return answers
      ? {
          check,
          state: "failed",
          finding: `${socketPath} has been removed`,
          fix: "outdial daemon stop, then start",
        }
      : { check, state: "skipped", finding: `${socketPath} is made by the daemon` };
  }
  const directory = await stat(join(socketPath, ".."));
  const shut = isPrivate(socket.mode) && (isPrivate(directory.mode) || runDir !== join(socketPath, ".."));
  if (!shut) {
    const finding = `others may connect: ${socketPath} has mode ${modeText(socket.mode)}, its directory ${modeText(directory.mode)}`;
    return { check, state: "failed", finding, fix: `chmod 600 ${socketPath}; chmod 700 ${runDir}` };
  }
  if (process.getuid !== undefined && socket.uid !== process.getuid())
    return {
      check,
      state: "failed",
      finding: `${socketPath} belongs to another user`,
      fix: "sudo -u that user",
    };
  if (!answers)
    return {
      check,
      state: "warning",
      finding: `${socketPath} is there, but nobody answers: a crash left it`,
      fix: "outdial daemon start",
    };
  return { check, state: "ok", finding: `${socketPath}, mode ${modeText(socket.mode)}` };
}

async function modeOf(path: string): Promise<number | undefined> {
  return stat(path).then(
    ({ mode }) => mode,
    () => undefined,
  );
}

function sizeText(bytes: number): string {
  return bytes >= 1024 * mebibyte
    ? `${(bytes / 1024 / mebibyte).toFixed(1)} GiB`
    : `${Math.floor(bytes / mebibyte)} MiB`;
}
