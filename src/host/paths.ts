import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { homedir, tmpdir, userInfo } from "node:os";
import { join } from "node:path";

/** Where outdial keeps things. All directories are made owner-only by whoever writes there first. */
export interface Paths {
  readonly configDir: string;
  readonly dataDir: string;
  readonly stateDir: string;
  /** Holds the socket. */
  readonly runDir: string;
  readonly socketPath: string;
  readonly recordingsDir: string;
  readonly databaseFile: string;
  readonly logFile: string;
  readonly configFile: string;
  /** 0600 fallback for secrets where no keychain is. */
  readonly credentialsFile: string;
}

type Environment = Readonly<Record<string, string | undefined>>;

/** sockaddr_un holds 108 octets on Linux and 104 on macOS, the final NUL included. */
const longestSocketPath = 100;

/** Reads OUTDIAL_HOME, OUTDIAL_SOCKET and the XDG variables; with OUTDIAL_HOME everything is under that directory. */
export function paths(environment: Environment = process.env): Paths {
  const home = environment["OUTDIAL_HOME"];
  const base = home === undefined || home === "" ? xdgDirectories(environment) : ownDirectories(home);
  const socketPath = environment["OUTDIAL_SOCKET"] || shortened(join(base.runDir, "daemon.sock"));
  return {
    ...base,
    socketPath,
    recordingsDir: join(base.dataDir, "recordings"),
    databaseFile: join(base.dataDir, "outdial.db"),
    logFile: join(base.stateDir, "daemon.log"),
    configFile: join(base.configDir, "config.toml"),
    credentialsFile: join(base.configDir, "credentials.json"),
  };
}

type Directories = Pick<Paths, "configDir" | "dataDir" | "stateDir" | "runDir">;

function ownDirectories(home: string): Directories {
  return {
    configDir: home,
    dataDir: join(home, "data"),
    stateDir: join(home, "state"),
    runDir: join(home, "run"),
  };
}

function xdgDirectories(environment: Environment): Directories {
  const user = homedir();
  const under = (variable: string, ...fallback: string[]): string =>
    join(environment[variable] || join(user, ...fallback), "outdial");
  const stateDir = under("XDG_STATE_HOME", ".local", "state");
  return {
    configDir: under("XDG_CONFIG_HOME", ".config"),
    dataDir: under("XDG_DATA_HOME", ".local", "share"),
    stateDir,
    runDir: runDirectory(environment, stateDir),
  };
}

/** cron has no XDG_RUNTIME_DIR, yet must find the same socket as a login shell: so the directory itself is looked for. */
function runDirectory(environment: Environment, stateDir: string): string {
  const given = environment["XDG_RUNTIME_DIR"];
  if (given !== undefined && given !== "") return join(given, "outdial");
  const usual = `/run/user/${userInfo().uid}`;
  return existsSync(usual) ? join(usual, "outdial") : join(stateDir, "run");
}

function shortened(socketPath: string): string {
  if (Buffer.byteLength(socketPath) <= longestSocketPath) return socketPath;
  const digest = createHash("sha256").update(socketPath).digest("hex").slice(0, 16);
  return join(tmpdir(), `outdial-${userInfo().uid}-${digest}`, "daemon.sock");
}
