import { usageError } from "./command-error.ts";
import { ensurePrivateDir, writeFileAtomic, type Paths } from "#host";
import { objectOf } from "./json.ts";
import { readFileSync } from "node:fs";
import { join } from "node:path";

/** Where a profile's token was put, so that a locked keychain is not taken for a missing token. */
export type SecretPlace = "keychain" | "file";

export interface Profile {
  readonly host: string;
  readonly tokenIn?: SecretPlace;
  /** Program whose standard output is the token. */
  readonly tokenCommand?: string;
  readonly tokenFile?: string;
}

/** What config.toml says; everything optional. */
export interface Config {
  readonly account?: string;
  /** Used by `call start` and `campaign launch` when --playbook is absent. */
  readonly playbook?: string;
  readonly output?: string;
  readonly tz?: string;
  readonly country?: string;
  /** Launching to more contacts than this asks first. Default 25. */
  readonly confirmAbove?: number;
  readonly profiles: Readonly<Record<string, Profile>>;
}

/** Keys a file in the working directory may set: none that chooses a host or a secret. */
const projectKeys = ["account", "playbook", "output", "tz", "country"] as const;

/** Reads config.toml and, over it, ./outdial.toml. A file that cannot be read as TOML is a usage error. */
export async function readConfig(paths: Paths, cwd: string): Promise<Config> {
  const user = await tomlFile(paths.configFile);
  const project = await tomlFile(join(cwd, "outdial.toml"));
  const pick = (table: Table): Partial<Config> =>
    Object.fromEntries(
      projectKeys.flatMap((key) => (typeof table[key] === "string" ? [[key, table[key]]] : [])),
    );
  const above = user["confirm_above"];
  return {
    ...pick(user),
    ...pick(project),
    ...(typeof above === "number" ? { confirmAbove: above } : {}),
    profiles: {
      ...profilesOf(user["profile"]),
      ...profilesOf((await tomlFile(profilesFile(paths)))["profile"]),
    },
  };
}

/** Profiles made by `auth login`: a file of their own, because rewriting config.toml would lose its comments. */
function profilesFile(paths: Paths): string {
  return join(paths.configDir, "profiles.toml");
}

/** Adds, replaces or (undefined) removes a profile in profiles.toml. */
export async function saveProfile(paths: Paths, name: string, profile: Profile | undefined): Promise<void> {
  const file = profilesFile(paths);
  const tables: Record<string, unknown> = { ...objectOf((await tomlFile(file))["profile"]) };
  if (profile === undefined) delete tables[name];
  else {
    tables[name] = {
      host: profile.host,
      ...(profile.tokenIn === undefined ? {} : { token_in: profile.tokenIn }),
      ...(profile.tokenCommand === undefined ? {} : { token_command: profile.tokenCommand }),
      ...(profile.tokenFile === undefined ? {} : { token_file: profile.tokenFile }),
    };
  }
  const { stringify } = await import("smol-toml");
  await ensurePrivateDir(paths.configDir);
  await writeFileAtomic(file, `# Written by outdial auth login.\n${stringify({ profile: tables })}\n`, 0o600);
}

type Table = Readonly<Record<string, unknown>>;

async function tomlFile(path: string): Promise<Table> {
  const text = textFile(path);
  if (text === undefined) return {};
  const { parse } = await import("smol-toml");
  try {
    return parse(text);
  } catch (cause) {
    const why = cause instanceof Error ? (cause.message.split("\n")[0] ?? "") : "";
    throw usageError(`${path} is not valid TOML: ${why}`, "correct the file");
  }
}

function textFile(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return undefined;
  }
}

function profilesOf(value: unknown): Readonly<Record<string, Profile>> {
  const profiles: [string, Profile][] = [];
  for (const [name, entry] of Object.entries(objectOf(value))) {
    const table = objectOf(entry);
    if (typeof table["host"] !== "string") continue;
    const place = table["token_in"];
    profiles.push([
      name,
      {
        host: table["host"],
        ...(place === "keychain" || place === "file" ? { tokenIn: place } : {}),
        ...(typeof table["token_command"] === "string" ? { tokenCommand: table["token_command"] } : {}),
        ...(typeof table["token_file"] === "string" ? { tokenFile: table["token_file"] } : {}),
      },
    ]);
  }
  return Object.fromEntries(profiles);
}
