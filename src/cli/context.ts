import { paths as findPaths } from "#host";
import { createAsk } from "./ask.ts";
import { createClient, type ClientOptions } from "./client.ts";
import { CommandError, usageError } from "./command-error.ts";
import type { CommandSpec } from "./command-spec.ts";
import { optionName } from "./option-spec.ts";
import { readConfig, type Config } from "./config.ts";
import type { Context, Input, Server, Settings } from "./handler.ts";
import type { Io } from "./io.ts";
import { probeDaemon, startDaemon } from "./local-daemon.ts";
import { createNotes } from "./notes.ts";
import { checkFields, createPrinter } from "./printer.ts";
import { findToken } from "./secrets.ts";
import { decideSettings, isMachineFormat, mayColor } from "./settings.ts";
import { remoteTransport, socketTransport } from "./transport.ts";
import { views } from "./views.ts";

/** Decides settings and joins the parts; does no I/O but reading the configuration. */
export async function createContext(
  spec: CommandSpec,
  input: Input,
  io: Io,
  signal: AbortSignal,
): Promise<Context> {
  const paths = findPaths(io.env);
  const config = await readConfig(paths, io.cwd).catch((error: unknown): Config => {
    if (spec.brokenConfig === true) return { profiles: {} };
    throw error;
  });
  const settings = decideSettings(spec, input, config, io);
  if (spec.view !== undefined) checkFields(views[spec.view], settings.fields);
  const remote = settings.profile !== undefined || settings.host !== undefined;
  if (remote && spec.anywhere !== true) refuseLocalOnly(spec, input, settings);
  const noColor = input.flag("no-color");
  const print = createPrinter(io.stdout, {
    format: settings.format,
    fields: settings.fields,
    header: settings.header,
    color: mayColor(io.stdout, io.env, noColor),
    zone: settings.zone,
    now: () => io.clock.now(),
  });
  const machine = isMachineFormat(settings.ownFormat ?? settings.format);
  const notes = createNotes(io.stderr, machine, mayColor(io.stderr, io.env, noColor));
  const socket = socketTransport(paths.socketPath);
  const parts = { io, settings, config, paths, print, notes, signal, socket };
  const ask = createAsk(io, settings.mayAsk, settings.yes);
  return {
    ...parts,
    ask,
    server: () => (remote ? remoteServer(parts) : localServer(parts)),
  };
}

type Parts = Omit<Context, "server" | "ask">;

async function localServer(parts: Parts): Promise<Server> {
  const { settings, notes, paths, io, signal, socket } = parts;
  if ((await probeDaemon(socket, signal)) === undefined) {
    if (!settings.mayStart) {
      throw new CommandError("unreachable", "the daemon is not running", {
        fix: "outdial daemon start      (or leave out --no-start)",
        ref: paths.socketPath,
        code: "daemon-not-running",
      });
    }
    const status = await startDaemon({ io, paths, transport: socket, signal });
    notes.say(`started the daemon (pid ${status.pid})`);
  }
  const headers = settings.account === undefined ? {} : { "outdial-account": settings.account };
  return { type: "local", client: createClient(socket, clientOptions(parts, headers)) };
}

async function remoteServer(parts: Parts): Promise<Server> {
  const { settings, config, paths, notes, io } = parts;
  const name = settings.profile ?? profileOfHost(config, settings.host);
  const profile = name === undefined ? undefined : config.profiles[name];
  if (settings.profile !== undefined && profile === undefined && settings.host === undefined) {
    throw usageError(
      `there is no profile "${settings.profile}"`,
      `outdial auth login --host <url> --profile ${settings.profile}`,
    );
  }
  const host = settings.host ?? profile?.host ?? "";
  const sameHost = profile !== undefined && (settings.host === undefined || settings.host === profile.host);
  const found = await findToken(
    { io, paths, notes },
    sameHost ? name : undefined,
    sameHost ? profile : undefined,
  );
  if (found === undefined) {
    throw new CommandError("auth", `there is no token for ${host}`, {
      fix: `outdial auth login --host ${host}      (or set OUTDIAL_TOKEN_FILE)`,
    });
  }
  return {
    type: "remote",
    client: createClient(remoteTransport(host, found.token), clientOptions(parts, {})),
  };
}

/** A remote service offers the four published operations only. */
function refuseLocalOnly(spec: CommandSpec, input: Input, settings: Settings): void {
  const host = settings.host ?? `profile ${settings.profile ?? ""}`;
  const fix = "use --profile local, and no --host, for the daemon of this machine";
  if (spec.remote !== true) {
    throw usageError(`${spec.name} needs the daemon's own socket; ${host} offers the public API only`, fix);
  }
  const option = (spec.options ?? []).find(
    (one) => one.localOnly === true && input.given.includes(optionName(one)),
  );
  if (option !== undefined) {
    throw usageError(`--${optionName(option)} is not part of the public API that ${host} offers`, fix);
  }
  if (settings.account !== undefined && input.given.includes("account")) {
    throw usageError("on a remote service the token decides the account", "leave out --account");
  }
}

function profileOfHost(config: Config, host: string | undefined): string | undefined {
  return Object.entries(config.profiles).find(([, profile]) => profile.host === host)?.[0];
}

function clientOptions(parts: Parts, headers: Readonly<Record<string, string>>): ClientOptions {
  const { io, settings, signal, notes } = parts;
  return {
    clock: io.steady,
    entropy: io.entropy,
    retryForMs: settings.retryForMs,
    signal,
    headers,
    onWait: (seconds) => notes.say(`rate limited: trying again in ${seconds} s`),
    onReplay: () =>
      notes.say("this key was used before: nothing was started again, this is the first answer"),
  };
}
