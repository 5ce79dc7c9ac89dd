import { OutdialError } from "#base";
import { readFile } from "node:fs/promises";
import { availableParallelism } from "node:os";
import { parse, TomlError } from "smol-toml";

/** The `[daemon]` table of config.toml, every value resolved. */
export interface DaemonConfig {
  /** Where the public API listens. */
  readonly host: string;
  readonly port: number;
  /** Names, besides the loopback ones, under which the public API may be asked for. */
  readonly allowedHosts: readonly string[];
  /** Base of the recording URLs; undefined: the address the API listens on. */
  readonly publicUrl: string | undefined;
  readonly sipHost: string;
  /** 0: any free port. */
  readonly sipPort: number;
  /** Address offered for audio; undefined: the one that leads to the trunk. */
  readonly mediaAddress: string | undefined;
  readonly workers: number;
  readonly maxCallsPerWorker: number;
  readonly ringTimeoutMs: number;
  /** Numbers may only be dialled under these prefixes; empty: everywhere. */
  readonly allowedPrefixes: readonly string[];
  /** `mon-fri 09:00-21:00` in the contact's zone; undefined: at any time. */
  readonly callingHours: string | undefined;
  readonly logLevel: "debug" | "info" | "warn" | "error";
  readonly engine: "sqljs" | "node-sqlite";
}

const defaults: DaemonConfig = {
  host: "127.0.0.1",
  port: 8787,
  allowedHosts: [],
  publicUrl: undefined,
  sipHost: "0.0.0.0",
  sipPort: 0,
  mediaAddress: undefined,
  workers: Math.max(1, availableParallelism() - 1),
  maxCallsPerWorker: 100,
  ringTimeoutMs: 45_000,
  allowedPrefixes: [],
  callingHours: undefined,
  logLevel: "info",
  engine: "sqljs",
};

type Reader = (value: unknown) => Partial<DaemonConfig> | string;

/** One row a key: what it is called in the file, and how it is read or what would be accepted. */
const keys: Readonly<Record<string, Reader>> = {
  listen: (value) => {
    const address = typeof value === "string" ? parseListen(value) : undefined;
    return address === undefined ? 'an address and a port, e.g. "127.0.0.1:8787"' : address;
  },
  allowed_hosts: (value) => (isTexts(value) ? { allowedHosts: value } : "a list of host names"),
  public_url: (value) =>
    typeof value === "string" && URL.canParse(value)
      ? { publicUrl: value }
      : 'a URL, e.g. "https://calls.example.com"',
  sip_listen: (value) => {
    const address = typeof value === "string" ? parseListen(value) : undefined;
    return address === undefined
      ? 'an address and a port, e.g. "0.0.0.0:5060"'
      : { sipHost: address.host, sipPort: address.port };
  },
  media_address: (value) => (typeof value === "string" ? { mediaAddress: value } : "an IP address"),
  workers: (value) => (isWhole(value, 1, 64) ? { workers: value } : "a whole number from 1 to 64"),
  max_calls_per_worker: (value) =>
    isWhole(value, 1, 1000) ? { maxCallsPerWorker: value } : "a whole number from 1 to 1000",
  ring_timeout_s: (value) =>
    isWhole(value, 5, 180) ? { ringTimeoutMs: value * 1000 } : "a whole number of seconds from 5 to 180",
  allowed_prefixes: (value) =>
    isTexts(value) && value.every((prefix) => /^\+[1-9]\d{0,14}$/.test(prefix))
      ? { allowedPrefixes: value }
      : 'a list of prefixes with +, e.g. ["+34", "+33"]',
  calling_hours: (value) =>
    typeof value === "string" ? { callingHours: value } : 'a text, e.g. "mon-fri 09:00-21:00"',
  log_level: (value) =>
    value === "debug" || value === "info" || value === "warn" || value === "error"
      ? { logLevel: value }
      : "debug, info, warn or error",
  store_engine: (value) =>
    value === "sqljs" || value === "node-sqlite" ? { engine: value } : "sqljs or node-sqlite",
};

/** The parsed file, empty when there is none. Rejects with `config-invalid`: which file, which line. */
export async function readConfigFile(file: string): Promise<Readonly<Record<string, unknown>>> {
  const text = await readFile(file, "utf8").catch((error: unknown) => {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return "";
    throw error;
  });
  return configTables(text, file);
}

/** The `[daemon]` table. Throws `config-invalid`: which file, which key, what would be accepted. */
export function daemonConfigOf(tables: Readonly<Record<string, unknown>>, file: string): DaemonConfig {
  const table = tables["daemon"] ?? {};
  if (!isTable(table)) throw invalid(file, "daemon", "a table: [daemon]");
  let config = defaults;
  for (const [key, value] of Object.entries(table)) {
    const read = Object.hasOwn(keys, key) ? keys[key] : undefined;
    if (read === undefined) throw invalid(file, `daemon.${key}`, `one of: ${Object.keys(keys).join(", ")}`);
    const found = read(value);
    if (typeof found === "string") throw invalid(file, `daemon.${key}`, found);
    config = { ...config, ...found };
  }
  return config;
}

/** `host:port`, `[v6]:port` or `:port`; undefined when it is none of them. */
export function parseListen(text: string): { readonly host: string; readonly port: number } | undefined {
  const match = /^(?:\[([0-9a-fA-F:.]+)\]|([^:[\]\s]*)):(\d{1,5})$/.exec(text);
  const port = Number(match?.[3]);
  if (match === null || port > 65_535) return undefined;
  return { host: match[1] ?? (match[2] || "127.0.0.1"), port };
}

/** The tables of a configuration text. */
export function configTables(text: string, file: string): Record<string, unknown> {
  try {
    return parse(text);
  } catch (cause) {
    if (!(cause instanceof TomlError)) throw cause;
    throw new OutdialError(
      "config-invalid",
      `${file}:${cause.line}:${cause.column}: ${cause.message.split("\n")[0]}`,
      {
        cause,
      },
    );
  }
}

function invalid(file: string, key: string, accepted: string): OutdialError {
  return new OutdialError("config-invalid", `${file}: ${key} is not accepted; it takes ${accepted}`);
}

const isTable = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);
const isTexts = (value: unknown): value is string[] =>
  Array.isArray(value) && value.every((item) => typeof item === "string");
const isWhole = (value: unknown, least: number, most: number): value is number =>
  typeof value === "number" && Number.isInteger(value) && value >= least && value <= most;
