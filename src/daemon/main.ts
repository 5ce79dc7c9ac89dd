import { readVoiceSettings } from "#ai";
import { startAdminApi, startPublicApi } from "#api";
import { newId, OutdialError } from "#base";
import {
  createLog,
  createTasks,
  ensurePrivateDir,
  hashes,
  lockDirectory,
  paths,
  steadyClock,
  systemEntropy,
  version,
  wallClock,
  type Paths,
} from "#host";
import { openLines, repairWav } from "#lines";
import { startSandbox } from "#sandbox";
import { openStore } from "#store";
import { openSipEndpoint } from "#trunks";
import { join } from "node:path";
import { readArguments, usage, type DaemonCommand } from "./arguments.ts";
import { daemonConfigOf, readConfigFile } from "./config.ts";
import { startDialer, type Dialer } from "./dialer.ts";
import { isPassing } from "./event-filter.ts";
import { createFeed, type Feed } from "./feed.ts";
import { addressTowards, lookUpHost } from "./host-lookup.ts";
import { callingHoursOf } from "./hours.ts";
import { recoverCalls } from "./recovery.ts";
import { nextHopOf } from "./dial-order.ts";
import type { CallRow } from "./ports.ts";
import { runCall, type CallSurroundings, type RunningCall } from "./run-call.ts";
import { openSecrets } from "./secrets.ts";
import { allTrunksIn, createService } from "./service.ts";
import { createTrunkHealth } from "./trunk-health.ts";
import { defaultZone } from "./service-accounts.ts";
import { openingFor } from "./service-calls.ts";
import { newSrtpKeys } from "./srtp-keys.ts";
import { openOnLastPort } from "./sip-port.ts";
import { createSipTraces, type TracedAttempt } from "./sip-trace.ts";

/** Exit code when another daemon has the data directory (EX_TEMPFAIL of sysexits.h); `outdial` waits for that one then. */
const anotherRuns = 75;

/** Runs `outdiald`; resolves when it has ended, with its exit code set. */
export async function main(argv: readonly string[]): Promise<void> {
  const command = readArguments(argv);
  if (!command.ok) return fail(`${command.problem.message}\n\n${usage}`, 2);
  try {
    await run(command.value);
  } catch (error) {
    if (!(error instanceof OutdialError)) throw error;
    fail(
      error.hint === undefined ? error.message : `${error.message}\n  fix:  ${error.hint}`,
      error.code === "directory-in-use" ? anotherRuns : 1,
    );
  }
}

function fail(message: string, exitCode: number): void {
  process.stderr.write(`error: ${message}\n`);
  process.exitCode = exitCode;
}

async function run(command: DaemonCommand): Promise<void> {
  switch (command.type) {
    case "help":
      process.stdout.write(usage);
      return;
    case "sandbox":
      return runSandbox(command.address, command.port);
    case "run":
      return runDaemon(paths(), command.listen);
  }
}

async function runSandbox(address: string, port: number): Promise<void> {
  await using carrier = disposable(
    await startSandbox({
      address,
      port,
      onEvent: (event, at) =>
        process.stdout.write(`${JSON.stringify({ at: new Date(at).toISOString(), ...event })}\n`),
    }),
  );
  process.stderr.write(
    `sandbox carrier on ${carrier.address}:${carrier.port} (UDP); numbers +999 000 0nnn\n`,
  );
  await asked();
}

/** Opens everything from the bottom up, serves until told to stop, and closes it in reverse. */
async function runDaemon(at: Paths, listen: { host: string; port: number } | undefined): Promise<void> {
  process.umask(0o077);
  const tables = await readConfigFile(at.configFile);
  const config = daemonConfigOf(tables, at.configFile);
  for (const directory of [at.configDir, at.dataDir, at.stateDir, at.recordingsDir])
    await ensurePrivateDir(directory);
  using _lock = await lockDirectory(at.dataDir);
  const log = createLog({ file: at.logFile, level: config.logLevel });
  const voices = readVoiceSettings(at.configFile, tables, log);
  const startedAt = Date.now();
  const stopping = Promise.withResolvers<{ readonly drainMs: number }>();

  const secrets = await openSecrets(join(at.configDir, "trunk-secrets.json"));
  await using store = disposable(await openStore({ file: at.databaseFile, engine: config.engine }));
  await using sandbox = disposable(
    await startSandbox({
      address: "127.0.0.1",
      port: 0,
      logFile: at.logFile,
      onEvent: (event) => log.debug("sandbox", { pii: event }),
    }),
  );
  await using lines = disposable(
    await openLines({ workers: config.workers, maxCallsPerWorker: config.maxCallsPerWorker, log }),
  );
  const feed = createFeed({ kept: 10_000, queued: 2_000 });
  const sipTraces = createSipTraces({
    clock: wallClock,
    trunks: () => allTrunksIn(store),
    publish: (accountId, type, data) =>
      feed.publish({ type, at: Date.now(), accountId, data, passing: true }),
  });
  // Read at each connection: what trunks bring along counts at once.
  const authorities: string[] = [];
  await using telephony = disposable(
    await openOnLastPort(join(at.stateDir, "sip-port"), config.sipPort, (port) =>
      openSipEndpoint({
        address: config.sipHost,
        port,
        clock: steadyClock,
        entropy: systemEntropy,
        hashes,
        userAgentName: `outdial/${version}`,
        log,
        onTrace: sipTraces.take,
        caCertificates: authorities,
      }),
    ),
  );
  await using tasks = createTasks(log);
  const rules = {
    callingHours: config.callingHours === undefined ? undefined : callingHoursOf(config.callingHours),
    allowedPrefixes: config.allowedPrefixes,
  };
  const owner = "local";
  const entropy = systemEntropy;
  const { service, allTrunks, furnish, target } = createService({
    store,
    clock: wallClock,
    entropy,
    secrets,
    feed,
    stream: new Date(startedAt).toISOString(),
    rules,
    voices,
    sandbox,
    lines,
    recordingsDir: at.recordingsDir,
    liveSip: sipTraces.live,
    telephony,
    resolve: lookUpHost,
    health: () => health,
    dialer: () => dialer,
    about: {
      version,
      pid: process.pid,
      startedAt,
      dataDir: at.dataDir,
      api: () => publicApi,
    },
    stop: (drainMs) => {
      dialer.drain();
      stopping.resolve({ drainMs });
      return Promise.resolve();
    },
  });
  let wakeDialer = (): void => undefined;
  const health = createTrunkHealth({
    telephony,
    clock: wallClock,
    log,
    target,
    trust: (certificate) => {
      if (!authorities.includes(certificate)) authorities.push(certificate);
    },
    publish: (accountId, type, data) => feed.publish({ type, at: Date.now(), accountId, data }),
    wake: () => wakeDialer(),
  });
  await furnish();
  await recoverCalls({
    store,
    telephony,
    clock: wallClock,
    log,
    owner,
    trunks: allTrunks,
    target,
    repairRecording: (fileName) => repairWav(join(at.recordingsDir, fileName)),
  });
  for (const trunk of await allTrunks()) health.watch(trunk);
  const dialer: Dialer = startDialer({
    store,
    health,
    lines,
    clock: wallClock,
    log,
    tasks,
    owner,
    trunks: allTrunks,
    mayDialAt: ({ call }, _trunk, now) =>
      openingFor(rules, call.to, { at: now, zone: call.timezone ?? defaultZone }),
    run: (running) => {
      const publish = publisherOf(feed, running.claimed.call);
      return runCall(running, {
        store,
        telephony,
        lines,
        clock: wallClock,
        log,
        owner,
        newSipCallId: () => `${newId(Date.now(), entropy)}@outdial`,
        ringTimeoutMs: config.ringTimeoutMs,
        mediaAddress: (trunk) => config.mediaAddress ?? addressTowards(nextHopOf(trunk)),
        recordingPath: (fileName) => join(at.recordingsDir, fileName),
        target,
        voiceOrder: (voiceModel) => voices.order(voiceModel),
        newSrtpKeys: () => newSrtpKeys(entropy),
        callWent: (trunk) => health.callWent(trunk.id),
        publish,
        followSip: (sipCallId) => sipTraces.follow(sipCallId, attemptOf(running, publish)),
      });
    },
  });
  wakeDialer = () => dialer.wake();
  await using publicApi = disposable(
    await startPublicApi({
      service,
      host: listen?.host ?? config.host,
      port: listen?.port ?? config.port,
      allowedHosts: config.allowedHosts,
      ...(config.publicUrl === undefined ? {} : { publicUrl: config.publicUrl }),
      version,
      clock: wallClock,
      hashes,
      signingKey: entropy.bytes(32),
      log,
    }),
  );
  await using _adminApi = disposable(await startAdminApi({ service, socketPath: at.socketPath, log }));
  log.info("the daemon runs", { pid: process.pid, api: `${publicApi.address}:${publicApi.port}` });
  process.stderr.write(`outdiald ${version} runs; API on http://${publicApi.address}:${publicApi.port}\n`);

  const { drainMs } = await Promise.race([asked().then(() => ({ drainMs: 10_000 })), stopping.promise]);
  log.info("the daemon stops", { drainMs, running: dialer.running });
  await dialer.finish(drainMs);
  await health.close();
}

/** Tells readers of a call: every event of it names the number and the playbook. */
function publisherOf(feed: Feed, call: CallRow): CallSurroundings["publish"] {
  const { id: callId, campaignId, accountId, to, playbookId, playbookName } = call;
  return (type, data) =>
    feed.publish({
      type,
      at: Date.now(),
      accountId,
      callId,
      ...(isPassing(type) ? { passing: true } : {}),
      ...(campaignId === null ? {} : { campaignId }),
      data: { to, playbook_id: playbookId, playbook_name: playbookName, ...data },
    });
}

function attemptOf({ claimed, trunk }: RunningCall, publish: CallSurroundings["publish"]): TracedAttempt {
  return { callId: claimed.call.id, n: claimed.attempt, trunk, publish };
}

/** Resolves at the first SIGINT or SIGTERM; a second one ends the process at once. */
function asked(): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  let count = 0;
  for (const signal of ["SIGINT", "SIGTERM"] as const) {
    process.on(signal, () => {
      if (++count > 1) process.exit(signal === "SIGINT" ? 130 : 143);
      resolve();
    });
  }
  return promise;
}

/** Something with `close()`, for `await using`. */
function disposable<T extends { close(): Promise<void> }>(resource: T): T & AsyncDisposable {
  return Object.assign(resource, { [Symbol.asyncDispose]: () => resource.close() });
}
