import { createClient } from "./client.ts";
import { CommandError, usageError } from "./command-error.ts";
import { saveProfile, type Profile } from "./config.ts";
import type { Context, Input } from "./handler.ts";
import { readWhole } from "./read-input.ts";
import {
  findToken,
  forgetToken,
  keepToken,
  plainTextWarning,
  secretFile,
  type SecretStore,
} from "./secrets.ts";
import { remoteTransport, remoteUrl } from "./transport.ts";
import { views } from "./views.ts";

/** `outdial auth login`: the token is tried before anything is kept. */
export async function login(context: Context, input: Input): Promise<void> {
  const { settings } = context;
  if (settings.host === undefined) throw usageError("which service?", "add --host https://voice.example.com");
  const name = settings.profile ?? "remote";
  const host = remoteUrl(settings.host).href.replace(/\/$/, "");
  const file = input.text("token-file");
  const command = input.text("token-command");
  const store = storeOf(context);
  const named: Profile = {
    host,
    ...(file === undefined ? {} : { tokenFile: file }),
    ...(command === undefined ? {} : { tokenCommand: command }),
  };
  const token = await givenToken(context, input, store, named);
  const client = createClient(remoteTransport(host, token), {
    clock: context.io.steady,
    entropy: context.io.entropy,
    retryForMs: settings.retryForMs,
    signal: context.signal,
    headers: {},
    onWait: (seconds) => context.notes.say(`rate limited: trying again in ${seconds} s`),
  });
  await client.get("/calls", { daysFromNow: 1, limit: 1 });
  const kept = file !== undefined || command !== undefined;
  const profile = kept ? named : { ...named, tokenIn: await keepToken(store, name, token) };
  await saveProfile(context.paths, name, profile);
  context.notes.say(`logged in to ${host}; use it with --profile ${name}, or OUTDIAL_PROFILE=${name}`);
}

/** `outdial auth logout`. */
export async function logout(context: Context): Promise<void> {
  const name = context.settings.profile ?? "remote";
  const profile = context.config.profiles[name];
  if (profile === undefined) {
    throw new CommandError("not-found", `there is no profile "${name}"`, { fix: "outdial auth status" });
  }
  await forgetToken(storeOf(context), name, profile.tokenIn);
  await saveProfile(context.paths, name, undefined);
  context.notes.say(`forgot profile ${name}; its token stays valid until it is revoked on ${profile.host}`);
}

/** `outdial auth status`: profiles, the first characters of their tokens, and where these are kept. */
export async function authStatus(context: Context): Promise<void> {
  const { settings, config, notes, print } = context;
  const store = storeOf(context);
  const rows: Record<string, unknown>[] = [];
  for (const [name, profile] of Object.entries(config.profiles)) {
    if (settings.profile !== undefined && settings.profile !== name) continue;
    try {
      const found = await findToken(store, name, profile);
      const token = found === undefined ? "" : `${found.token.slice(0, 12)}…`;
      rows.push({ profile: name, host: profile.host, token, kept_in: found?.place ?? "nowhere" });
    } catch (error) {
      if (!(error instanceof CommandError)) throw error;
      rows.push({ profile: name, host: profile.host, token: "", kept_in: error.why ?? error.message });
      notes.error(error);
    }
    if (profile.tokenIn === "file") notes.warn(plainTextWarning(context.paths));
  }
  await print.list(views.profile, rows);
  if (rows.length === 0) notes.say("no remote profiles; the daemon of this machine needs no login");
}

function storeOf({ io, paths, notes }: Context): SecretStore {
  return { io, paths, notes };
}

async function givenToken(
  context: Context,
  input: Input,
  store: SecretStore,
  profile: Profile,
): Promise<string> {
  const token = await tokenText(context, input, store, profile);
  if (/^[\u0021-\u007e]{8,512}$/.test(token)) return token;
  throw usageError("this is no token: it must be one word of 8 to 512 ASCII characters");
}

async function tokenText(
  context: Context,
  input: Input,
  store: SecretStore,
  profile: Profile,
): Promise<string> {
  if (input.flag("token-stdin")) return (await readWhole(context.io, "-")).trim();
  if (profile.tokenFile !== undefined) return secretFile(profile.tokenFile);
  if (profile.tokenCommand !== undefined) return (await findToken(store, undefined, profile))?.token ?? "";
  return context.ask.secret("API token: ", "--token-stdin, --token-file <file> or --token-command <command>");
}
