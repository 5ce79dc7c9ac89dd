import { programFile } from "#host";
import type { StatusView } from "#wire";
import { execFile } from "node:child_process";
import { stat } from "node:fs/promises";
import { findPackageJSON } from "node:module";
import { promisify } from "node:util";
import type { Check } from "./doctor-check.ts";
import type { Context } from "./handler.ts";
import type { Io } from "./io.ts";
import { askKeyring } from "./keyring.ts";
import { instantOf, zonedTime } from "./times.ts";

/** As package.json has it in `engines`. */
export const leastNode = "24.11";

const run = promisify(execFile);

export function checkNode(running: string): Check {
  const [major = 0, minor = 0] = running.split(".").map(Number);
  const [leastMajor = 0, leastMinor = 0] = leastNode.split(".").map(Number);
  const enough = major > leastMajor || (major === leastMajor && minor >= leastMinor);
  return {
    check: "node",
    state: enough ? "ok" : "failed",
    finding: `version ${running}${enough ? "" : `; ${leastNode} or later is needed`}`,
    ...(enough ? {} : { fix: "install a current Node.js" }),
  };
}

/** The built-in voices: the package, or the program of the system. */
export async function checkSpeech(io: Io): Promise<Check> {
  const check = "speech";
  if (hasPackage()) return { check, state: "ok", finding: "eSpeak NG (package)" };
  try {
    const { stdout } = await run("espeak-ng", ["--version"], { timeout: 3_000, env: { ...io.env } });
    return { check, state: "ok", finding: stdout.split("\n")[0]?.split("  ")[0] ?? "eSpeak NG" };
  } catch {
    return {
      check,
      state: "warning",
      finding: "there is no built-in voice; only a provider's could speak",
      fix: "npm install @echogarden/espeak-ng-emscripten      (or: apt install espeak-ng)",
    };
  }
}

function hasPackage(): boolean {
  try {
    return findPackageJSON("@echogarden/espeak-ng-emscripten", programFile("cli/main")) !== undefined;
  } catch {
    return false;
  }
}

export async function checkKeyring(io: Io): Promise<Check> {
  const check = "keyring";
  const mode = io.env["OUTDIAL_KEYRING"] ?? "auto";
  if (mode !== "auto")
    return { check, state: "skipped", finding: `OUTDIAL_KEYRING=${mode}: secrets go to owner-only files` };
  const answer = await askKeyring(io, "get", "doctor");
  if (answer.type === "done") return { check, state: "ok", finding: "the system's keychain answers" };
  return {
    check,
    state: "warning",
    finding: `${answer.why}; secrets go to owner-only files`,
    fix: "unlock or start the keychain, or set OUTDIAL_KEYRING=off",
  };
}

/** Far enough for another machine's files, near enough for a clock that was set back. */
const toleranceMs = 60_000;
/** No daemon of this program ran before. */
const earliest = Date.UTC(2026, 0, 1);

/** A clock that is wrong dials people at night and lets tokens live too long. */
export async function checkClock({ io, paths }: Context, status: StatusView | undefined): Promise<Check> {
  const now = io.clock.now();
  const seen = [
    instantOf(status?.started_at),
    ...(await Promise.all([paths.databaseFile, paths.logFile].map(modifiedAt))),
  ].filter((at) => at !== undefined);
  const newest = Math.max(earliest, ...seen);
  const check = "clock";
  const fix = "set the clock, and let it be kept by NTP: timedatectl set-ntp true";
  if (now < newest - toleranceMs) {
    const finding = `it is ${zonedTime(now, undefined)}, but something was written at ${zonedTime(newest, undefined)}`;
    return { check, state: "failed", finding, fix };
  }
  const zone = Intl.DateTimeFormat().resolvedOptions().timeZone;
  const kept = await isKeptByNtp(io);
  const finding = `${zonedTime(now, undefined)} in ${zone}`;
  if (kept === false) return { check, state: "warning", finding: `${finding}, not kept by NTP`, fix };
  return { check, state: "ok", finding: kept === true ? `${finding}, kept by NTP` : finding };
}

async function modifiedAt(path: string): Promise<number | undefined> {
  return stat(path).then(
    ({ mtimeMs }) => mtimeMs,
    () => undefined,
  );
}

/** Undefined where nobody can tell. */
async function isKeptByNtp(io: Io): Promise<boolean | undefined> {
  try {
    const args = ["show", "--property=NTPSynchronized", "--value"];
    const { stdout } = await run("timedatectl", args, { timeout: 2_000, env: { ...io.env } });
    return stdout.trim() === "" ? undefined : stdout.trim() === "yes";
  } catch {
    return undefined;
  }
}
